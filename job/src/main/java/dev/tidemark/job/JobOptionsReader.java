package dev.tidemark.job;

import dev.tidemark.flink.CommitMode;
import dev.tidemark.flink.CommitRules;
import dev.tidemark.flink.CommitSettings;
import dev.tidemark.flink.LateRows;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SinkSettings;
import dev.tidemark.flink.StartMode;
import dev.tidemark.flink.decode.DebeziumSettings;
import dev.tidemark.flink.decode.DecodeSettings;
import dev.tidemark.flink.decode.DecodeSettings.Format;
import dev.tidemark.flink.decode.Envelope;
import dev.tidemark.flink.decode.TableMapping;
import dev.tidemark.flink.source.SourceSettings;
import dev.tidemark.gc.GcSettings;
import dev.tidemark.store.StoreSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;

/** Works a job's options out of what the user has set. */
final class JobOptionsReader {
  /** A writer's id names folders and stands in the log. */
  private static final String WRITER_FORM = "[A-Za-z0-9][A-Za-z0-9._-]{0,99}";

  /** How far a row may be ahead of the clock where input never ends: no clock is off by more. */
  private static final Duration MAX_AHEAD = Duration.ofDays(1);

  private static final Duration DELAY = Duration.ofSeconds(1);
  private static final Duration DEBEZIUM_DELAY = Duration.ofSeconds(5);

  /** What of Kafka's settings is ours to say, and what to set instead. */
  private static final Map<String, String> KAFKA_OURS =
      Map.of(
          "bootstrap.servers", "set source.servers instead",
          "group.id", "set source.group instead",
          "auto.offset.reset", "set source.from instead; an offset that is gone fails the job",
          "enable.auto.commit", "offsets are committed at checkpoints; leave it out",
          "key.deserializer", "records are taken as bytes, source.format reads them; leave it out",
          "value.deserializer",
              "records are taken as bytes, source.format reads them; leave it out");

  private final Options options;

  JobOptionsReader(Options options) {
    this.options = options;
  }

  JobOptions read() {
    String name = options.value(JobKeys.NAME);
    String writer = writer(options.find(JobKeys.WRITER).orElse(name));
    String warehouse = options.required(JobKeys.WAREHOUSE).replaceAll("/+$", "");
    List<TableOptions> tables = TableOptions.of(options, warehouse);
    SourceSettings source = source(tables, writer);
    SortedMap<String, String> flink = options.below(Options.FLINK);
    refuseFlink(flink);
    SinkSettings sink = sink(writer);
    JobOptions.Checkpoints checkpoints = checkpoints(warehouse);
    refuseCommit(sink, checkpoints, tables);
    return new JobOptions(
        name,
        warehouse,
        tables.stream().map(TableOptions::target).toList(),
        source,
        decode(tables, source.bounded()),
        new SourceSettings.Watermarks(
            options.find(SourceKeys.WATERMARK_DELAY).orElseGet(() -> delay(source.bounded())),
            options.value(SourceKeys.IDLE_TIMEOUT).orElse(null)),
        sink,
        options.find(RunKeys.PARALLELISM).orElse(Runtime.getRuntime().availableProcessors()),
        checkpoints,
        settle(),
        seal(source),
        options.value(RunKeys.UI_PORT),
        flink);
  }

  CompactOptions readCompact() {
    for (OptionKey<?> key : List.of(RunKeys.SETTLE, RunKeys.SEAL, RunKeys.START, RunKeys.RESTORE)) {
      if (options.find(key).isPresent()) {
        throw new OptionException(
            key.name() + " and role = compact: such a job has no input and no state; leave it out");
      }
    }
    String name = options.value(JobKeys.NAME);
    // Another id than the job's that appends: both may come from one file, and each has its folder.
    String writer = writer(options.find(JobKeys.WRITER).orElse(name) + "-compact");
    String warehouse = options.required(JobKeys.WAREHOUSE).replaceAll("/+$", "");
    SortedMap<String, String> flink = options.below(Options.FLINK);
    refuseFlink(flink);
    Duration find = options.value(JobKeys.FIND_INTERVAL);
    if (find.toMillis() < 1000) {
      throw new OptionException("find.interval = " + Amounts.text(find) + ": must be at least 1 s");
    }
    List<ShardTarget> named = TableOptions.merged(options, warehouse);
    JobOptions.Checkpoints checkpoints = checkpoints(warehouse);
    if (checkpoints.interval() == null) {
      throw new OptionException(
          "checkpoint.interval = off and role = compact: a job that collects garbage goes by its"
              + " checkpoints; take at least 10 ms");
    }
    return new CompactOptions(
        name + " (compact)",
        warehouse,
        named,
        named.isEmpty() ? TableOptions.retainOfOthers(options).orElse(null) : null,
        find,
        sink(writer).withMerging(true),
        checkpoints,
        options.value(RunKeys.UI_PORT),
        flink);
  }

  private static String writer(String writer) {
    if (!writer.matches(WRITER_FORM)) {
      throw new OptionException(
          "writer.id = " + writer + ": letters, digits, '.', '_' and '-' only, at most 100");
    }
    return writer;
  }

  private SourceSettings source(List<TableOptions> tables, String writer) {
    SourceKeys.Connector connector = options.value(SourceKeys.CONNECTOR);
    if (connector != SourceKeys.Connector.FILES && options.find(SourceKeys.BOUNDED).isPresent()) {
      throw new OptionException(
          "source.bounded is for files: "
              + (connector == SourceKeys.Connector.KAFKA
                  ? "where a topic's reading ends, source.until says"
                  : "datagen ends after source.rows")
              + "; leave it out");
    }
    return switch (connector) {
      case FILES -> files(tables);
      case KAFKA -> kafka(writer);
      case DATAGEN ->
          new SourceSettings.Datagen(
              options.value(SourceKeys.ROWS),
              options.value(SourceKeys.RATE),
              options.value(SourceKeys.KEYS),
              options.value(SourceKeys.VALUE_BYTES),
              options.value(SourceKeys.LATE_SHARE),
              options.value(SourceKeys.DELETE_SHARE),
              options.value(SourceKeys.SEED));
    };
  }

  private SourceSettings files(List<TableOptions> tables) {
    boolean append = tables.stream().allMatch(t -> t.mapping().envelope() == Envelope.APPEND);
    boolean byTime = options.value(RunKeys.START) == StartMode.RESUME_BY_TIME;
    SourceSettings.Order order =
        options
            .find(SourceKeys.FILES_ORDER)
            .orElse(append && !byTime ? SourceSettings.Order.ANY : SourceSettings.Order.NAME);
    if (byTime && order == SourceSettings.Order.ANY) {
      throw new OptionException(
          "start = resume-by-time takes rows below the shard's upper for read before, so they must"
              + " come in order of time: set source.files.order to name");
    }
    List<String> paths = options.required(SourceKeys.PATH);
    String compression = options.value(SourceKeys.COMPRESSION);
    return options.value(SourceKeys.BOUNDED)
        ? new SourceSettings.Files(paths, order, compression)
        : new SourceSettings.WatchedFiles(paths, order, compression);
  }

  private SourceSettings kafka(String writer) {
    String servers = options.required(SourceKeys.SERVERS);
    List<String> topics = options.find(SourceKeys.TOPICS).orElse(List.of());
    Optional<String> pattern = options.find(SourceKeys.TOPIC_PATTERN);
    if (topics.isEmpty() == pattern.isEmpty()) {
      throw new OptionException(
          pattern.isEmpty()
              ? "source.topics is missing: name the topics, or their pattern by"
                  + " source.topic-pattern"
              : "source.topics and source.topic-pattern: take one of the two");
    }
    SortedMap<String, String> properties = options.below(SourceKeys.KAFKA_PREFIX);
    KAFKA_OURS.forEach(
        (key, mend) -> {
          if (properties.containsKey(key)) {
            throw new OptionException(SourceKeys.KAFKA_PREFIX + key + ": " + mend);
          }
        });
    return new SourceSettings.Kafka(
        servers,
        topics,
        pattern.orElse(null),
        from(options.value(SourceKeys.FROM)),
        options.value(SourceKeys.UNTIL) == SourceKeys.Until.LATEST,
        options.find(SourceKeys.GROUP).orElse(writer),
        properties);
  }

  private static SourceSettings.From from(String text) {
    switch (text) {
      case "earliest" -> {
        return SourceSettings.From.EARLIEST;
      }
      case "latest" -> {
        return SourceSettings.From.LATEST;
      }
      default -> {
        try {
          return new SourceSettings.From(SourceSettings.From.Place.TIME, time(text));
        } catch (OptionException e) {
          throw new OptionException(
              "source.from = " + text + ": earliest, latest, or a time: " + e.getMessage());
        }
      }
    }
  }

  private Duration delay(boolean bounded) {
    boolean debezium = options.value(SourceKeys.FORMAT).kind() == Format.DEBEZIUM_JSON;
    return bounded ? Duration.ZERO : debezium ? DEBEZIUM_DELAY : DELAY;
  }

  private boolean seal(SourceSettings source) {
    boolean seal = options.value(RunKeys.SEAL);
    if (seal && !source.bounded()) {
      throw new OptionException(
          "seal = true, but the input never ends ("
              + (source instanceof SourceSettings.Kafka
                  ? "source.until = never"
                  : "source.bounded = false")
              + "), and only a job that has ended by itself seals its shards; leave it out, and"
              + " seal by hand: tidemark seal SHARD");
    }
    return seal;
  }

  private DecodeSettings decode(List<TableOptions> tables, boolean bounded) {
    DebeziumSettings debezium =
        new DebeziumSettings(
            options.value(SourceKeys.DEBEZIUM_LINES),
            options.value(SourceKeys.DEBEZIUM_SHAPE),
            options.value(SourceKeys.DEBEZIUM_DECIMAL),
            options.value(SourceKeys.DEBEZIUM_TIME),
            options.value(SourceKeys.DEBEZIUM_BINARY));
    List<TableMapping> mappings = tables.stream().map(TableOptions::mapping).toList();
    SourceFormat format = options.value(SourceKeys.FORMAT);
    refuseEventTime(format, mappings);
    SortedMap<String, String> formatOptions = options.below(SourceFormat.PREFIX);
    if (format.kind() != Format.FLINK && !formatOptions.isEmpty()) {
      throw new OptionException(
          SourceFormat.PREFIX
              + formatOptions.firstKey()
              + ": only the formats of Flink have options of this kind, source.format is "
              + format.name());
    }
    Optional<Duration> ahead =
        options.find(JobKeys.MAX_AHEAD).orElse(bounded ? Optional.empty() : Optional.of(MAX_AHEAD));
    DecodeSettings settings =
        new DecodeSettings(
            format.kind(),
            debezium,
            mappings,
            options.value(JobKeys.UNMATCHED_FAILS),
            options.value(JobKeys.ERRORS_FAIL),
            options.find(JobKeys.MAX_TIME).map(JobOptionsReader::time).orElse(Long.MAX_VALUE - 1),
            ahead.map(Duration::toMillis).orElse(Long.MAX_VALUE));
    return format.kind() == Format.FLINK
        ? settings.withFlink(new DecodeSettings.FlinkFormat(format.name(), formatOptions))
        : settings;
  }

  private void refuseEventTime(SourceFormat format, List<TableMapping> mappings) {
    if (options.value(SourceKeys.CONNECTOR) != SourceKeys.Connector.FILES
        || format.kind() == Format.DEBEZIUM_JSON) {
      return;
    }
    if (mappings.stream().anyMatch(m -> m.eventTimeColumn() == null)) {
      throw new OptionException(
          "source.event-time is missing or metadata: a line of "
              + format.name()
              + " has no time of its own; name the column that holds it (--source.event-time COLUMN)");
    }
  }

  /** Milliseconds, or ISO-8601 with zone. */
  static long time(String text) {
    try {
      return text.matches("-?\\d+")
          ? Long.parseLong(text)
          : OffsetDateTime.parse(text).toInstant().toEpochMilli();
    } catch (DateTimeParseException | NumberFormatException e) {
      throw new OptionException(
          text + " is no time: write milliseconds, or ISO-8601 with zone such as " + Instant.EPOCH);
    }
  }

  private boolean settle() {
    boolean here = options.value(JobKeys.MERGE).equals("here");
    boolean settle = options.find(RunKeys.SETTLE).orElse(here);
    if (settle && !here) {
      throw new OptionException(
          "settle = true, but merge = elsewhere: merges are another's; leave one of the two out");
    }
    return settle;
  }

  private SinkSettings sink(String writer) {
    return new SinkSettings(
        writer,
        new StoreSettings(options.below(StoreKeys.PREFIX)),
        options.find(RunKeys.WRITE_PARALLELISM).orElse(0),
        options.value(RunKeys.WRITE_RUNS),
        options.value(RunKeys.BUFFER),
        options.value(RunKeys.PART),
        options.value(RunKeys.INLINE),
        options.value(JobKeys.IDLE_INTERVAL),
        options.value(JobKeys.MERGE).equals("here"),
        options.value(RunKeys.MERGE_PARALLELISM),
        options.value(RunKeys.MERGE_MEMORY),
        options.value(RunKeys.MERGE_CHUNK),
        options.value(RunKeys.MAX_STALL),
        UpkeepKeys.interval(options),
        gc(),
        options.value(RunKeys.START),
        commit());
  }

  private CommitSettings commit() {
    CommitMode mode = options.value(JobKeys.COMMIT);
    LateRows late = mode == CommitMode.CHECKPOINT ? LateRows.RETIME : LateRows.FAIL;
    return new CommitSettings(
        mode,
        options.value(RunKeys.MINT_INTERVAL),
        options.find(JobKeys.LATE).orElse(late),
        options.value(JobKeys.READ_ONLY),
        options.value(JobKeys.LENIENT));
  }

  private void refuseCommit(
      SinkSettings sink, JobOptions.Checkpoints checkpoints, List<TableOptions> tables) {
    Map<String, Envelope> envelopes = new LinkedHashMap<>();
    for (TableOptions table : tables) {
      envelopes.put(table.target().name(), table.mapping().envelope());
    }
    boolean checkpointing = checkpoints.interval() != null;
    CommitRules.refusal(sink.commit(), sink.start(), checkpointing, envelopes)
        .ifPresent(
            refusal -> {
              throw new OptionException(refusal);
            });
    if (!sink.commit().isFrontier() && options.find(RunKeys.MINT_INTERVAL).isPresent()) {
      throw new OptionException(
          "mint.interval is for commit = frontier: with commit = checkpoint, checkpoint.interval"
              + " says how often rows become durable");
    }
  }

  private GcSettings gc() {
    UpkeepKeys.holdExpiry(options);
    GcSettings gc = UpkeepKeys.gc(options);
    Duration timeout = options.value(RunKeys.CHECKPOINT_TIMEOUT);
    if (gc.orphanAge().compareTo(timeout) <= 0 && !options.value(UpkeepKeys.UNSAFE)) {
      throw new OptionException(
          "gc.orphan-age = "
              + Amounts.text(gc.orphanAge())
              + ": must be more than checkpoint.timeout, "
              + Amounts.text(timeout)
              + ", or what a checkpoint holds could be taken for an orphan");
    }
    return gc;
  }

  private JobOptions.Checkpoints checkpoints(String warehouse) {
    Duration interval = options.value(RunKeys.CHECKPOINT_INTERVAL).orElse(null);
    if (interval != null && interval.toMillis() < 10) {
      throw new OptionException(
          "checkpoint.interval = "
              + Amounts.text(interval)
              + ": take at least 10 ms, or, with commit = frontier, off");
    }
    return new JobOptions.Checkpoints(
        interval,
        options.value(RunKeys.CHECKPOINT_TIMEOUT),
        options
            .find(RunKeys.CHECKPOINT_DIR)
            .map(JobOptionsReader::folder)
            .orElseGet(() -> standardFolder(warehouse)),
        options.value(RunKeys.RESTORE));
  }

  /** Beside the shards where that is a folder, else in the folder the user stands in. */
  private static String standardFolder(String warehouse) {
    if (warehouse.startsWith("s3:") || warehouse.startsWith("memory:")) {
      return Path.of("tidemark-checkpoints")
          .toAbsolutePath()
          .normalize()
          .toUri()
          .toString()
          .replaceAll("/+$", "");
    }
    return folder(warehouse) + "/.checkpoints";
  }

  /** A path as a URL, which Flink wants; a URL as it is. */
  static String folder(String text) {
    String bare = text.replaceAll("/+$", "");
    return hasScheme(bare) ? bare : "file://" + Path.of(bare).toAbsolutePath().normalize();
  }

  /** Whether a place is a URL, and no path. */
  static boolean hasScheme(String place) {
    return place.matches("[a-z][a-z0-9+.-]*:.*");
  }

  /** What would take away the ground that exactly-once stands on. */
  private static void refuseFlink(Map<String, String> flink) {
    for (Map.Entry<String, String> entry : flink.entrySet()) {
      String key = entry.getKey();
      String at = Options.FLINK + key + " = " + entry.getValue();
      if (key.equals("execution.runtime-mode") && !entry.getValue().equalsIgnoreCase("STREAMING")) {
        throw new OptionException(
            at + ": Tidemark runs in STREAMING mode, bounded input too; leave it out");
      }
      if (key.equals("execution.checkpointing.interval")) {
        throw new OptionException(at + ": set checkpoint.interval instead");
      }
      if (key.equals("execution.checkpointing.dir") || key.equals("state.checkpoints.dir")) {
        throw new OptionException(at + ": set checkpoint.dir instead");
      }
      if (key.equals("execution.checkpointing.mode")
          && !entry.getValue().equalsIgnoreCase("EXACTLY_ONCE")) {
        throw new OptionException(at + ": Tidemark needs EXACTLY_ONCE; leave it out");
      }
      if (key.equals("execution.checkpointing.checkpoints-after-tasks-finish")
          || key.equals("execution.checkpointing.checkpoints-after-tasks-finish.enabled")) {
        throw new OptionException(at + ": the last commit needs it; leave it out");
      }
    }
  }
}
