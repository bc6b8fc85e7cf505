package dev.tidemark.log;

import dev.tidemark.schema.Column;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.ColumnType.Kind;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.Diff;
import dev.tidemark.shard.Fact;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.PartLocation;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.spine.Written;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.function.Supplier;

/** Facts of every kind, valid in form, else arbitrary. */
final class RandomFacts {
  private static final String[] TEXTS = {
    "",
    "a",
    "orders",
    "sch\u00f6n \u20ac",
    "\ud83d\ude00",
    "tab\tquote\"back\\slash\n",
    "\u0000",
    "`x`"
  };
  private static final String[] RAW = {
    "1", "1.50", "-2e400", "\"text\"", "null", "true", "{\"a\":[1,{\"b\":\"\u00e9\"}]}", "[]", "{}"
  };

  private final Random random;

  RandomFacts(Random random) {
    this.random = random;
  }

  LogEntry entry() {
    boolean rollup = random.nextInt(4) == 0;
    return new LogEntry(
        "1." + random.nextInt(3),
        text(),
        new SeqNo(count()),
        text(),
        text(),
        new Author(attempt(), text()),
        rollup ? LogCodec.ROLLUP : "append",
        new Diff(rollup ? List.of() : list(4, this::fact), list(4, this::fact)));
  }

  Fact fact() {
    return switch (random.nextInt(11)) {
      case 0 -> new Fact.ShardFact(text(), "1." + random.nextInt(20));
      case 1 -> new Fact.SchemaFact(schema(), extra());
      case 2 -> new Fact.SpecFact(spec(), extra());
      case 3 -> new Fact.ConsolidatingFact(frontier(), random.nextBoolean());
      case 4 -> new Fact.UpperFact(frontier());
      case 5 -> new Fact.SinceFact(frontier());
      case 6 -> new Fact.SweptFact("2026-11-" + (10 + random.nextInt(20)));
      case 7 -> new Fact.WriterFact(attempt(), frontier(), random.nextBoolean(), extra());
      case 8 -> unknown();
      case 9 ->
          new Fact.WrittenFact(
              new Written(count(), count(), count(), count(), count(), random.nextInt(1000) / 64.0),
              extra());
      default -> new Fact.BatchFact(batch());
    };
  }

  private Fact unknown() {
    if (random.nextBoolean()) {
      return new Fact.UnknownFact("later", "", Map.of("", "[1,2]"));
    }
    Map<String, String> fields = extra();
    return new Fact.UnknownFact("later" + text(), fields.getOrDefault("id", ""), fields);
  }

  private Schema schema() {
    List<Column> columns = new ArrayList<>();
    for (int i = 0; i <= random.nextInt(5); i++) {
      columns.add(new Column(7 * i + 1, "c" + i + text(), type(0)));
    }
    List<String> key = random.nextBoolean() ? List.of() : List.of(columns.get(0).name());
    return new Schema(1 + random.nextInt(5), columns, key);
  }

  ColumnType type(int depth) {
    Kind[] kinds = Kind.values();
    Kind kind = kinds[random.nextInt(depth > 3 ? Kind.ARRAY.ordinal() : kinds.length)];
    int precision =
        switch (kind) {
          case CHAR, VARCHAR, BINARY, VARBINARY ->
              random.nextBoolean() ? Integer.MAX_VALUE : 1 + random.nextInt(300);
          case DECIMAL -> 1 + random.nextInt(38);
          case TIME -> random.nextInt(4);
          case TIMESTAMP, TIMESTAMP_LTZ -> random.nextInt(7);
          default -> 0;
        };
    int scale = kind == Kind.DECIMAL ? random.nextInt(precision + 1) : 0;
    int size =
        switch (kind) {
          case ARRAY -> 1;
          case MAP -> 2;
          case ROW -> 1 + random.nextInt(3);
          default -> 0;
        };
    List<ColumnType> children = new ArrayList<>();
    List<String> names = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      children.add(type(depth + 1));
      if (kind == Kind.ROW) {
        names.add("f" + i + text());
      }
    }
    return new ColumnType(kind, random.nextBoolean(), precision, scale, children, names);
  }

  private SpineSpec spec() {
    int fanIn = 2 + random.nextInt(50);
    return new SpineSpec(
        fanIn,
        2 * fanIn + random.nextInt(50),
        2 * fanIn + random.nextInt(50),
        1 + count() / 1000,
        1.001 + random.nextDouble(),
        random.nextBoolean());
  }

  private Batch batch() {
    Frontier one = frontier();
    Frontier other = frontier();
    while (one.equals(other)) {
      other = frontier();
    }
    return new Batch(
        text(),
        new BatchDescription(one.min(other), one.max(other)),
        frontier(),
        random.nextInt(9),
        list(3, () -> list(3, this::part)),
        list(2, this::part),
        count(),
        count(),
        count(),
        random.nextBoolean() ? OptionalLong.empty() : OptionalLong.of(random.nextLong()),
        frontier().time(),
        random.nextBoolean(),
        random.nextInt(9),
        extra());
  }

  private Part part() {
    PartLocation location =
        random.nextBoolean()
            ? new PartLocation.Inline("KLUv/SQAAQAAmenYUQ==")
            : new PartLocation.Stored(
                "part/2026-11-30/" + Long.toHexString(count()) + ".parquet", count(), "00c0ffee");
    return new Part(
        location,
        count(),
        count(),
        random.nextLong(),
        count(),
        random.nextBoolean() ? null : "00ff",
        random.nextBoolean() ? null : "a0",
        frontier().time(),
        frontier().time(),
        extra());
  }

  private WriterAttempt attempt() {
    return new WriterAttempt(text(), "2026-11-30T00:00:00Z", text(), text());
  }

  private Map<String, String> extra() {
    return switch (random.nextInt(4)) {
      case 0 -> Map.of("later", raw());
      case 1 -> Map.of("zz", raw(), "b", raw());
      default -> Map.of();
    };
  }

  private String raw() {
    return RAW[random.nextInt(RAW.length)];
  }

  private Frontier frontier() {
    return switch (random.nextInt(5)) {
      case 0 -> Frontier.MINIMUM;
      case 1 -> Frontier.END;
      case 2 -> Frontier.of(random.nextLong());
      default -> Frontier.of(random.nextInt(1000));
    };
  }

  private long count() {
    return random.nextLong() >>> (1 + random.nextInt(60));
  }

  private String text() {
    return TEXTS[random.nextInt(TEXTS.length)];
  }

  private <T> List<T> list(int most, Supplier<T> element) {
    List<T> list = new ArrayList<>();
    for (int i = random.nextInt(most + 1); i > 0; i--) {
      list.add(element.get());
    }
    return list;
  }
}
