package dev.tidemark.cli;

import static dev.tidemark.cli.Said.say;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.HeartbeatManagerOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs submitted over REST to a cluster of two slots, which has this JVM's classes. */
class TargetRunTest {
  private static final String JAR = "tidemark.job-jar";
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir private static Path jars;
  private static MiniCluster cluster;
  private static String target;

  @TempDir private Path folder;

  @BeforeAll
  static void start() throws Exception {
    Path jar = jars.resolve("job.jar");
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
      out.putNextEntry(new JarEntry("nothing"));
    }
    System.setProperty(JAR, jar.toString());
    Configuration conf = new Configuration();
    conf.set(RestOptions.BIND_PORT, "0");
    conf.set(RestOptions.BIND_ADDRESS, "127.0.0.1");
    conf.set(RestOptions.ADDRESS, "127.0.0.1");
    conf.set(HeartbeatManagerOptions.HEARTBEAT_INTERVAL, Duration.ofSeconds(1));
    cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(conf)
                .setNumTaskManagers(1)
                .setNumSlotsPerTaskManager(2)
                .build());
    cluster.start();
    URI address = cluster.getRestAddress().get();
    target = address.getHost() + ":" + address.getPort();
  }

  @AfterAll
  static void stop() throws Exception {
    System.clearProperty(JAR);
    cluster.close();
  }

  private List<String> words(String shard, String... more) {
    List<String> words =
        new ArrayList<>(
            List.of("run", "--target", target, "--job.name", shard, "--shard.name", shard));
    words.addAll(
        List.of("--source.connector", "datagen", "--source.event-time", "ts", "--parallelism"));
    words.addAll(List.of("1", "--source.schema", "k STRING, ts BIGINT, v STRING"));
    words.addAll(List.of("--shard.warehouse", folder.resolve("warehouse").toString()));
    words.addAll(List.of("--checkpoint.dir", folder.resolve("checkpoints").toString()));
    words.addAll(List.of("--checkpoint.interval", "100 ms", "--s3.secret-key", "hush"));
    words.addAll(List.of(more));
    return words;
  }

  private Said run(String shard, String... more) {
    return say(words(shard, more).toArray(String[]::new));
  }

  private static void until(String what, BooleanSupplier condition) {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as(what).isLessThan(end);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
    }
  }

  private static JobID job(Said said) {
    return JobID.fromHexString(
        said.out()
            .lines()
            .filter(line -> line.startsWith("job "))
            .findFirst()
            .orElseThrow()
            .split(" +")[1]);
  }

  /** A command on a thread of its own, and what it has said so far. */
  private static final class Attended {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final CompletableFuture<Integer> code;

    Attended(List<String> words) {
      code =
          CompletableFuture.supplyAsync(
              () -> Tidemark.run(words, out, new PrintStream(err, true, UTF_8), Map.of()),
              task -> new Thread(task, "attended").start());
    }

    String out() {
      return out.toString(UTF_8);
    }

    int code() throws Exception {
      return code.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
  }

  @Test
  void whoWaitsSeesWhatAnEmbeddedRunShows() throws Exception {
    Said said = run("waited", "--source.rows", "3000", "--wait", "--seal", "true");
    assertThat(said.code()).as(said.err()).isZero();
    assertThat(said.err()).isEmpty();
    assertThat(said.out())
        .contains("Flink 2.3", "slots free 2 of 2, the job takes 2")
        .contains("http://" + target + "/#/job/running/")
        .contains("under the same path: shard.warehouse, checkpoint.dir")
        .contains("3,000 records read = 3,000 stored + 0 error")
        .contains("sealed: waited")
        .doesNotContain("hush");
    Said rows = say("snapshot", folder.resolve("warehouse/waited").toString());
    assertThat(rows.out().lines()).hasSize(3000);
  }

  @Test
  void aJobIsLeftAndItsNameIsTaken() throws Exception {
    Said said = run("left");
    assertThat(said.code()).as(said.err()).isZero();
    String savepoints = "file://" + folder.resolve("checkpoints/left/savepoints");
    assertThat(said.out())
        .endsWith("the job runs\n")
        .contains("flink stop -m " + target + " -p " + savepoints + " " + job(said));
    Said twice = run("left");
    assertThat(twice.code()).isEqualTo(Exit.USAGE);
    assertThat(twice.err()).contains("a job named left runs on the cluster already");

    String savepoint =
        cluster
            .stopWithSavepoint(job(said), savepoints, false, SavepointFormatType.NATIVE)
            .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    until("the job has ended", () -> ended(job(said)));
    Said again = run("left", "--json");
    assertThat(again.code()).as(again.err()).isZero();
    assertThat(again.out())
        .contains("\"running\":true")
        .contains("\"from\":\"")
        .contains(savepoint.substring(savepoint.lastIndexOf('/')));
    String id = again.out().replaceFirst("(?s).*\"job\":\"([0-9a-f]+)\".*", "$1");
    cancel(JobID.fromHexString(id));
  }

  @Test
  void whoWaitsSaysThatThereAreNoSlotsAndThatSomebodyElseStoppedIt() throws Exception {
    Said first = run("first");
    assertThat(first.code()).as(first.err()).isZero();
    Attended second = new Attended(words("second", "--wait", "--seal", "false"));
    until("it says so", () -> second.out().contains("waiting for slots"));
    assertThat(second.out()).contains("slots free 0 of 2").contains("waits until there are enough");
    cancel(job(first));
    until("it reads", () -> second.out().matches("(?s).* s  read +[1-9].*"));
    JobID id = job(new Said(0, second.out(), ""));
    String savepoint =
        cluster
            .stopWithSavepoint(
                id, folder.resolve("saved").toString(), false, SavepointFormatType.NATIVE)
            .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    assertThat(second.code()).as(second.out()).isZero();
    assertThat(second.out()).contains("savepoint " + savepoint).contains("go on with the same");
  }

  @Test
  void aJobThatIsCancelledIsNoSuccess() throws Exception {
    Attended attended = new Attended(words("cancelled", "--wait"));
    until("it reads", () -> attended.out().matches("(?s).* s  read +[1-9].*"));
    cluster.cancelJob(job(new Said(0, attended.out(), ""))).get();
    assertThat(attended.code()).isEqualTo(Exit.JOB);
    assertThat(attended.err.toString(UTF_8)).contains("the job failed: Job was cancelled");
  }

  @Test
  void checkReachesTheClusterAndSubmitsNothing() throws Exception {
    int before = cluster.listJobs().get().size();
    Said said = run("checked", "--check");
    assertThat(said.code()).as(said.err()).isZero();
    assertThat(said.out()).contains("the job takes 2").contains("options   good");
    assertThat(cluster.listJobs().get()).hasSize(before);
  }

  private static void cancel(JobID id) throws Exception {
    cluster.cancelJob(id).get();
    until("the job has ended", () -> ended(id));
  }

  private static boolean ended(JobID id) {
    return cluster.getJobStatus(id).join().isGloballyTerminalState();
  }
}
