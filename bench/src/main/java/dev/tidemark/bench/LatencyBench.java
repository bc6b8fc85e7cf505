package dev.tidemark.bench;

import dev.tidemark.flink.CommitSettings;
import dev.tidemark.flink.LateRows;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SinkSettings;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.TidemarkSink;
import dev.tidemark.log.ShardLog;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import dev.tidemark.time.Frontier;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.jspecify.annotations.Nullable;

/**
 * How long after the watermark has passed them rows are readable, with {@code commit = frontier}:
 * {@code LatencyBench DIR ENDPOINT BUCKET SECONDS MINT_INTERVAL_MILLIS}. Rows of about 120 bytes
 * come at 5,000 a second with the time at which they come; a reader looks at the log all the time.
 */
public final class LatencyBench {
  private static final int ROWS_PER_SECOND = 5_000;
  private static final int PARALLELISM = 2;
  private static final int MAX_PARALLELISM = 128;
  private static final int WARM_UP_SECONDS = 15;
  private static final long LOOK_MILLIS = 5;

  /** Watermarks and when they were emitted, in the order in which they were: one source subtask. */
  private static final Queue<Mark> MARKS = new ConcurrentLinkedQueue<>();

  private record Mark(long watermark, long nanos) {}

  private LatencyBench() {}

  /** Runs it, and prints one JSON line. */
  @SuppressWarnings("SystemOut")
  public static void main(String[] args) throws Exception {
    Path folder = Path.of(args[0]);
    String url = "s3://" + args[2] + "/latency";
    int seconds = Integer.parseInt(args[3]);
    Duration interval = Duration.ofMillis(Long.parseLong(args[4]));
    StoreSettings store =
        new StoreSettings(
            Map.of(
                "endpoint",
                args[1],
                "region",
                "us-east-1",
                "access-key",
                "tidemark",
                "secret-key",
                "tidemark-local"));
    StreamExecutionEnvironment env = environment(folder);
    build(env, url, store, interval);
    JobClient job = env.executeAsync("latency");
    List<Long> latencies;
    try {
      latencies = follow(url, store, seconds, job);
    } catch (Exception e) {
      job.cancel().get(); // or the process would go on
      throw e;
    }
    Collections.sort(latencies);
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("mint_interval_ms", interval.toMillis());
    figures.put("watermarks", latencies.size());
    for (int percent : new int[] {50, 90, 99, 100}) {
      long nanos = latencies.get(Math.min(latencies.size() - 1, latencies.size() * percent / 100));
      figures.put("p" + percent + "_ms", TimeUnit.NANOSECONDS.toMillis(nanos));
    }
    System.out.println(Json.line(figures));
    System.out.flush();
    Runtime.getRuntime().halt(0);
  }

  private static StreamExecutionEnvironment environment(Path folder) {
    Configuration conf = new Configuration();
    conf.set(StateBackendOptions.STATE_BACKEND, "rocksdb");
    conf.set(TaskManagerOptions.NUM_TASK_SLOTS, PARALLELISM + 1);
    conf.set(
        CheckpointingOptions.CHECKPOINTS_DIRECTORY,
        folder.resolve("checkpoints").toUri().toString());
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.createLocalEnvironment(PARALLELISM, conf);
    env.setMaxParallelism(MAX_PARALLELISM);
    env.getConfig().enableObjectReuse();
    env.getConfig().setAutoWatermarkInterval(20);
    env.enableCheckpointing(Duration.ofSeconds(10).toMillis());
    return env;
  }

  private static void build(
      StreamExecutionEnvironment env, String url, StoreSettings store, Duration interval) {
    Schema schema = Schema.parse("k STRING NOT NULL, ts BIGINT NOT NULL, v STRING NOT NULL", 1);
    ShardTarget target =
        new ShardTarget(url, "latency", schema, SpineSpec.DEFAULT, Duration.ofMinutes(1));
    List<ShardTarget> shards = List.of(target);
    SinkSettings settings =
        SinkSettings.of("bench")
            .withStore(store)
            .withCommit(CommitSettings.frontier(interval, LateRows.FAIL));
    SlotKeys slots = TidemarkSink.slotKeys(shards, settings, PARALLELISM, MAX_PARALLELISM);
    DataGeneratorSource<RowData> source =
        new DataGeneratorSource<>(
            new TimedRows(),
            Long.MAX_VALUE,
            RateLimiterStrategy.perSecond(ROWS_PER_SECOND),
            InternalTypeInfo.of(IngestBench.ROW));
    WatermarkStrategy<RowData> times =
        WatermarkStrategy.<RowData>forGenerator(context -> new NotedWatermarks())
            .withTimestampAssigner((row, before) -> row.getLong(1));
    DataStream<RowData> rows =
        env.fromSource(source, times, "source").uid("source").setParallelism(1);
    Workload workload = new Workload("latency", Workload.Kind.APPEND, 1, 1, 1);
    TidemarkSink.append(BenchUpdates.of(rows, workload, target, slots), shards, settings, slots);
  }

  /** Looks at the log until the time is over; how long each watermark took to be readable. */
  private static List<Long> follow(String url, StoreSettings store, int seconds, JobClient job)
      throws Exception {
    List<Long> latencies = new ArrayList<>();
    try (ObjectStore objects = Stores.open(url, store)) {
      ShardLog log = new ShardLog(objects);
      long begun = 0;
      while (begun == 0 || System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(seconds)) {
        if (job.getJobStatus().get().isGloballyTerminalState()) {
          throw new IllegalStateException("the job has ended");
        }
        ShardState state = log.refresh();
        Frontier upper = state.exists() ? state.upper() : Frontier.MINIMUM;
        long now = System.nanoTime();
        if (begun == 0 && !upper.isMinimum()) {
          begun = now;
        }
        boolean warm = begun != 0 && now - begun > TimeUnit.SECONDS.toNanos(WARM_UP_SECONDS);
        for (Mark mark = MARKS.peek();
            mark != null && !upper.isMinimum() && mark.watermark() < upper.time();
            mark = MARKS.peek()) {
          MARKS.remove();
          if (warm) {
            latencies.add(now - mark.nanos());
          }
        }
        TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
      }
    }
    return latencies;
  }

  /** A row that comes now. */
  private static final class TimedRows implements GeneratorFunction<Long, RowData> {
    private static final long serialVersionUID = 1L;

    private transient @Nullable Generator generator;

    @Override
    public RowData map(Long row) {
      Generator rows = generator == null ? new Generator(1, 100_000, 1) : generator;
      generator = rows;
      return GenericRowData.of(
          StringData.fromBytes(rows.key(0, rows.localKey(0, row))),
          System.currentTimeMillis(),
          StringData.fromBytes(rows.value(0, row)));
    }
  }

  /** Times don't go back: what comes at a millisecond isn't complete before the next. */
  private static final class NotedWatermarks implements WatermarkGenerator<RowData> {
    private long latest = Long.MIN_VALUE;
    private long emitted = Long.MIN_VALUE;

    @Override
    public void onEvent(RowData row, long time, WatermarkOutput output) {
      latest = Math.max(latest, time);
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {
      if (latest - 1 > emitted && latest != Long.MIN_VALUE) {
        emitted = latest - 1;
        MARKS.add(new Mark(emitted, System.nanoTime()));
        output.emitWatermark(new Watermark(emitted));
      }
    }
  }
}
