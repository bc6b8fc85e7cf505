package dev.tidemark.log;

import dev.tidemark.schema.Column;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.Fact;
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
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads what {@link FactWriter} writes, trusting nothing. */
final class FactReader {
  /** A key of "written" that is there where it isn't 0, and of "consolidating". */
  static final String FORCED = "forced";

  private static final Pattern DAY = Pattern.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}");
  private static final Pattern PART_KEY = Pattern.compile("part/[0-9A-Za-z_.-]+/[0-9A-Za-z_.-]+");
  private static final Pattern HEX = Pattern.compile("[0-9a-f]{0,128}");
  private static final Pattern CRC = Pattern.compile("[0-9a-f]{8}");
  private static final Pattern BASE64 = Pattern.compile("[0-9A-Za-z+/]*={0,2}");

  private FactReader() {}

  /** A fact; an IllegalArgumentException says that its values contradict each other. */
  static Fact read(JsonObject in) throws LogFormatException {
    String name = in.onlyKey();
    return switch (name) {
      case "shard" -> shard(in.child(name));
      case "schema" -> schema(in.child(name));
      case "spec" -> spec(in.child(name));
      case "consolidating" -> consolidating(name, in);
      case "upper" -> new Fact.UpperFact(in.frontier(name));
      case "since" -> new Fact.SinceFact(in.frontier(name));
      case "swept" -> new Fact.SweptFact(matching(in, name, DAY, "is no day"));
      case "written" -> written(in.child(name));
      case "batch" -> batch(in.child(name));
      case "writer" -> writer(in.child(name));
      default -> unknown(name, in);
    };
  }

  private static String matching(JsonObject in, String key, Pattern pattern, String fault)
      throws LogFormatException {
    String text = in.text(key);
    if (!pattern.matcher(text).matches()) {
      throw in.fault(key, fault);
    }
    return text;
  }

  private static Fact consolidating(String name, JsonObject in) throws LogFormatException {
    if (!in.isObject(name)) {
      return new Fact.ConsolidatingFact(in.frontier(name), false);
    }
    JsonObject fields = in.child(name);
    Fact fact = new Fact.ConsolidatingFact(fields.frontier("upper"), fields.flag(FORCED));
    fields.nothingLeft();
    return fact;
  }

  private static Fact shard(JsonObject in) throws LogFormatException {
    String format = in.text("format");
    LogCodec.checkFormat(format, in.where());
    Fact fact = new Fact.ShardFact(in.text("id"), format);
    in.nothingLeft();
    return fact;
  }

  private static Fact schema(JsonObject in) throws LogFormatException {
    int id = in.smallCount("id");
    List<Column> columns = new ArrayList<>();
    for (JsonObject column : in.children("columns")) {
      int columnId = column.smallCount("id");
      String name = column.text("name");
      String type = column.text("type");
      columns.add(
          new Column(columnId, name, ColumnType.parse(type).withNullable(column.flag("nullable"))));
      column.nothingLeft();
    }
    List<String> key = in.texts("key");
    return new Fact.SchemaFact(new Schema(id, columns, key), in.extra());
  }

  private static Fact spec(JsonObject in) throws LogFormatException {
    SpineSpec spec =
        new SpineSpec(
            in.smallCount("fanIn"),
            in.smallCount("queue"),
            in.smallCount("rest"),
            in.count("baseBytes"),
            in.decimal("space"),
            in.flag("merging"));
    return new Fact.SpecFact(spec, in.extra());
  }

  private static Fact written(JsonObject in) throws LogFormatException {
    Written written =
        new Written(
            in.count("runs"),
            in.count("bytes"),
            in.count("merges"),
            in.count("merged"),
            in.has(FORCED) ? in.count(FORCED) : 0,
            in.decimal("depth"));
    return new Fact.WrittenFact(written, in.extra());
  }

  private static Fact writer(JsonObject in) throws LogFormatException {
    String id = in.text("id");
    Frontier upto = in.frontier("upto");
    WriterAttempt by =
        new WriterAttempt(id, in.text("started"), in.text("attempt"), in.text("host"));
    boolean readOnly = in.flag("readOnly");
    return new Fact.WriterFact(by, upto, readOnly, in.extra());
  }

  private static Fact batch(JsonObject in) throws LogFormatException {
    String id = in.text("id");
    BatchDescription bounds = new BatchDescription(in.frontier("lower"), in.frontier("upper"));
    Frontier since = in.frontier("since");
    int level = in.smallCount("level");
    List<List<Part>> runs = new ArrayList<>();
    for (List<JsonObject> run : in.grandchildren("runs")) {
      runs.add(parts(run));
    }
    List<Part> errors = parts(in.children("errors"));
    long rows = in.count("rows");
    long bytes = in.count("bytes");
    long retracted = in.count("retracted");
    Long known = in.integerOrNull("sum");
    OptionalLong sum = known == null ? OptionalLong.empty() : OptionalLong.of(known);
    long maxTime = in.frontier("maxTime").time();
    boolean cut = in.flag("cut");
    int schema = in.smallCount("schema");
    return new Fact.BatchFact(
        new Batch(
            id,
            bounds,
            since,
            level,
            runs,
            errors,
            rows,
            bytes,
            retracted,
            sum,
            maxTime,
            cut,
            schema,
            in.extra()));
  }

  private static List<Part> parts(List<JsonObject> in) throws LogFormatException {
    List<Part> parts = new ArrayList<>();
    for (JsonObject part : in) {
      parts.add(part(part));
    }
    return parts;
  }

  private static Part part(JsonObject in) throws LogFormatException {
    PartLocation location;
    if (in.has("inline")) {
      location = new PartLocation.Inline(matching(in, "inline", BASE64, "is no base64"));
    } else {
      // A damaged entry must not make anybody read outside the shard's parts.
      String key = matching(in, "key", PART_KEY, "is no part's key");
      if (key.contains("/.")) {
        throw in.fault("key", "is no part's key");
      }
      location =
          new PartLocation.Stored(
              key, in.count("size"), matching(in, "crc32c", CRC, "is no checksum"));
    }
    return new Part(
        location,
        in.count("rows"),
        in.count("bytes"),
        in.integer("sum"),
        in.count("retracted"),
        bound(in, "minKey"),
        bound(in, "maxKey"),
        in.frontier("minTime").time(),
        in.frontier("maxTime").time(),
        in.extra());
  }

  private static @Nullable String bound(JsonObject in, String key) throws LogFormatException {
    return in.has(key) ? matching(in, key, HEX, "is no hex") : null;
  }

  private static Fact unknown(String name, JsonObject in) throws LogFormatException {
    if (!in.isObject(name)) {
      return new Fact.UnknownFact(name, "", Map.of("", in.raw(name)));
    }
    JsonObject value = in.child(name);
    if (value.has("")) {
      throw in.fault(name, "has a key without a name");
    }
    Map<String, String> fields = new TreeMap<>(value.extra());
    // Facts of one name are told apart by their key "id", in every format.
    String id = fields.getOrDefault("id", "");
    return new Fact.UnknownFact(name, id, fields);
  }
}
