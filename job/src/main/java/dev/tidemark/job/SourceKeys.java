package dev.tidemark.job;

import static dev.tidemark.job.OptionKey.fixed;
import static dev.tidemark.job.OptionKey.none;
import static dev.tidemark.job.OptionKey.workedOut;

import dev.tidemark.flink.decode.DebeziumSettings;
import dev.tidemark.flink.decode.Envelope;
import dev.tidemark.flink.source.SourceSettings.Order;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The keys that say where rows come from and how they are read. */
final class SourceKeys {
  /** The connectors of this version. */
  enum Connector {
    FILES,
    KAFKA,
    DATAGEN
  }

  /** What keys begin with that are passed on to Kafka's clients. */
  static final String KAFKA_PREFIX = "source.kafka.";

  /** Where a job without state ends. */
  enum Until {
    NEVER,
    LATEST
  }

  static final OptionKey<Connector> CONNECTOR =
      fixed(
          "source.connector",
          OptionType.choice(
              OptionType.table(
                  "files", Connector.FILES,
                  "kafka", Connector.KAFKA,
                  "datagen", Connector.DATAGEN),
              List.of()),
          "files",
          "needs nothing else to run",
          "Where rows come from.");
  static final OptionKey<SourceFormat> FORMAT =
      fixed(
          "source.format",
          SourceFormat.TYPE,
          "json",
          "one object a line is what most tools write",
          "How a record is written. `csv`: RFC 4180 with a header line. Of Flink's formats those on the class path by name (`canal-json`, `maxwell-json`; `flink-json`, `flink-csv`, `flink-debezium-json` where we have one of the name), their own options as `source.format.OPTION`; what they say a row is, insert or delete, goes by the envelope.");
  static final OptionKey<String> SCHEMA =
      none(
          "source.schema",
          OptionType.TEXT,
          "types are declared, never guessed",
          "The columns: `id BIGINT NOT NULL, name STRING, PRIMARY KEY (id) NOT ENFORCED`. Required without `tables`.");
  static final OptionKey<Envelope> ENVELOPE =
      fixed(
          "source.envelope",
          OptionType.words(Envelope.class),
          "append",
          "trusts nothing about keys",
          "What a record says: `append` adds its row; `changelog` adds and takes away, before-images trusted; `upsert` sets the row of its key.");
  static final OptionKey<String> EVENT_TIME =
      none(
          "source.event-time",
          OptionType.TEXT,
          "only the user knows which column it is",
          "The column that holds a row's time (BIGINT milliseconds, TIMESTAMP, TIMESTAMP_LTZ), or `metadata` (Debezium: the commit time; else Kafka's timestamp of the record). Required, but for debezium-json: `metadata`.");
  static final OptionKey<Duration> WATERMARK_DELAY =
      workedOut(
          "source.watermark-delay",
          OptionType.DURATION,
          "0 s for bounded input; else 1 s, 5 s for debezium-json",
          "a file has no stragglers to wait for; a database's commits come a little out of order",
          "How far the watermark stays behind the latest row.");
  static final OptionKey<Optional<Duration>> IDLE_TIMEOUT =
      fixed(
          "source.idle-timeout",
          OptionType.DURATION_OR_OFF,
          "off",
          "a silent reader is a fault until somebody says otherwise",
          "After how long without a row a partition, or a reader of files, no longer holds event time back. Once all are silent, the delay is over too and the last rows can be read.");
  static final OptionKey<List<String>> PATH =
      none(
          "source.path",
          OptionType.LIST,
          "nobody can guess it",
          "files: files, folders or globs, in the order given. Required.");
  static final OptionKey<Boolean> BOUNDED =
      fixed(
          "source.bounded",
          OptionType.BOOLEAN,
          "true",
          "a run that ends is what files are for",
          "files: whether the job ends after the last file; `false` watches the folders for new files, each read once and whole: write them elsewhere and rename them into place.");
  static final OptionKey<Order> FILES_ORDER =
      workedOut(
          "source.files.order",
          OptionType.words(Order.class),
          "any with append, else name; name with start = resume-by-time",
          "changes must stay in order, additions need not",
          "files: `name` reads whole files one after another (watched folders: those found together by name), `any` in parallel.");
  static final OptionKey<String> COMPRESSION =
      fixed(
          "source.compression",
          OptionType.choice(
              OptionType.table("auto", "auto", "none", "none", "gzip", "gzip"), List.of()),
          "auto",
          "the name's ending tells",
          "files: how they are compressed.");
  static final OptionKey<String> SERVERS =
      none(
          "source.servers",
          OptionType.TEXT,
          "nobody can guess it",
          "kafka: the brokers to ask first, `host:port`, several by comma. Required.");
  static final OptionKey<List<String>> TOPICS =
      none(
          "source.topics",
          OptionType.LIST,
          "nobody can guess it",
          "kafka: the topics. Required without `source.topic-pattern`.");
  static final OptionKey<String> TOPIC_PATTERN =
      none(
          "source.topic-pattern",
          OptionType.TEXT,
          "nobody can guess it",
          "kafka: a regular expression for the whole names of topics, in the place of `source.topics`; new ones that match are found within a minute.");
  static final OptionKey<String> FROM =
      fixed(
          "source.from",
          OptionType.TEXT,
          "earliest",
          "all rows, unless somebody says otherwise",
          "kafka: where a job without state begins: `earliest`, `latest`, or the first record whose timestamp is at least a time (milliseconds, or ISO-8601 with zone). With state it goes on where that ends. Partitions found while running are read from their start.");
  static final OptionKey<Until> UNTIL =
      fixed(
          "source.until",
          OptionType.words(Until.class),
          "never",
          "a topic has no end",
          "kafka: `latest` ends the job at what is the last record when it begins.");
  static final OptionKey<String> GROUP =
      workedOut(
          "source.group",
          OptionType.TEXT,
          "writer.id",
          "who watches lag by group finds it",
          "kafka: the consumer group that offsets are told to at each checkpoint. They are never read from there.");
  static final OptionKey<DebeziumSettings.Lines> DEBEZIUM_LINES =
      fixed(
          "source.debezium.lines",
          OptionType.words(DebeziumSettings.Lines.class),
          "key-value",
          "a record without its key can't name the row it deletes",
          "files: what a line holds: the value alone, or `{\"key\":…,\"value\":…}`.");
  static final OptionKey<DebeziumSettings.Shape> DEBEZIUM_SHAPE =
      fixed(
          "source.debezium.shape",
          OptionType.words(DebeziumSettings.Shape.class),
          "envelope",
          "what a connector writes unless told otherwise",
          "`envelope` (before, after, op) or `unwrapped` (the row itself).");
  static final OptionKey<String> DEBEZIUM_WRAPPED =
      fixed(
          "source.debezium.wrapped",
          OptionType.choice(OptionType.table("auto", "auto"), List.of()),
          "auto",
          "the two keys schema and payload tell",
          "Whether a value is wrapped with its schema.");
  static final OptionKey<DebeziumSettings.Decimals> DEBEZIUM_DECIMAL =
      fixed(
          "source.debezium.decimal",
          OptionType.words(DebeziumSettings.Decimals.class),
          "precise",
          "what a connector does unless told otherwise",
          "The connector's decimal.handling.mode.");
  static final OptionKey<DebeziumSettings.Times> DEBEZIUM_TIME =
      fixed(
          "source.debezium.time",
          OptionType.words(DebeziumSettings.Times.class),
          "adaptive",
          "what a connector does unless told otherwise; never guessed",
          "The connector's time.precision.mode.");
  static final OptionKey<DebeziumSettings.Binary> DEBEZIUM_BINARY =
      fixed(
          "source.debezium.binary",
          OptionType.words(DebeziumSettings.Binary.class),
          "base64",
          "what JSON makes of bytes unless told otherwise",
          "The connector's binary.handling.mode.");
  static final OptionKey<Long> ROWS =
      fixed(
          "source.rows",
          OptionType.longNumber(1),
          "1000000",
          "some seconds' worth",
          "datagen: how many rows.");
  static final OptionKey<Long> RATE =
      fixed(
          "source.rate",
          OptionType.longNumber(0),
          "0",
          "as fast as may be",
          "datagen: rows a second; 0: no limit.");
  static final OptionKey<Long> KEYS =
      fixed(
          "source.keys",
          OptionType.longNumber(1),
          "100000",
          "each key is met ten times",
          "datagen: how many keys.");
  static final OptionKey<Integer> VALUE_BYTES =
      fixed(
          "source.value-bytes",
          OptionType.wholeNumber(0, 1 << 20),
          "100",
          "a small row",
          "datagen: the length of a value in bytes.");
  static final OptionKey<Double> LATE_SHARE =
      fixed(
          "source.late-share",
          OptionType.number(0, 1),
          "0",
          "time in order",
          "datagen: the share of rows that come late.");
  static final OptionKey<Double> DELETE_SHARE =
      fixed(
          "source.delete-share",
          OptionType.number(0, 1),
          "0",
          "no deletes",
          "datagen: the share of records that delete; not with append.");
  static final OptionKey<Long> SEED =
      fixed(
          "source.seed",
          OptionType.longNumber(Long.MIN_VALUE),
          "1",
          "the same rows every time",
          "datagen: the seed.");

  static final List<OptionKey<?>> ALL =
      List.of(
          CONNECTOR,
          FORMAT,
          SCHEMA,
          ENVELOPE,
          EVENT_TIME,
          WATERMARK_DELAY,
          IDLE_TIMEOUT,
          PATH,
          BOUNDED,
          FILES_ORDER,
          COMPRESSION,
          SERVERS,
          TOPICS,
          TOPIC_PATTERN,
          FROM,
          UNTIL,
          GROUP,
          DEBEZIUM_LINES,
          DEBEZIUM_SHAPE,
          DEBEZIUM_WRAPPED,
          DEBEZIUM_DECIMAL,
          DEBEZIUM_TIME,
          DEBEZIUM_BINARY,
          ROWS,
          RATE,
          KEYS,
          VALUE_BYTES,
          LATE_SHARE,
          DELETE_SHARE,
          SEED);

  private SourceKeys() {}
}
