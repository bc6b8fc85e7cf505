package dev.tidemark.flink.write;

import com.sun.management.GarbageCollectionNotificationInfo;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SinkSettings;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.TidemarkSink;
import dev.tidemark.flink.message.Update;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.ShardReader;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.management.NotificationEmitter;
import javax.management.openmbean.CompositeData;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/**
 * A job that writes very many rows of one single time, for scripts/big-batch, in a JVM in which
 * they have no room; checks counts and sums, and that they left as one run.
 */
final class BigBatch {
  private static final Schema SCHEMA =
      Schema.parse("id BIGINT NOT NULL, v STRING, PRIMARY KEY (id) NOT ENFORCED", 1);
  private static final long TIME = 1_700_000_000_000L;
  private static final int TEXT_CHARS = 100;

  private final Path folder;
  private final long rows;
  private final AtomicLong liveBytes = new AtomicLong();
  private final AtomicLong spilledBytes = new AtomicLong();

  private BigBatch(Path folder, long rows) {
    this.folder = folder;
    this.rows = rows;
  }

  /** {@code FOLDER ROWS}. */
  public static void main(String[] args) throws Exception {
    if (!new BigBatch(Path.of(args[0]), Long.parseLong(args[1])).run()) {
      System.exit(1);
    }
  }

  /** Numbers in no order, and no two the same. */
  private static long mixed(long number) {
    return number * 0x9E3779B97F4A7C15L;
  }

  /** Encodes a number's row: half of its text is as good as random. */
  private static final class ToUpdate extends RichMapFunction<Long, Update> {
    private static final long serialVersionUID = 1L;

    private final SlotKeys slots;
    private transient RowCodec codec;
    private transient StringBuilder text;

    ToUpdate(SlotKeys slots) {
      this.slots = slots;
    }

    @Override
    public void open(OpenContext context) {
      codec = new RowCodec(SCHEMA);
      text = new StringBuilder();
    }

    @Override
    public Update map(Long number) throws Exception {
      long id = mixed(number);
      text.setLength(0);
      for (long random = id; text.length() < TEXT_CHARS / 2; random = mixed(random + 1)) {
        text.append(Long.toHexString(random ^ random >>> 29));
      }
      while (text.length() < TEXT_CHARS) {
        text.append("tide");
      }
      byte[] row = codec.encode(new Object[] {id, text.toString()});
      int slot = slots.slotKey(0, row, codec.keyLength(row, 0, row.length));
      return new Update(0, slot, false, row, TIME, 1);
    }
  }

  private boolean run() throws Exception {
    watchHeap();
    ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor();
    watch.scheduleWithFixedDelay(this::watchDisk, 1, 1, TimeUnit.SECONDS);
    long begun = System.nanoTime();
    ShardTarget shard =
        new ShardTarget(
            folder.resolve("shard").toUri().toString(), "big", SCHEMA, SpineSpec.DEFAULT, null);
    job(shard);
    watch.shutdownNow();
    say("rows         %,d of one time", rows);
    say("time         %d s", (System.nanoTime() - begun) / 1_000_000_000);
    say(
        "heap         %d MiB of %d MiB left by a collection, at most",
        liveBytes.get() >> 20, Runtime.getRuntime().maxMemory() >> 20);
    say("resident     %s at most", resident());
    say("on disk      %,d MiB spilled at a time, at most", spilledBytes.get() >> 20);
    return check(shard);
  }

  private void job(ShardTarget shard) throws Exception {
    Configuration conf = new Configuration();
    conf.set(StateBackendOptions.STATE_BACKEND, "rocksdb");
    conf.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
    conf.set(
        CheckpointingOptions.CHECKPOINTS_DIRECTORY, folder.resolve("checkpoints").toUri() + "");
    conf.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofSeconds(60));
    conf.set(CoreOptions.TMP_DIRS, folder.resolve("tmp").toString());
    conf.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(128));
    conf.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(32));
    conf.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(32));
    StreamExecutionEnvironment env = StreamExecutionEnvironment.createLocalEnvironment(1, conf);
    env.setMaxParallelism(16);
    List<ShardTarget> shards = List.of(shard);
    SinkSettings settings = SinkSettings.of("big-batch").withMerging(false);
    SlotKeys slots = TidemarkSink.slotKeys(shards, settings, 1, 16);
    TidemarkSink.append(
            env.fromSource(
                    new NumberSequenceSource(0, rows - 1),
                    WatermarkStrategy.noWatermarks(),
                    "numbers")
                .uid("numbers")
                .map(new ToUpdate(slots))
                .returns(Update.TYPE)
                .uid("rows"),
            shards,
            settings,
            slots)
        .sinkTo(new DiscardingSink<>())
        .uid("out");
    env.execute("big batch");
  }

  private boolean check(ShardTarget shard) throws Exception {
    ShardLog log = new ShardLog(Stores.open(shard.url(), StoreSettings.DEFAULT));
    ShardState state = log.refresh();
    long runs = state.batches().stream().mapToLong(Batch::runCount).sum();
    RowCodec codec = new RowCodec(SCHEMA);
    long read = 0;
    long ids = 0;
    int parts = 0;
    for (Batch batch : state.batches()) {
      for (List<Part> run : batch.runs()) {
        parts += run.size();
        try (UpdateCursor all =
            new ShardReader(log).parts().readRun(run, state.schema(), state.schema())) {
          while (all.next()) {
            read += all.diff();
            ids += (Long) codec.decode(all.row(), all.rowOffset(), all.rowLength())[0];
          }
        }
      }
    }
    long expected = 0;
    for (long number = 0; number < rows; number++) {
      expected += mixed(number);
    }
    say("runs         %d, of %d parts, %,d MiB", runs, parts, size(folder.resolve("shard")) >> 20);
    say("rows read    %,d, sum of ids %d, expected %d", read, ids, expected);
    return read == rows && ids == expected && runs == 1;
  }

  // ---- Figures

  private static void say(String format, Object... values) {
    System.out.println(String.format(Locale.ROOT, format, values));
  }

  private static long size(Path folder) {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(Files::isRegularFile).mapToLong(path -> path.toFile().length()).sum();
    } catch (IOException | UncheckedIOException goneMeanwhile) {
      return 0;
    }
  }

  private void watchDisk() {
    try (Stream<Path> all = Files.walk(folder.resolve("tmp"))) {
      long sum =
          all.filter(path -> path.getFileName().toString().endsWith(".chunks"))
              .mapToLong(path -> path.toFile().length())
              .sum();
      spilledBytes.accumulateAndGet(sum, Math::max);
    } catch (IOException | UncheckedIOException goneMeanwhile) {
      // looked at again in a second
    }
  }

  /** Notes what is left of the heap after each collection. */
  private void watchHeap() {
    Set<String> heap =
        ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getType() == MemoryType.HEAP)
            .map(MemoryPoolMXBean::getName)
            .collect(Collectors.toSet());
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      ((NotificationEmitter) collector)
          .addNotificationListener(
              (notification, handback) -> {
                CompositeData data = (CompositeData) notification.getUserData();
                long sum =
                    GarbageCollectionNotificationInfo.from(data)
                        .getGcInfo()
                        .getMemoryUsageAfterGc()
                        .entrySet()
                        .stream()
                        .filter(pool -> heap.contains(pool.getKey()))
                        .mapToLong(pool -> pool.getValue().getUsed())
                        .sum();
                liveBytes.accumulateAndGet(sum, Math::max);
              },
              null,
              null);
    }
  }

  private static String resident() throws IOException {
    Path status = Path.of("/proc/self/status");
    if (!Files.exists(status)) {
      return "unknown";
    }
    return Files.readAllLines(status).stream()
        .filter(line -> line.startsWith("VmHWM:"))
        .map(line -> line.substring("VmHWM:".length()).strip())
        .findFirst()
        .orElse("unknown");
  }
}
