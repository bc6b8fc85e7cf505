package dev.tidemark.bench;

import com.sun.management.OperatingSystemMXBean;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SinkSettings;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.TidemarkSink;
import dev.tidemark.log.ShardLog;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.CheckpointType;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.VarCharType;

/**
 * One run of one workload in one JVM: {@code IngestBench DIR WORKLOAD none|tidemark [runs]}. Prints
 * one JSON line. One epoch of the source is one checkpoint is one commit; CPU seconds are the
 * process's, from submission to the last commit's being readable, and of the drain behind it; the
 * end state is checked against the generator.
 */
public final class IngestBench {
  static final RowType ROW =
      RowType.of(
          new LogicalType[] {
            new VarCharType(false, VarCharType.MAX_LENGTH),
            new BigIntType(false),
            new VarCharType(false, VarCharType.MAX_LENGTH)
          },
          new String[] {"k", "ts", "v"});

  private static final int PARALLELISM = 2;
  private static final int MAX_PARALLELISM = 128;
  private static final Duration GIVE_UP = Duration.ofMinutes(10);

  /** How often memory is looked at: what grows with the rows shows. */
  private static final int QUARTERS = 4;

  private final Path folder;
  private final Workload workload;
  private final boolean store;
  private final int runs;
  private final Map<String, Object> figures = new LinkedHashMap<>();
  private final List<Long> leftMiB = new ArrayList<>();
  private final OperatingSystemMXBean system =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private IngestBench(Path folder, Workload workload, boolean store, int runs) {
    this.folder = folder;
    this.workload = workload;
    this.store = store;
    this.runs = runs;
  }

  /** Runs it. */
  @SuppressWarnings("SystemOut")
  public static void main(String[] args) throws Exception {
    Workload workload = Workload.named(args[1]);
    boolean store = args[2].equals("tidemark");
    int runs = args.length > 3 ? Integer.parseInt(args[3]) : 0;
    IngestBench bench = new IngestBench(Path.of(args[0]), workload, store, runs);
    bench.run();
    System.out.println(Json.line(bench.figures));
    System.out.flush();
    Runtime.getRuntime().halt(0);
  }

  @SuppressWarnings({
    "deprecation",
    "try"
  }) // the gate is a legacy source; closing the cluster may be interrupted
  private void run() throws Exception {
    figures.put("workload", workload.name());
    figures.put("envelope", workload.envelope().name().toLowerCase(Locale.ROOT));
    figures.put("sink", store ? "tidemark" : "none");
    figures.put("write_runs", runs);
    figures.put("rows", (long) workload.commits() * workload.rowsPerCommit());
    Gate.reset(PARALLELISM, workload.commits());
    try (MiniCluster cluster = cluster()) {
      cluster.start();
      StreamExecutionEnvironment env = environment();
      DataStream<RowData> rows =
          env.addSource(new GatedSource(workload, PARALLELISM), "gate", InternalTypeInfo.of(ROW))
              .setParallelism(PARALLELISM);
      if (store) {
        sink(rows);
      } else {
        rows.keyBy(row -> row.getString(0).toString()).sinkTo(new DiscardingSink<>());
      }
      long cpuBefore = system.getProcessCpuTime();
      long begin = System.nanoTime();
      JobID job = cluster.submitJob(env.getStreamGraph().getJobGraph()).get().getJobID();
      CompletableFuture<JobResult> end = cluster.requestJobResult(job);
      awaitRunning(cluster, job, end);
      Gate.open();
      for (int epoch = 0; epoch < workload.commits(); epoch++) {
        while (!Gate.awaitEpoch(epoch, 500)) {
          failIfEnded(end);
        }
        cluster.triggerCheckpoint(job, CheckpointType.CONFIGURED).get(300, TimeUnit.SECONDS);
        if ((epoch + 1) % (workload.commits() / QUARTERS) == 0) {
          leftMiB.add(leftByCollectionsMiB());
        }
      }
      figures.put("left_mb", leftMiB.toString());
      awaitReadable(end);
      long cpuAfter = system.getProcessCpuTime();
      figures.put("wall_s", seconds(System.nanoTime() - begin));
      figures.put("cpu_s", seconds(cpuAfter - cpuBefore));
      drain(cluster, job, end);
      figures.put("drain_cpu_s", seconds(system.getProcessCpuTime() - cpuAfter));
      figures.put("peak_rss_mb", peakResidentMiB());
      if (store) {
        storeFigures();
      }
    }
  }

  private MiniCluster cluster() {
    Configuration configuration = new Configuration();
    configuration.set(RestOptions.PORT, 0);
    configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(64));
    configuration.set(StateBackendOptions.STATE_BACKEND, store ? "rocksdb" : "hashmap");
    configuration.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
    configuration.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
    configuration.set(
        CheckpointingOptions.CHECKPOINTS_DIRECTORY,
        folder.resolve("checkpoints").toUri().toString());
    return new MiniCluster(
        new MiniClusterConfiguration.Builder()
            .setConfiguration(configuration)
            .setNumTaskManagers(1)
            .setNumSlotsPerTaskManager(PARALLELISM * 2)
            .build());
  }

  private static StreamExecutionEnvironment environment() {
    StreamExecutionEnvironment env = new StreamExecutionEnvironment(new Configuration());
    env.setParallelism(PARALLELISM);
    env.setMaxParallelism(MAX_PARALLELISM);
    env.getConfig().enableObjectReuse();
    env.enableCheckpointing(Duration.ofDays(1).toMillis());
    return env;
  }

  private ShardTarget target() {
    String key =
        workload.envelope() == Workload.Kind.APPEND ? "" : ", PRIMARY KEY (k) NOT ENFORCED";
    Schema schema =
        Schema.parse("k STRING NOT NULL, ts BIGINT NOT NULL, v STRING NOT NULL" + key, 1);
    return new ShardTarget(
        folder.resolve("shard").toUri().toString(),
        "bench",
        schema,
        SpineSpec.DEFAULT,
        Duration.ZERO);
  }

  private void sink(DataStream<RowData> rows) {
    List<ShardTarget> shards = List.of(target());
    SinkSettings settings = SinkSettings.of("bench").withWriteRuns(runs);
    SlotKeys slots = TidemarkSink.slotKeys(shards, settings, PARALLELISM, MAX_PARALLELISM);
    TidemarkSink.append(BenchUpdates.of(rows, workload, target(), slots), shards, settings, slots);
  }

  private static void awaitRunning(MiniCluster cluster, JobID job, CompletableFuture<JobResult> end)
      throws Exception {
    while (true) {
      List<ExecutionState> states = new ArrayList<>();
      cluster
          .getExecutionGraph(job)
          .get()
          .getAllExecutionVertices()
          .forEach(vertex -> states.add(vertex.getExecutionState()));
      if (!states.isEmpty() && states.stream().allMatch(ExecutionState.RUNNING::equals)) {
        return;
      }
      failIfEnded(end);
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private static void failIfEnded(CompletableFuture<JobResult> end) throws Exception {
    if (end.isDone()) {
      throw new IOException("the job ended: " + end.get().getSerializedThrowable());
    }
  }

  private void awaitReadable(CompletableFuture<JobResult> end) throws Exception {
    if (!store) {
      return;
    }
    long deadline = System.nanoTime() + GIVE_UP.toNanos();
    long wanted = workload.commits() * GatedSource.EPOCH_MILLIS;
    try (var objects = Stores.open(target().url(), StoreSettings.DEFAULT)) {
      ShardLog log = new ShardLog(objects);
      while (log.refresh().upper().time() < wanted) {
        failIfEnded(end);
        if (System.nanoTime() > deadline) {
          throw new IOException("the last commit did not become readable");
        }
        TimeUnit.MILLISECONDS.sleep(50);
      }
    }
  }

  private void drain(MiniCluster cluster, JobID job, CompletableFuture<JobResult> end)
      throws Exception {
    long begin = System.nanoTime();
    Gate.stop();
    while (!end.isDone()) {
      try {
        cluster.triggerCheckpoint(job, CheckpointType.CONFIGURED).get(30, TimeUnit.SECONDS);
        end.get(100, TimeUnit.MILLISECONDS);
      } catch (TimeoutException notYet) {
        continue;
      } catch (Exception refused) {
        TimeUnit.MILLISECONDS.sleep(100);
      }
      if (System.nanoTime() - begin > GIVE_UP.toNanos()) {
        throw new IOException("the job did not end");
      }
    }
    JobResult result = end.get();
    if (!result.isSuccess()) {
      throw new IOException("the job failed: " + result.getSerializedThrowable());
    }
    figures.put("drain_s", seconds(System.nanoTime() - begin));
  }

  /** Nothing is deleted in a run, so the shard's files are its PUT-class requests. */
  private void storeFigures() throws Exception {
    long files = 0;
    long bytes = 0;
    try (Stream<Path> all = Files.walk(folder.resolve("shard"))) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        files++;
        bytes += Files.size(file);
      }
    }
    figures.put("puts", files);
    figures.put("puts_per_commit", round((double) files / workload.commits()));
    figures.put("bytes_written", bytes);
    long cpuBefore = system.getProcessCpuTime();
    long begin = System.nanoTime();
    try (var objects = Stores.open(target().url(), StoreSettings.DEFAULT)) {
      ShardLog log = new ShardLog(objects);
      ShardState state = log.refresh();
      figures.put("versions", state.seqno().value());
      figures.put("runs", state.batches().stream().mapToInt(batch -> batch.runCount()).sum());
      figures.put("correct", EndState.matches(log, state, workload, PARALLELISM));
    }
    figures.put("read_wall_s", seconds(System.nanoTime() - begin));
    figures.put("read_cpu_s", seconds(system.getProcessCpuTime() - cpuBefore));
  }

  /** What the last collection of the whole heap left. */
  private static long leftByCollectionsMiB() {
    System.gc();
    long bytes = 0;
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
      MemoryUsage left = pool.getCollectionUsage();
      bytes += left == null ? 0 : left.getUsed();
    }
    return bytes >> 20;
  }

  private static long peakResidentMiB() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmHWM")) {
        return Long.parseLong(line.replaceAll("[^0-9]", "")) / 1024;
      }
    }
    return -1;
  }

  private static double seconds(long nanos) {
    return round(nanos / 1e9);
  }

  private static double round(double value) {
    return Math.round(value * 100) / 100.0;
  }
}
