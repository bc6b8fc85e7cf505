package dev.tidemark.flink;

import dev.tidemark.flink.decode.Envelope;
import dev.tidemark.flink.decode.RowReader;
import dev.tidemark.flink.decode.RowsOperator;
import dev.tidemark.flink.decode.RowsSettings;
import dev.tidemark.flink.message.Update;
import dev.tidemark.flink.source.Updates;
import dev.tidemark.flink.upsert.UpsertSettings;
import dev.tidemark.schema.Schema;
import dev.tidemark.spine.SpineSpec;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.Row;
import org.jspecify.annotations.Nullable;

/**
 * A stream of rows that becomes a shard: {@link TidemarkSink} for programs of one's own. Say what
 * the rows are, then {@link #append}.
 *
 * <p>The stream's watermarks say which times are complete; a stream without any is stored when it
 * ends. A row's kind says what it does, as in any changelog of Flink. Of rows that take others away
 * the times may not go back from one to the next of its key, else counts can be negative at times
 * between (docs/concepts.md).
 */
public final class ShardSink {
  /** The number of key groups where the program doesn't say. */
  private static final int MAX_PARALLELISM = 128;

  /** What is later than this is a wrong clock's. */
  private static final Duration MAX_AHEAD = Duration.ofDays(1);

  private final String url;
  private final SinkSettings settings;
  private @Nullable Schema schema;
  private Envelope envelope = Envelope.CHANGELOG;
  private @Nullable String eventTime;
  private @Nullable Duration maxAhead;
  private boolean errorsFail;
  private SpineSpec spec = SpineSpec.DEFAULT;
  private @Nullable Duration retain = Duration.ofHours(1);

  ShardSink(String url, SinkSettings settings) {
    this.url = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
    this.settings = settings;
  }

  /**
   * The columns: {@code id BIGINT NOT NULL, name STRING, PRIMARY KEY (id) NOT ENFORCED}.
   *
   * @throws IllegalArgumentException when that can't be
   */
  public ShardSink schema(String columns) {
    this.schema = Schema.parse(columns, 1);
    return this;
  }

  /**
   * What a row's kind says; {@link Envelope#CHANGELOG} unless set. {@link Envelope#UPSERT} needs a
   * primary key: a row is then the one of its key, and a DELETE takes the key's row away, whatever
   * it is.
   */
  public ShardSink envelope(Envelope kind) {
    this.envelope = kind;
    return this;
  }

  /** The column that holds a row's time; without it the record's timestamp is taken. */
  public ShardSink eventTime(String column) {
    this.eventTime = column;
    return this;
  }

  /**
   * Rows that are later than the clock by more than this are errors; unless set a day, or no limit
   * for a stream that ends.
   */
  public ShardSink maxAhead(Duration time) {
    this.maxAhead = time;
    return this;
  }

  /** A row that doesn't fit the schema fails the job; else it is kept as an error row. */
  public ShardSink failOnErrors() {
    this.errorsFail = true;
    return this;
  }

  /** The spec that the shard is created with. */
  public ShardSink spec(SpineSpec bounds) {
    this.spec = bounds;
    return this;
  }

  /** How far back the shard can be read, in event time (an hour unless set); null: for ever. */
  public ShardSink retain(@Nullable Duration time) {
    this.retain = time;
    return this;
  }

  /**
   * Builds the topology behind a stream of {@link Row}s: by name where they have names, else by
   * position, fields of the classes that Flink's tables convert to by default.
   *
   * @return what became durable; its watermark says up to which time (see {@link TidemarkSink})
   * @throws IllegalArgumentException naming what doesn't go together, and the mend
   */
  public DataStream<ShardCommit> append(DataStream<Row> rows) {
    return build(rows, RowReader.ofRows(known()));
  }

  /**
   * The same behind a stream of {@link RowData}, whose fields stand in the order of the columns.
   */
  public DataStream<ShardCommit> appendRowData(DataStream<RowData> rows) {
    return build(rows, RowReader.ofRowData(known()));
  }

  private Schema known() {
    if (schema == null) {
      throw new IllegalArgumentException(url + ": say what its columns are: schema(...)");
    }
    return schema;
  }

  private <T> DataStream<ShardCommit> build(DataStream<T> rows, RowReader<T> reader) {
    StreamExecutionEnvironment env = rows.getExecutionEnvironment();
    if (env.getMaxParallelism() <= 0) {
      env.setMaxParallelism(MAX_PARALLELISM);
    }
    String name = url.substring(url.lastIndexOf('/') + 1);
    ShardTarget shard = new ShardTarget(url, name, known(), spec, retain);
    List<ShardTarget> shards = List.of(shard);
    SlotKeys slots =
        TidemarkSink.slotKeys(shards, settings, env.getParallelism(), env.getMaxParallelism());
    CommitRules.require(
        settings.commit(),
        settings.start(),
        TidemarkSink.isCheckpointed(env),
        Map.of(name, envelope));
    StartSettings start = new StartSettings(settings.start(), settings.store());
    RowsSettings how = new RowsSettings(envelope, eventTime, maxAheadMillis(rows), errorsFail);
    SingleOutputStreamOperator<Update> updates =
        rows.transform("rows", Update.TYPE, new RowsOperator<>(reader, shard, how, slots, start))
            .uid("tidemark-rows")
            .setParallelism(rows.getParallelism());
    List<Integer> byKey = envelope == Envelope.UPSERT ? List.of(0) : List.of();
    KeyBuckets buckets = new KeyBuckets(1, slots.maxParallelism());
    UpsertSettings upsert = new UpsertSettings(shards, byKey, slots, buckets, start, errorsFail);
    return TidemarkSink.append(
        Updates.withUpserts(updates, upsert, "tidemark-upsert"), shards, settings, slots);
  }

  private long maxAheadMillis(DataStream<?> rows) {
    if (maxAhead != null) {
      return maxAhead.toMillis();
    }
    return TidemarkSink.isBounded(rows) ? Long.MAX_VALUE : MAX_AHEAD.toMillis();
  }
}
