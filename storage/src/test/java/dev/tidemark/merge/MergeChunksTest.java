package dev.tidemark.merge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.part.KeyRange;
import dev.tidemark.part.PartStore;
import dev.tidemark.part.PartStore.Sample;
import dev.tidemark.part.RowBlock;
import dev.tidemark.row.ErrorRows;
import dev.tidemark.row.RowChange;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.Seeds;
import dev.tidemark.row.Updates;
import dev.tidemark.row.Updates.One;
import dev.tidemark.schema.Schema;
import dev.tidemark.schema.SchemaChange;
import dev.tidemark.shard.Fact;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Chunks of a merge, one after another, are the merge. */
final class MergeChunksTest {
  private static final String KEY = ", PRIMARY KEY (k) NOT ENFORCED";
  private static final List<Schema[]> SCHEMAS =
      List.of(
          schemas("k BIGINT NOT NULL, v STRING", ", w INT", KEY),
          schemas("k STRING NOT NULL, v STRING", ", w INT", KEY),
          schemas("k STRING NOT NULL, v STRING", ", w INT", ""),
          evolved(
              "k BIGINT NOT NULL, v STRING, w INT, d DECIMAL(5, 2), f FLOAT" + KEY,
              "k BIGINT NOT NULL, u INT, w BIGINT, d DECIMAL(20, 2), f DOUBLE" + KEY),
          evolved("k STRING NOT NULL, v INT", "u INT, k STRING NOT NULL, v BIGINT, w STRING"));

  private static Schema[] evolved(String from, String to) {
    Schema first = Schema.parse(from, 1);
    return new Schema[] {
      first, SchemaChange.of(List.of(first), Schema.parse(to, 1)).next(),
    };
  }

  private final MemoryStore store = new MemoryStore("chunks");
  private int named;

  private static Schema[] schemas(String columns, String later, String key) {
    return new Schema[] {
      Schema.parse(columns + key, 1), Schema.parse(columns + later + key, 2),
    };
  }

  private PartStore parts(long targetBytes) {
    return new PartStore(
        store, "SHARD", targetBytes, () -> "part/2026-11-30/" + ++named + ".parquet");
  }

  /** A value of a key column: few of them, or long ones that differ at their ends only. */
  private static Object key(Schema schema, int column, Random random, int keys) {
    int number = random.nextInt(keys);
    if (schema.columns().get(column).type().kind().name().equals("BIGINT")) {
      return (long) number;
    }
    return number % 3 == 0 ? "k" + number : "x".repeat(80) + number;
  }

  private static Object value(Schema schema, int column, Random random, int keys) {
    if (schema.columns().get(column).name().equals("k")) {
      return key(schema, column, random, keys);
    }
    if (random.nextInt(4) == 0) {
      return null;
    }
    int number = random.nextInt(3);
    return switch (schema.columns().get(column).type().kind()) {
      case INT, BIGINT -> number;
      case FLOAT -> number / 4f;
      case DOUBLE -> number / 4.0;
      case DECIMAL -> BigDecimal.valueOf(number, 2);
      default -> "v" + number;
    };
  }

  private static List<One> updates(Schema schema, Random random, int count, int keys, long from)
      throws Exception {
    RowCodec codec = new RowCodec(schema);
    List<One> updates = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Object[] values = new Object[schema.columns().size()];
      for (int column = 0; column < values.length; column++) {
        values[column] = value(schema, column, random, keys);
      }
      int diff = random.nextInt(3) == 0 ? -1 : 1;
      updates.add(One.of(codec.encode(values), from + random.nextInt(120), diff));
    }
    return Updates.consolidate(updates, Long.MIN_VALUE);
  }

  private Batch batch(Schema schema, Random random, PartStore parts, int number) throws Exception {
    long lower = number * 100L;
    List<List<Part>> runs = new ArrayList<>();
    for (int run = random.nextInt(3); run >= 0; run--) {
      int count = random.nextInt(10) == 0 ? 0 : 1 + random.nextInt(600);
      List<One> updates = updates(schema, random, count, 1 + random.nextInt(2000), lower);
      if (!updates.isEmpty() && random.nextInt(4) == 0) {
        runs.add(List.of(PartStore.inline(RowBlock.encode(Updates.cursor(updates)), schema)));
      } else if (!updates.isEmpty()) {
        runs.add(parts.writeRun(Updates.cursor(updates), schema));
      }
    }
    RowCodec codec = new RowCodec(ErrorRows.SCHEMA);
    byte[] error = codec.encode(new Object[] {"bad", new byte[] {(byte) number}, "f:1", "t"});
    List<One> errors = List.of(One.of(error, lower, 1));
    List<Part> all = runs.stream().flatMap(List::stream).toList();
    return new Batch(
        "b" + number,
        new BatchDescription(Frontier.of(lower), Frontier.of(lower + 100)),
        Frontier.MINIMUM,
        0,
        runs,
        parts.writeRun(Updates.cursor(errors), ErrorRows.SCHEMA),
        all.stream().mapToLong(Part::rows).sum(),
        all.stream().mapToLong(Part::bytes).sum(),
        all.stream().mapToLong(Part::retracted).sum(),
        OptionalLong.empty(),
        lower + 119,
        true,
        schema.id(),
        Map.of());
  }

  private static ShardState state(Schema[] schemas, List<Batch> batches) {
    List<Fact> facts = new ArrayList<>();
    facts.add(new Fact.ShardFact("SHARD", "1.0"));
    for (Schema schema : schemas) {
      facts.add(new Fact.SchemaFact(schema, Map.of()));
    }
    facts.add(new Fact.SpecFact(SpineSpec.DEFAULT, Map.of()));
    facts.add(new Fact.UpperFact(batches.get(batches.size() - 1).bounds().upper()));
    facts.add(new Fact.SinceFact(Frontier.of(50)));
    batches.forEach(batch -> facts.add(new Fact.BatchFact(batch)));
    return ShardState.of(new SeqNo(1), facts);
  }

  /** Random ranges that together are all rows: at beginnings of rows, or where nothing is. */
  private static List<KeyRange> ranges(List<One> rows, Random random) {
    List<String> bounds = new ArrayList<>();
    for (int i = random.nextInt(6); i > 0 && !rows.isEmpty(); i--) {
      String row = rows.get(random.nextInt(rows.size())).row();
      int length =
          random.nextBoolean() ? row.length() : 2 + random.nextInt(row.length() / 2) / 2 * 2;
      bounds.add(row.substring(0, Math.min(length, row.length())));
    }
    List<KeyRange> ranges = new ArrayList<>();
    String from = null;
    for (String bound : bounds.stream().sorted().distinct().toList()) {
      ranges.add(new KeyRange(from, bound));
      from = bound;
    }
    ranges.add(new KeyRange(from, null));
    return ranges;
  }

  @Test
  void allChunksAreTheMergeWhateverTheRows() {
    Seeds.each(
        60,
        random -> {
          Schema[] schemas = SCHEMAS.get(random.nextInt(SCHEMAS.size()));
          PartStore parts = parts(1 << 10 + random.nextInt(7));
          List<Batch> batches = new ArrayList<>();
          for (int i = 0; i < 3; i++) {
            batches.add(batch(schemas[i == 0 ? 0 : random.nextInt(2)], random, parts, i));
          }
          ShardState state = state(schemas, batches);
          List<String> inputs = batches.stream().map(Batch::id).toList();
          Frontier since = Frontier.of(random.nextInt(250));
          RunMerger merger = new RunMerger(parts, 1 << 20);
          Batch whole =
              merger.merge(state, inputs, since, "m", RunMerger.Chunk.all(state)).orElseThrow();
          List<One> rows = rows(parts, whole, schemas[1]);

          List<KeyRange> ranges =
              random.nextBoolean()
                  ? MergeChunks.cut(parts, batches, 2_000 + random.nextInt(20_000))
                  : ranges(rows, random);
          List<Batch> chunks = new ArrayList<>();
          for (KeyRange range : ranges) {
            RunMerger.Chunk chunk = new RunMerger.Chunk(range, 2, chunks.isEmpty());
            chunks.add(merger.merge(state, inputs, since, "c", chunk).orElseThrow());
          }
          Batch joined = RunMerger.join("m", chunks);
          assertThat(rows(parts, joined, schemas[1])).isEqualTo(rows);
          assertThat(facts(joined)).isEqualTo(facts(whole));
          assertThat(joined.errors().stream().mapToLong(Part::rows).sum()).isEqualTo(3);
        });
  }

  @Test
  void whatIsMergedAndReadIsTheRowsInTheNewestSchema() {
    Seeds.each(
        40,
        random -> {
          Schema[] schemas = SCHEMAS.get(random.nextInt(SCHEMAS.size()));
          PartStore parts = parts(1 << 10 + random.nextInt(7));
          List<Batch> batches = new ArrayList<>();
          List<One> model = new ArrayList<>();
          RowChange change = new RowChange(schemas[0], schemas[1]);
          for (int i = 0; i < 3; i++) {
            Batch batch = batch(schemas[i == 0 ? 0 : random.nextInt(2)], random, parts, i);
            batches.add(batch);
            for (List<Part> run : batch.runs()) {
              Schema written = schemas[batch.schema() - 1];
              for (One one : Updates.drain(parts.readRun(run, written, written))) {
                byte[] row = HexFormat.of().parseHex(one.row());
                boolean old = batch.schema() == 1;
                byte[] now = old ? change.apply(row, 0, row.length) : row;
                if (batch.bounds().contains(one.time())) {
                  model.add(One.of(now, one.time(), one.diff()));
                }
              }
              List<One> read = Updates.drain(parts.readRun(run, written, schemas[1]));
              assertThat(read)
                  .as("in order")
                  .isSortedAccordingTo(Comparator.comparing(One::row).thenComparingLong(One::time));
            }
          }
          ShardState state = state(schemas, batches);
          List<String> inputs = batches.stream().map(Batch::id).toList();
          Batch merged =
              new RunMerger(parts, 1 << 20)
                  .merge(state, inputs, Frontier.MINIMUM, "m", RunMerger.Chunk.all(state))
                  .orElseThrow();
          assertThat(rows(parts, merged, schemas[1]))
              .isEqualTo(Updates.consolidate(model, Long.MIN_VALUE));
        });
  }

  @Test
  @DisplayName("persist 57: a merge that was planned before a schema never drops its columns")
  void aMergePlannedInAnOlderSchemaTakesNoNewerBatch() throws Exception {
    Schema[] schemas = SCHEMAS.get(0);
    PartStore parts = parts(1 << 10);
    Random random = new Random(7);
    List<Batch> batches =
        List.of(batch(schemas[0], random, parts, 0), batch(schemas[1], random, parts, 1));
    ShardState state = state(schemas, batches);
    RunMerger merger = new RunMerger(parts, 1 << 20);
    RunMerger.Chunk older = new RunMerger.Chunk(KeyRange.ALL, 1, true);
    assertThatThrownBy(() -> merger.merge(state, List.of("b0", "b1"), Frontier.of(50), "m", older))
        .hasMessage("batch b1 is of schema 2: merged in schema 1 it would lose columns");
    assertThat(merger.merge(state, List.of("b0"), Frontier.of(50), "m", older))
        .as("its own inputs are older, so nothing is lost")
        .hasValueSatisfying(merged -> assertThat(merged.schema()).isEqualTo(1));
    RunMerger.Chunk newer = RunMerger.Chunk.all(state);
    assertThat(merger.merge(state, List.of("b0", "b1"), Frontier.of(50), "m", newer))
        .hasValueSatisfying(merged -> assertThat(merged.schema()).isEqualTo(2));
  }

  private static List<One> rows(PartStore parts, Batch batch, Schema schema) throws Exception {
    List<One> rows = new ArrayList<>();
    for (List<Part> run : batch.runs()) {
      rows.addAll(Updates.drain(parts.readRun(run, schema, schema)));
    }
    return rows;
  }

  /** What a batch says beside its parts. */
  private static Batch facts(Batch batch) {
    return new Batch(
        batch.id(),
        batch.bounds(),
        batch.since(),
        batch.level(),
        List.of(),
        List.of(),
        batch.rows(),
        batch.bytes(),
        batch.retracted(),
        batch.sum(),
        batch.maxTime(),
        batch.cut(),
        batch.schema(),
        batch.extra());
  }

  @Test
  void chunksAreAboutAsLargeAsWanted() throws Exception {
    Schema schema = Schema.parse("id BIGINT NOT NULL, v STRING, PRIMARY KEY (id) NOT ENFORCED", 1);
    RowCodec codec = new RowCodec(schema);
    Random random = new Random(5);
    List<List<Part>> runs = new ArrayList<>();
    for (int run = 0; run < 4; run++) {
      List<One> updates = new ArrayList<>();
      for (int i = 0; i < 4_000; i++) {
        Object[] row = {random.nextLong() >>> random.nextInt(64), "some text of some length"};
        updates.add(One.of(codec.encode(row), 1, 1));
      }
      updates = Updates.consolidate(updates, Long.MIN_VALUE);
      runs.add(parts(128 << 10).writeRun(Updates.cursor(updates), schema));
    }
    Batch batch = plain(runs);
    List<KeyRange> chunks = MergeChunks.cut(parts(128 << 10), List.of(batch), 128 << 10);
    assertThat(chunks).hasSizeBetween(4, 8);
    for (KeyRange range : chunks) {
      long bytes = 0;
      for (List<Part> run : batch.runs()) {
        for (One one : Updates.drain(parts(1).readRun(run, schema, schema, range))) {
          byte[] row = HexFormat.of().parseHex(one.row());
          bytes += codec.countedBytes(row, 0, row.length);
        }
      }
      assertThat(bytes).isBetween(64L << 10, 256L << 10);
    }
    assertThat(MergeChunks.cut(parts(1), List.of(batch), 128 << 10)).isEqualTo(chunks);
  }

  private static Batch plain(List<List<Part>> runs) {
    List<Part> all = runs.stream().flatMap(List::stream).toList();
    return new Batch(
        "b0",
        new BatchDescription(Frontier.of(0), Frontier.of(100)),
        Frontier.MINIMUM,
        0,
        runs,
        List.of(),
        all.stream().mapToLong(Part::rows).sum(),
        all.stream().mapToLong(Part::bytes).sum(),
        0,
        OptionalLong.of(all.stream().mapToLong(Part::sum).sum()),
        1,
        false,
        1,
        Map.of());
  }

  /** Keys that can't be told apart stay together, whatever it takes. */
  @Test
  void cutsNowhereWithoutASampleToCutAt() {
    List<Sample> same = List.of(new Sample("", 500), new Sample("aa", 500), new Sample("aa", 500));
    assertThat(MergeChunks.cut(same, 100))
        .containsExactly(new KeyRange(null, "aa"), new KeyRange("aa", null));
    assertThat(MergeChunks.cut(List.of(), 100)).containsExactly(KeyRange.ALL);
  }

  /** A chunk fetches what it needs, and that in small pieces if it must. */
  @Test
  void readsALittleOfALargePartInSmallPieces() throws Exception {
    Schema schema = Schema.parse("id BIGINT NOT NULL, v BYTES, PRIMARY KEY (id) NOT ENFORCED", 1);
    RowCodec codec = new RowCodec(schema);
    Random random = new Random(3);
    List<One> updates = new ArrayList<>();
    for (long i = 0; i < 12_000; i++) {
      byte[] value = new byte[400];
      random.nextBytes(value);
      updates.add(One.of(codec.encode(new Object[] {i, value}), 1, 1));
    }
    PartStore writer = parts(16 << 20);
    List<Part> run = writer.writeRun(Updates.cursor(updates), schema);
    assertThat(run).hasSize(1);
    Widest widest = new Widest(store);
    PartStore reader = new PartStore(widest, "SHARD", 1, () -> "none").fetching(256 << 10);
    assertThat(Updates.drain(reader.readRun(run, schema, schema))).isEqualTo(updates);
    assertThat(widest.most).isBetween(100L << 10, 300L << 10);
    widest.all = 0;
    KeyRange range =
        new KeyRange(updates.get(6_000).row().substring(0, 18), updates.get(6_100).row());
    assertThat(Updates.drain(reader.readRun(run, schema, schema, range)))
        .isEqualTo(updates.subList(6_000, 6_100));
    assertThat(widest.all).isLessThan(3L << 20);
  }
}
