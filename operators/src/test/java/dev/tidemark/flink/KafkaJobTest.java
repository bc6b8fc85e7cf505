package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.flink.decode.Envelope;
import dev.tidemark.flink.decode.TableMapping.Match;
import dev.tidemark.flink.decode.TableMapping.MatchKind;
import dev.tidemark.flink.source.SourceSettings;
import dev.tidemark.flink.source.SourceSettings.From;
import dev.tidemark.flink.source.SourceUnreachableException;
import dev.tidemark.time.Frontier;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.HeartbeatManagerOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Topics of a real broker become shards. */
@Tag("kafka")
class KafkaJobTest {
  @RegisterExtension static final MiniClusterExtension FLINK = TestJobs.cluster(heartbeats());

  private static final long T = 1_700_000_000_000L;

  @TempDir static Path broker;
  @TempDir Path folder;
  private static LocalKafka kafka;

  /** Counters travel with them. */
  private static Configuration heartbeats() {
    Configuration conf = new Configuration();
    conf.set(HeartbeatManagerOptions.HEARTBEAT_INTERVAL, Duration.ofMillis(500));
    return conf;
  }

  @BeforeAll
  static void startBroker() throws Exception {
    kafka = LocalKafka.start(broker);
  }

  @AfterAll
  static void stopBroker() {
    if (kafka != null) {
      kafka.close();
    }
  }

  @AfterEach
  void cancelJobs() throws Exception {
    SourceJob.cancelAll();
  }

  private static SourceSettings.Kafka topic(From from, boolean untilLatest, String... topics) {
    return new SourceSettings.Kafka(
        kafka.servers,
        List.of(topics),
        null,
        from,
        untilLatest,
        "test",
        Map.of("partition.discovery.interval.ms", "200"));
  }

  private SourceJob job(SourceSettings source) {
    return SourceJob.of(folder, source, Envelope.APPEND, "ts");
  }

  private static void row(String topic, int partition, String key, long time) {
    kafka.send(topic, partition, null, SourceJob.line(key, time, "v"));
  }

  @Test
  @DisplayName("P-XO-08: an empty topic, and a start later than any record")
  void nothingToReadIsNoFailure() throws Exception {
    kafka.topic("empty", 2);
    SourceJob empty = job(topic(From.EARLIEST, true, "empty"));
    assertThat(empty.run()).containsEntry("tidemark.read", 0L);
    assertThat(empty.state().exists()).isTrue();
    assertThat(empty.state().batches()).isEmpty();

    kafka.topic("early", 2);
    row("early", 0, "a", T);
    kafka.flush();
    From later = new From(From.Place.TIME, System.currentTimeMillis() + 3_600_000);
    SourceJob late = job(topic(later, true, "early"));
    assertThat(late.run()).containsEntry("tidemark.read", 0L);
    assertThat(late.rows()).isEmpty();
  }

  @Test
  @DisplayName("P-XO-08: an empty partition, and one that ends in an aborted transaction")
  void controlRecordsAreNoRowsAndNoEnd() throws Exception {
    kafka.topic("aborted", 3);
    for (int i = 0; i < 20; i++) {
      row("aborted", i % 2 * 2, "k" + i, T + i);
    }
    kafka.flush();
    kafka.sendAborted("aborted", 2, List.of(SourceJob.line("never", T + 5, "v")));
    SourceJob job = job(topic(From.EARLIEST, true, "aborted"));
    job.parallelism = 2;
    assertThat(job.run()).containsEntry("tidemark.read", 20L);
    assertThat(job.rows()).hasSize(20).doesNotContainKey("never=v");
    assertThat(job.state().upper()).as("just past the last row").isEqualTo(Frontier.of(T + 20));
  }

  @Test
  @DisplayName("P-XO-09, P-ST-06: from latest, a savepoint, an empty partition, and new ones")
  void offsetsAreNumbersFromTheFirstCheckpointOnAndNewPartitionsAreFound() throws Exception {
    kafka.topic("grows", 3);
    row("grows", 0, "before", T);
    kafka.flush();
    SourceJob job = job(topic(From.LATEST, false, "grows"));
    job.watermarks = new SourceSettings.Watermarks(Duration.ZERO, Duration.ofMillis(300));
    job.parallelism = 2;
    JobClient first = job.start();
    Map<String, Long> expected = new TreeMap<>();
    int[] next = new int[1];
    // What comes before the partitions are begun is before "latest": send until one is seen.
    TestJobs.await(
        "a row is read",
        first,
        () -> {
          row("grows", 0, "probe", T + next[0]);
          row("grows", 1, "probe", T + next[0]++);
          kafka.flush();
          return !job.rows().isEmpty();
        });
    job.stop(first);
    assertThat(job.rows()).doesNotContainKey("before=v");
    for (int partition = 0; partition < 3; partition++) {
      row("grows", partition, "between" + partition, T + 1_000);
      expected.put("between" + partition + "=v", 1L);
    }
    kafka.flush();

    job.parallelism = 3;
    JobClient second = job.start();
    TestJobs.await("what came between is there", second, () -> contains(job.rows(), expected));
    kafka.grow("grows", 6);
    for (int partition = 3; partition < 6; partition++) {
      row("grows", partition, "new" + partition, T + 500);
      expected.put("new" + partition + "=v", 1L);
    }
    kafka.flush();
    TestJobs.await(
        "new partitions are read from their start",
        second,
        () -> {
          // what is late comes with the next that isn't, and when the partitions are found is open
          row("grows", 0, "probe", T + 1_500 + next[0]++);
          kafka.flush();
          return contains(job.rows(), expected);
        });
    job.stop(second);

    row("grows", 5, "last", T + 1_000_000);
    expected.put("last=v", 1L);
    kafka.flush();
    JobClient third = job.start();
    TestJobs.await("the last one is there", third, () -> contains(job.rows(), expected));
    SourceJob.cancel(third);
    Map<String, Long> once = job.rows();
    once.remove("probe=v");
    assertThat(once).isEqualTo(expected);
  }

  private static boolean contains(Map<String, Long> rows, Map<String, Long> wanted) {
    return rows.keySet().containsAll(wanted.keySet());
  }

  @Test
  @DisplayName("P-TW-02: data in one of three partitions, five readers")
  void aPartitionThatNeverSpeaks() throws Exception {
    kafka.topic("silent", 3);
    for (int i = 0; i < 10; i++) {
      row("silent", 0, "k" + i, T + i);
    }
    kafka.flush();
    SourceJob off = job(topic(From.EARLIEST, false, "silent"));
    off.parallelism = 5;
    JobClient held = off.start();
    TestJobs.await("all are read", held, () -> Long.valueOf(10).equals(read(held)));
    TestJobs.await("and checkpoints go by", held, new Checkpoints(folder.resolve("ckpt"), 3));
    assertThat(off.state().upper()).as("idleness is off").isEqualTo(Frontier.MINIMUM);
    SourceJob.cancel(held);

    SourceJob on = job(topic(From.EARLIEST, false, "silent"));
    on.watermarks = new SourceSettings.Watermarks(Duration.ZERO, Duration.ofMillis(200));
    on.parallelism = 5;
    JobClient free = on.start();
    TestJobs.await("all can be read", free, () -> on.rows().size() == 10);
    assertThat(on.state().upper()).isEqualTo(Frontier.of(T + 10));
    SourceJob.cancel(free);
  }

  private static Object read(JobClient job) throws Exception {
    return job.getAccumulators().get().get("tidemark.read");
  }

  /** Counts the checkpoints that are there at different times. */
  private static final class Checkpoints implements TestJobs.Condition {
    private final Path folder;
    private final int wanted;
    private final java.util.Set<String> seen = new java.util.HashSet<>();

    Checkpoints(Path folder, int wanted) {
      this.folder = folder;
      this.wanted = wanted;
    }

    @Override
    public boolean holds() throws Exception {
      try (var files = java.nio.file.Files.walk(folder)) {
        files
            .map(path -> path.getFileName().toString())
            .filter(name -> name.startsWith("chk-"))
            .forEach(seen::add);
      } catch (java.io.UncheckedIOException | java.nio.file.NoSuchFileException e) {
        return false; // one went meanwhile
      }
      return seen.size() > wanted;
    }
  }

  @Test
  @DisplayName("P-TW-03: an idle partition wakes up with a backlog")
  void aBacklogIsLateAndKept() throws Exception {
    kafka.topic("backlog", 2);
    row("backlog", 0, "p0", T);
    row("backlog", 1, "p1", T);
    kafka.flush();
    SourceJob job = job(topic(From.EARLIEST, false, "backlog"));
    job.watermarks = new SourceSettings.Watermarks(Duration.ZERO, Duration.ofMillis(400));
    JobClient running = job.start();
    TestJobs.await("both are there", running, () -> job.rows().size() == 2);
    long noon = T + 7_200_000;
    row("backlog", 0, "noon", noon);
    kafka.flush();
    TestJobs.await("noon is there", running, () -> job.rows().containsKey("noon=v"));
    Frontier closed = job.state().upper();
    for (int i = 0; i < 500; i++) {
      row("backlog", 1, "late" + i, T + i * 10_000L);
    }
    row("backlog", 0, "later", noon + 60_000);
    kafka.flush();
    TestJobs.await("all are there", running, () -> job.rows().size() == 504);
    assertThat(job.rows(0, closed.time() - 1)).as("what was closed stays").hasSize(3);
    TestJobs.await(
        "all are counted",
        running,
        () ->
            Long.valueOf(500).equals(running.getAccumulators().get().get("tidemark.rows.retimed")));
    SourceJob.cancel(running);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void everyRecordOnceThroughFailures(boolean stops) throws Exception {
    String topic = "once-" + stops;
    kafka.topic(topic, 4);
    int rows = 15_000;
    for (int i = 0; i < rows; i++) {
      row(topic, i % 4, "k" + i, T + i);
    }
    kafka.flush();
    SourceJob job = job(topic(From.EARLIEST, true, topic));
    job.parallelism = 3;
    job.breaks = new AtSome();
    AtSome.ROWS.set(0);
    if (stops) {
      JobClient first = job.start();
      TestJobs.await("it was restarted twice", first, () -> AtSome.ROWS.get() > 9_500);
      TestJobs.await("it runs again, and stops", first, () -> stopped(job, first));
      AtSome.ROWS.set(rows);
    }
    Map<String, Object> counts = job.run();
    Map<String, Long> found = job.rows();
    List<Integer> wrong =
        IntStream.range(0, rows)
            .filter(i -> !Long.valueOf(1).equals(found.get("k" + i + "=v")))
            .boxed()
            .toList();
    assertThat(wrong).as("rows that aren't there once; counted: " + counts).isEmpty();
    assertThat(found).hasSize(rows);
    assertThat(counts).containsEntry("tidemark.read", (long) rows);
  }

  /** Stops a job if it runs, and isn't being restarted. */
  private static boolean stopped(SourceJob job, JobClient running) throws Exception {
    try {
      job.stop(running);
      return true;
    } catch (ExecutionException e) {
      return false;
    }
  }

  /** Fails at the 4,000th row, and again after 5,000 more. */
  private static final class AtSome implements SourceJob.Breaks {
    static final AtomicInteger ROWS = new AtomicInteger();
    private static final long serialVersionUID = 1L;

    @Override
    public void row() throws Exception {
      int row = ROWS.incrementAndGet();
      if (row == 4_000 || row == 9_000) {
        throw new IllegalStateException("failing as told, at row " + row);
      }
      if (row % 100 == 0 && row < 15_000) {
        LockSupport.parkNanos(3_000_000);
      }
    }
  }

  @Test
  void topicsAreShardsTimestampsAreTimesAndTombstonesDelete() throws Exception {
    kafka.topic("orders", 1);
    kafka.topic("items", 1);
    kafka.sendAt("orders", 0, T, "{\"k\":\"a\"}", SourceJob.line("a", 1, "one"));
    kafka.sendAt("orders", 0, T + 1, "{\"k\":\"b\"}", SourceJob.line("b", 2, "two"));
    kafka.sendAt("orders", 0, T + 2, "{\"k\":\"a\"}", null);
    kafka.sendAt("orders", 0, T + 3, null, "{broken");
    kafka.sendAt("items", 0, T + 5, null, SourceJob.line("i", 3, "item"));
    kafka.flush();
    SourceJob job =
        new SourceJob(folder, topic(From.EARLIEST, true, "orders", "items"))
            .table("orders", new Match(MatchKind.TOPIC, "", "orders"), Envelope.UPSERT, null)
            .table("items", new Match(MatchKind.TOPIC, "", "items"), Envelope.APPEND, null);
    job.run();
    assertThat(job.rows(0, T + 1)).containsOnlyKeys("a=one", "b=two");
    assertThat(job.rows(0, Long.MAX_VALUE)).containsOnlyKeys("b=two");
    assertThat(job.rows(1, Long.MAX_VALUE)).containsOnlyKeys("i=item");
    assertThat(job.state().upper()).isEqualTo(Frontier.of(T + 4));
    assertThat(TestShards.errors(job.shards.get(0), T + 3)).hasSize(1);
  }

  @Test
  void whatCannotBeReadIsSaidBeforeAnythingRuns() throws Exception {
    kafka.topic("there", 1);
    assertThatThrownBy(() -> job(topic(From.EARLIEST, true, "there", "nowhere")).start())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(
            "source.topics: there is no topic nowhere on " + kafka.servers + ": make it")
        .hasMessageContaining("there");
    SourceSettings.Kafka none =
        new SourceSettings.Kafka(
            kafka.servers, List.of(), "no-.*", From.LATEST, true, "g", Map.of());
    assertThatThrownBy(() -> job(none).start())
        .hasMessageContaining("source.topic-pattern: no topic of")
        .hasMessageContaining("matches no-.*");
    SourceSettings.Kafka bad =
        new SourceSettings.Kafka(kafka.servers, List.of(), "(", From.LATEST, true, "g", Map.of());
    assertThatThrownBy(() -> job(bad).start())
        .hasMessageStartingWith("source.topic-pattern = (: no regular expression");
    SourceSettings.Kafka words =
        new SourceSettings.Kafka("here", List.of("t"), null, From.LATEST, true, "g", Map.of());
    assertThatThrownBy(() -> job(words).start())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("source.servers = here: ");
    long begun = System.nanoTime();
    SourceSettings.Kafka closed =
        new SourceSettings.Kafka(
            "127.0.0.1:1", List.of("t"), null, From.LATEST, true, "g", Map.of());
    assertThatThrownBy(() -> job(closed).start())
        .isInstanceOf(SourceUnreachableException.class)
        .hasMessageStartingWith("Kafka at 127.0.0.1:1 can't be reached: no answer within 5 s");
    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(20));
  }
}
