package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.flink.decode.DebeziumSettings;
import dev.tidemark.flink.decode.DecodeOperator;
import dev.tidemark.flink.decode.DecodeSettings;
import dev.tidemark.flink.decode.Envelope;
import dev.tidemark.flink.decode.TableMapping;
import dev.tidemark.flink.decode.WatermarkSettings;
import dev.tidemark.flink.message.KeyedRow;
import dev.tidemark.flink.message.RawRecord;
import dev.tidemark.flink.message.Update;
import dev.tidemark.flink.upsert.UpsertOperator;
import dev.tidemark.flink.upsert.UpsertSettings;
import dev.tidemark.gc.GcSettings;
import dev.tidemark.log.ShardLog;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import dev.tidemark.time.Frontier;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.jspecify.annotations.Nullable;

/**
 * A job on shards of its own whose input is {@link PacedInput}, which is killed at a point, and
 * whose shards are compared with {@link PacedRows} as it runs and when it is over.
 */
final class KilledJob {
  static final int SPLITS = 4;

  /** Numbers a millisecond and split: their times go as the clock does. */
  private static final double PACE = 0.5;

  /** Small, so that merges happen within a test. */
  private static final SpineSpec SPEC = new SpineSpec(4, 8, 8, 1 << 10, 2.0, true);

  private static final int KEY_GROUPS = 32;

  private final String run = UUID.randomUUID().toString();
  private final AtomicReference<Duration> ahead = new AtomicReference<>(Duration.ZERO);
  private final ObjectStore store = new MemoryStore(run, () -> Instant.now().plus(ahead.get()));
  private final PacedInput.Pace pace;
  private final Shape shape;
  private final PacedRows rows;
  private final List<ShardTarget> shards = new ArrayList<>();

  /** The shards behind the killer's back. */
  private final List<ShardLog> logs = new ArrayList<>();

  private Killer killer;

  /**
   * What a job is like.
   *
   * @param byKey whether rows are set by key, through upsert
   * @param decoded whether rows come through the decoder
   * @param retain how much history the shards keep; null: all
   * @param concurrent checkpoints at the same time
   */
  record Shape(
      int parallelism,
      int shards,
      boolean byKey,
      boolean decoded,
      boolean unaligned,
      int concurrent,
      long intervalMillis,
      @Nullable Duration retain,
      SinkSettings settings) {
    /** One as it comes. */
    static Shape any(RandomGenerator random, int leastShards) {
      boolean unaligned = random.nextBoolean();
      SinkSettings settings =
          TestShards.settings(
                  1 + random.nextInt(2),
                  random.nextBoolean() ? 8_000 : 1 << 20,
                  random.nextBoolean() ? 64 : 4 << 10,
                  random.nextBoolean() ? 2_000 : 1 << 20)
              .withGc(
                  Duration.ofMillis(50),
                  new GcSettings(Duration.ZERO, Duration.ofDays(7), 4096, 10_000));
      return new Shape(
          1 + random.nextInt(4),
          leastShards + random.nextInt(3),
          random.nextBoolean(),
          false,
          unaligned,
          unaligned ? 1 : 1 + random.nextInt(3),
          20,
          random.nextInt(3) == 0 ? Duration.ZERO : null,
          settings);
    }

    /** The same, or one that commits by the frontier; then nothing may be late. */
    Shape committedAnyhow(RandomGenerator random) {
      return random.nextBoolean()
          ? this
          : with(
              settings.withCommit(CommitSettings.frontier(Duration.ofMillis(40), LateRows.FAIL)));
    }

    /** Whether no row is late. */
    boolean isInOrder() {
      return decoded || settings.commit().isFrontier();
    }

    Shape withParallelism(int other) {
      return new Shape(
          other, shards, byKey, decoded, unaligned, concurrent, intervalMillis, retain, settings);
    }

    Shape withConcurrent(int other) {
      return new Shape(
          parallelism, shards, byKey, decoded, false, other, intervalMillis, retain, settings);
    }

    Shape with(SinkSettings other) {
      return new Shape(
          parallelism,
          shards,
          byKey,
          decoded,
          unaligned,
          concurrent,
          intervalMillis,
          retain,
          other);
    }

    @Override
    public String toString() {
      return (decoded ? "decoded " : "")
          + settings.commit().mode()
          + " "
          + (byKey ? "upsert" : "append")
          + " into "
          + shards
          + " shards, parallelism "
          + parallelism
          + ", "
          + (unaligned ? "unaligned" : concurrent + " checkpoints at once")
          + ", retain "
          + retain
          + ", buffer "
          + settings.bufferBytes()
          + ", inline "
          + settings.inlineBytes();
    }
  }

  KilledJob(Shape shape) {
    this(shape, PACE);
  }

  KilledJob(Shape shape, double perMilli) {
    this.shape = shape;
    pace = PacedInput.begin(run, perMilli);
    for (int i = 0; i < shape.shards(); i++) {
      String name = "s" + i;
      shards.add(
          new ShardTarget(
              "memory:" + run + "/" + name, name, PacedRows.SCHEMA, SPEC, shape.retain()));
      logs.add(new ShardLog(store.under(name + "/")));
    }
    rows = new PacedRows(SPLITS, shape.shards(), shape.byKey(), shape.isInOrder());
    kill(null, 1, false);
    Stores.putMemory(run, Killer.around(store, run));
  }

  PacedInput.Pace pace() {
    return pace;
  }

  List<ShardTarget> shards() {
    return shards;
  }

  List<ShardLog> logs() {
    return logs;
  }

  PacedRows rows() {
    return rows;
  }

  /** What is really stored, behind the killer's back. */
  ObjectStore store() {
    return store;
  }

  /** Lets time go by for the store, so that what lies about is old. */
  void waitDays(int days) {
    ahead.set(Duration.ofDays(days));
  }

  /** Arms a new killer, which is asked from now on. */
  Killer kill(@Nullable KillPoint point, int time, boolean wholly) {
    killer = Killer.begin(run, point, time, wholly, pace);
    return killer;
  }

  /** Starts it, from a savepoint if there is one. */
  JobClient submit(Configuration conf, @Nullable String savepoint) throws Exception {
    return submit(conf, savepoint, shape);
  }

  /** Starts it in another shape; the shards are the same. */
  JobClient submit(Configuration conf, @Nullable String savepoint, Shape now) throws Exception {
    conf.set(CheckpointingOptions.ENABLE_UNALIGNED, now.unaligned());
    conf.set(CheckpointingOptions.MAX_CONCURRENT_CHECKPOINTS, now.concurrent());
    // Flink counts the files that concurrent incremental checkpoints share wrongly now and then
    conf.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, now.concurrent() == 1);
    conf.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(now.intervalMillis()));
    conf.set(PipelineOptions.AUTO_WATERMARK_INTERVAL, Duration.ofMillis(5));
    if (savepoint != null) {
      conf.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
    }
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(conf);
    env.setParallelism(now.parallelism());
    env.setMaxParallelism(KEY_GROUPS);
    SinkSettings settings = now.settings();
    SlotKeys slots = TidemarkSink.slotKeys(shards, settings, now.parallelism(), KEY_GROUPS);
    DataStream<ShardCommit> commits =
        TidemarkSink.append(updates(env, slots, settings), shards, settings, slots);
    commits
        .map(new Taps.Passing<>(run, null, KillPoint.COMPLETED))
        .returns(ShardCommit.class)
        .uid("behind-append")
        .setParallelism(commits.getParallelism())
        .map(new Taps.Passing<>(run, KillPoint.SNAPSHOTTED, null))
        .returns(ShardCommit.class)
        .uid("after")
        .setParallelism(1)
        .disableChaining()
        .sinkTo(new DiscardingSink<>())
        .uid("out")
        .setParallelism(1);
    StreamGraph graph = Taps.tap(env.getStreamGraph(), run);
    graph.setJobName("killed");
    return env.executeAsync(graph);
  }

  private DataStream<Update> updates(
      StreamExecutionEnvironment env, SlotKeys slots, SinkSettings settings) {
    PacedRows model = rows;
    DataStream<Long> numbers =
        env.fromSource(
                new PacedInput(run, SPLITS),
                WatermarkStrategy.<Long>forBoundedOutOfOrderness(
                        Duration.ofMillis(PacedRows.DISORDER_MILLIS))
                    .withTimestampAssigner((number, before) -> model.time(number)),
                "numbers",
                Types.LONG)
            .uid("numbers")
            .map(new Taps.Passing<>(run, KillPoint.CHECKPOINT_BEGUN, null))
            .returns(Types.LONG)
            .uid("begun");
    if (shape.decoded()) {
      return decoded(numbers, slots, settings);
    }
    return shape.byKey()
        ? upsert(numbers.map(model::keyed).returns(KeyedRow.TYPE).uid("rows"), slots, settings)
        : numbers.map(number -> model.update(number, slots)).returns(Update.TYPE).uid("rows");
  }

  private DataStream<Update> decoded(
      DataStream<Long> numbers, SlotKeys slots, SinkSettings settings) {
    DecodeSettings decode =
        new DecodeSettings(
            DecodeSettings.Format.JSON,
            DebeziumSettings.DEFAULT,
            List.of(
                new TableMapping(0, null, shape.byKey() ? Envelope.UPSERT : Envelope.APPEND, null)),
            true,
            false,
            Long.MAX_VALUE - 1,
            Long.MAX_VALUE);
    PacedRows model = rows;
    // the splits of a reader are read in turn, each a little behind the one before it
    Duration disorder = Duration.ofMillis(SPLITS * PacedInput.LAG * PacedRows.STEP_MILLIS + 100);
    SingleOutputStreamOperator<Update> updates =
        numbers
            .map(model::record)
            .returns(RawRecord.TYPE)
            .uid("records")
            .transform(
                "decode",
                Update.TYPE,
                new DecodeOperator(
                    decode,
                    shards,
                    slots,
                    new WatermarkSettings(disorder, null, false),
                    start(settings)))
            .uid("decode");
    return shape.byKey()
        ? updates.union(upsert(updates.getSideOutput(DecodeOperator.KEYED), slots, settings))
        : updates;
  }

  private DataStream<Update> upsert(
      DataStream<KeyedRow> keyed, SlotKeys slots, SinkSettings settings) {
    List<Integer> all = new ArrayList<>();
    for (int i = 0; i < shards.size(); i++) {
      all.add(i);
    }
    KeyBuckets buckets = new KeyBuckets(shards.size(), slots.maxParallelism());
    return keyed
        .keyBy(buckets, Types.INT)
        .transform(
            "upsert",
            Update.TYPE,
            new UpsertOperator(
                new UpsertSettings(shards, all, slots, buckets, start(settings), false)))
        .uid("upsert");
  }

  private static StartSettings start(SinkSettings settings) {
    return new StartSettings(settings.start(), StoreSettings.DEFAULT);
  }

  // ---- Waiting

  /** The least upper of all shards. */
  Frontier upper() throws Exception {
    Frontier least = Frontier.END;
    for (ShardLog log : logs) {
      ShardState state = log.refresh();
      least = least.min(state.exists() ? state.upper() : Frontier.MINIMUM);
    }
    return least;
  }

  /** Waits until all shards have what was allowed to be read by now, so that it was committed. */
  void awaitProgress(JobClient job) throws Exception {
    Frontier wanted = Frontier.of(PacedRows.timeOf(pace.allowed()) - disorderMillis());
    TestJobs.await("all shards are at " + wanted, job, () -> !upper().isBefore(wanted));
  }

  private long disorderMillis() {
    long lag = SPLITS * PacedInput.LAG * PacedRows.STEP_MILLIS;
    return shape.decoded() ? 2 * lag + 100 : lag + PacedRows.DISORDER_MILLIS;
  }

  /** Waits until the killer has struck. */
  void awaitKill(JobClient job, long seconds) throws Exception {
    long deadline = System.nanoTime() + seconds * 1_000_000_000L;
    while (!killer.awaitFired(1)) {
      if (job.getJobStatus().get() == JobStatus.FAILED) {
        job.getJobExecutionResult().get(); // throws what it failed for
      }
      assertThat(System.nanoTime()).as("the point was never reached").isLessThan(deadline);
    }
  }

  /** Lets the input end, waits for the job, and compares its shards. */
  void endAndCheck(JobClient job) throws Exception {
    long end = pace.endSoon(50);
    job.getJobExecutionResult().get();
    PacedCheck.atEnd(this, end);
  }

  /** Stops it with a savepoint, without draining it. */
  String stop(JobClient job, String folder) throws Exception {
    return TestJobs.stop(job, folder);
  }

  /** Compares what is readable by now. */
  void check() throws Exception {
    PacedCheck.upTo(this, Long.MAX_VALUE);
  }
}
