package dev.tidemark.job;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.decode.DecodeSettings.Format;
import dev.tidemark.flink.decode.Envelope;
import dev.tidemark.flink.decode.TableMapping;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.Schema;
import dev.tidemark.spine.SpineSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One shard of a job and the records that belong to it.
 *
 * @param target the shard
 * @param mapping its records
 */
record TableOptions(ShardTarget target, TableMapping mapping) {
  /** A shard's name is a folder's name. */
  private static final String NAME_FORM = "[A-Za-z0-9][A-Za-z0-9._-]{0,199}";

  private static final String METADATA = "metadata";
  private static final List<String> ENTRY_KEYS =
      List.of("shard", "match", "schema", "envelope", "event-time", "spec", "retain");
  private static final List<String> SPEC_KEYS =
      List.of("fan-in", "queue", "rest", "base-bytes", "space", "merging");

  /** The shards of a job: those of {@code tables}, else the one of shard.name. */
  static List<TableOptions> of(Options options, String warehouse) {
    if (options.tables().isEmpty()) {
      return List.of(single(options, warehouse));
    }
    for (OptionKey<?> key : List.of(JobKeys.SHARD, SourceKeys.SCHEMA)) {
      if (options.find(key).isPresent()) {
        throw new OptionException(key.name() + " and tables: take one of the two");
      }
    }
    List<TableOptions> found = new ArrayList<>();
    Set<String> names = new HashSet<>();
    Set<TableMapping.MatchKind> kinds = new HashSet<>();
    for (JsonNode entry : options.tables()) {
      TableOptions table = entry(options, warehouse, found.size(), entry);
      if (!names.add(table.target().name())) {
        throw new OptionException("tables: the shard " + table.target().name() + " stands twice");
      }
      if (table.mapping().match() != null) {
        kinds.add(table.mapping().match().kind());
      }
      found.add(table);
    }
    if (kinds.size() > 1) {
      throw new OptionException(
          "tables: match by " + kinds + " in one job: take one kind (table, topic or column)");
    }
    return found;
  }

  /**
   * The shards that a job of role compact is told to merge; empty: all of the warehouse. Of {@code
   * tables} it takes the names and {@code retain}.
   */
  static List<ShardTarget> merged(Options options, String warehouse) {
    List<ShardTarget> found = new ArrayList<>();
    options
        .find(JobKeys.SHARD)
        .ifPresent(name -> found.add(merged(warehouse, name, retainOfOthers(options))));
    for (JsonNode entry : options.tables()) {
      String at = "tables[" + found.size() + "]";
      Values values = Values.of(at, entry, ENTRY_KEYS);
      String name = values.required("shard", "the shard's name under shard.warehouse");
      Optional<Duration> retain =
          values.read("retain", JobKeys.RETAIN).orElseGet(() -> retainOfOthers(options));
      found.add(merged(warehouse, name, retain));
    }
    return found;
  }

  private static ShardTarget merged(String warehouse, String name, Optional<Duration> retain) {
    return ShardTarget.merged(warehouse + "/" + checkedName(name), name, retain.orElse(null));
  }

  /** How much the shards of other jobs retain: never assumed. */
  static Optional<Duration> retainOfOthers(Options options) {
    return options
        .find(JobKeys.RETAIN)
        .orElseThrow(
            () ->
                new OptionException(
                    "retain is missing: with role = compact this job gives up the history of the"
                        + " shards it merges, for the jobs that write them; set it to what they"
                        + " retain (--retain '1 h'), or to forever"));
  }

  private static String checkedName(String name) {
    if (!name.matches(NAME_FORM)) {
      throw new OptionException(
          "shard " + name + ": letters, digits, '.', '_' and '-' only, at most 200");
    }
    return name;
  }

  private static TableOptions single(Options options, String warehouse) {
    String name = options.required(JobKeys.SHARD);
    Values none = new Values("", Map.of());
    Schema schema = schema(options.required(SourceKeys.SCHEMA), SourceKeys.SCHEMA.name());
    return table(options, warehouse, 0, name, null, schema, none, none);
  }

  private static TableOptions entry(Options options, String warehouse, int index, JsonNode entry) {
    String at = "tables[" + index + "]";
    if (!entry.isObject()) {
      throw new OptionException(at + ": not a map: - shard: NAME");
    }
    Values values = Values.of(at, entry, ENTRY_KEYS);
    String name = values.required("shard", "the shard's name under shard.warehouse");
    at = "tables " + name;
    values = new Values(at, values.texts());
    Schema schema = schema(values.required("schema", "its columns"), at + " schema");
    @Nullable JsonNode match = entry.get("match");
    if (match == null && options.tables().size() > 1) {
      throw new OptionException(at + ": match is missing: match: {table: public.orders}");
    }
    @Nullable JsonNode spec = entry.get("spec");
    Values specValues =
        spec == null ? new Values(at, Map.of()) : Values.of(at + " spec", spec, SPEC_KEYS);
    return table(
        options,
        warehouse,
        index,
        name,
        match == null ? null : match(options, at, match),
        schema,
        values,
        specValues);
  }

  private static TableOptions table(
      Options options,
      String warehouse,
      int index,
      String name,
      TableMapping.@Nullable Match match,
      Schema schema,
      Values values,
      Values spec) {
    checkedName(name);
    Envelope envelope =
        values
            .read("envelope", SourceKeys.ENVELOPE)
            .orElseGet(() -> options.value(SourceKeys.ENVELOPE));
    if (envelope == Envelope.UPSERT && schema.key().isEmpty()) {
      throw new OptionException(
          "shard "
              + name
              + ": envelope upsert needs a key: add PRIMARY KEY (...) NOT ENFORCED to its schema");
    }
    Optional<Duration> retain =
        values.read("retain", JobKeys.RETAIN).orElseGet(() -> options.value(JobKeys.RETAIN));
    ShardTarget target =
        new ShardTarget(
            warehouse + "/" + name,
            name,
            schema,
            spec(options, name, spec),
            retain.orElse(null),
            options.value(JobKeys.SCHEMA_EVOLVES));
    return new TableOptions(
        target, new TableMapping(index, match, envelope, eventTime(options, name, schema, values)));
  }

  private static @Nullable String eventTime(
      Options options, String name, Schema schema, Values values) {
    Optional<String> set =
        values
            .read("event-time", SourceKeys.EVENT_TIME)
            .or(() -> options.find(SourceKeys.EVENT_TIME));
    if (set.isEmpty()) {
      if (options.value(SourceKeys.FORMAT).kind() == Format.DEBEZIUM_JSON
          || options.value(SourceKeys.CONNECTOR) == SourceKeys.Connector.DATAGEN) {
        return null;
      }
      throw new OptionException(
          "source.event-time is missing: name the column that holds a row's time, as"
              + " --source.event-time COLUMN");
    }
    String column = set.get();
    if (column.equals(METADATA)) {
      return null;
    }
    ColumnType.Kind kind =
        schema.columns().stream()
            .filter(c -> c.name().equals(column))
            .findFirst()
            .orElseThrow(
                () ->
                    new OptionException(
                        "source.event-time = "
                            + column
                            + ": shard "
                            + name
                            + " has no such column; it has "
                            + String.join(
                                ", ", schema.columns().stream().map(c -> c.name()).toList())))
            .type()
            .kind();
    switch (kind) {
      case BIGINT, TIMESTAMP, TIMESTAMP_LTZ -> {
        return column;
      }
      default ->
          throw new OptionException(
              "source.event-time = "
                  + column
                  + ": a column of type "
                  + kind
                  + " is no time; it takes BIGINT milliseconds, TIMESTAMP or TIMESTAMP_LTZ");
    }
  }

  private static SpineSpec spec(Options options, String name, Values values) {
    int fanIn =
        values.read("fan-in", JobKeys.FAN_IN).orElseGet(() -> options.value(JobKeys.FAN_IN));
    int queue = values.read("queue", JobKeys.QUEUE).orElseGet(() -> options.value(JobKeys.QUEUE));
    int rest = values.read("rest", JobKeys.REST).orElseGet(() -> options.value(JobKeys.REST));
    if (queue < 2 * fanIn - 1 || rest < 2 * fanIn) {
      throw new OptionException(
          "shard "
              + name
              + ": with fan-in "
              + fanIn
              + ", queue is at least "
              + (2 * fanIn - 1)
              + " (is "
              + queue
              + ") and rest at least "
              + 2 * fanIn
              + " (is "
              + rest
              + ")");
    }
    long base =
        values
            .read("base-bytes", JobKeys.BASE_BYTES)
            .orElseGet(() -> options.value(JobKeys.BASE_BYTES));
    if (base < 1) {
      throw new OptionException("shard " + name + ": shard.spec.base-bytes is at least 1 B");
    }
    return new SpineSpec(
        fanIn,
        queue,
        rest,
        base,
        values.read("space", JobKeys.SPACE).orElseGet(() -> options.value(JobKeys.SPACE)),
        values.read("merging", JobKeys.MERGING).orElseGet(() -> options.value(JobKeys.MERGING)));
  }

  private static TableMapping.Match match(Options options, String at, JsonNode node) {
    Values values = Values.of(at + " match", node, List.of("table", "topic", "column", "equals"));
    String mend =
        at
            + " match: write one of {table: SCHEMA.TABLE}, {topic: NAME}, {column: NAME, equals:"
            + " VALUE}";
    List<String> given = List.copyOf(values.texts().keySet());
    if (given.equals(List.of("column", "equals"))) {
      return new TableMapping.Match(
          TableMapping.MatchKind.COLUMN,
          values.required("column", ""),
          values.required("equals", ""));
    }
    if (given.size() == 1 && (given.contains("table") || given.contains("topic"))) {
      String kind = given.get(0);
      if (kind.equals("topic")
          && options.value(SourceKeys.CONNECTOR) != SourceKeys.Connector.KAFKA) {
        throw new OptionException(
            at + " match: topic belongs to source.connector = kafka; match by table or column");
      }
      return new TableMapping.Match(
          TableMapping.MatchKind.valueOf(kind.toUpperCase(Locale.ROOT)),
          "",
          values.required(kind, ""));
    }
    throw new OptionException(mend);
  }

  private static Schema schema(String text, String at) {
    try {
      return Schema.parse(text, 1);
    } catch (IllegalArgumentException e) {
      throw new OptionException(
          at + ": " + String.valueOf(e.getMessage()).replaceFirst("^schema: ", ""));
    }
  }

  /** The plain values of an entry, and where it stands. */
  private record Values(String at, Map<String, String> texts) {
    static Values of(String at, JsonNode object, List<String> known) {
      if (!object.isObject()) {
        throw new OptionException(at + ": not a map of " + String.join(", ", known));
      }
      Map<String, String> texts = new TreeMap<>();
      for (Map.Entry<String, JsonNode> field : object.properties()) {
        if (!known.contains(field.getKey())) {
          throw new OptionException(
              at
                  + ": unknown key "
                  + field.getKey()
                  + Nearest.of(field.getKey(), known)
                      .map(n -> "; did you mean " + n + "?")
                      .orElse(""));
        }
        if (field.getValue().isValueNode()) {
          texts.put(field.getKey(), field.getValue().asText());
        }
      }
      return new Values(at, texts);
    }

    String required(String key, String what) {
      @Nullable String text = texts.get(key);
      if (text == null || text.isBlank()) {
        throw new OptionException(at + ": " + key + " is missing: " + what);
      }
      return text;
    }

    <T> Optional<T> read(String key, OptionKey<T> like) {
      @Nullable String text = texts.get(key);
      if (text == null) {
        return Optional.empty();
      }
      try {
        return Optional.of(like.type().reader().read(text));
      } catch (IllegalArgumentException e) {
        throw new OptionException(
            at
                + " "
                + key
                + " = "
                + text
                + ": "
                + e.getMessage()
                + "; it takes "
                + like.type().form());
      }
    }
  }
}
