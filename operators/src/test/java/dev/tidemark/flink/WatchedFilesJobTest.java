package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.flink.decode.Envelope;
import dev.tidemark.flink.source.SourceSettings;
import dev.tidemark.flink.source.SourceSettings.Order;
import dev.tidemark.time.Frontier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Folders that are watched: each file once and whole, over restarts and at any parallelism. */
class WatchedFilesJobTest {
  @RegisterExtension static final MiniClusterExtension FLINK = TestJobs.cluster();

  private static final long T = 1_700_000_000_000L;

  @TempDir Path folder;
  private Path in;

  @BeforeEach
  void makeFolders() throws Exception {
    in = Files.createDirectory(folder.resolve("in"));
  }

  @AfterEach
  void cancelJobs() throws Exception {
    SourceJob.cancelAll();
  }

  /** Writes a file elsewhere and renames it into place. */
  private void put(String name, int from, int to) throws Exception {
    StringBuilder lines = new StringBuilder();
    for (int i = from; i < to; i++) {
      lines.append(SourceJob.line("k" + i, T + i, "v")).append('\n');
    }
    Path whole = Files.writeString(folder.resolve(name), lines);
    Files.move(whole, in.resolve(name), StandardCopyOption.ATOMIC_MOVE);
  }

  private SourceJob job(Order order) {
    return SourceJob.of(
        folder,
        new SourceSettings.WatchedFiles(List.of(in.toString()), order, "auto"),
        Envelope.APPEND,
        "ts");
  }

  @ParameterizedTest
  @EnumSource(Order.class)
  void eachFileOnceOverRestartsAndRescales(Order order) throws Exception {
    SourceJob job = job(order);
    // Without a row for so long, the last rows can be read, however long the delay.
    job.watermarks = new SourceSettings.Watermarks(Duration.ofHours(1), Duration.ofMillis(200));
    put("a.jsonl", 0, 100);
    Files.writeString(in.resolve("_half.jsonl"), "{\"k\":");
    Files.writeString(in.resolve(".hidden.jsonl"), "{\"k\":");
    JobClient first = job.start();
    TestJobs.await("the first file is there", first, () -> job.rows().size() == 100);
    put("b.jsonl", 100, 200);
    TestJobs.await("the second, too", first, () -> job.rows().size() == 200);
    job.stop(first);

    put("c.jsonl", 200, 300);
    job.parallelism = 3;
    JobClient second = job.start();
    put("d.jsonl", 300, 400);
    TestJobs.await("all are there", second, () -> job.rows().size() == 400);
    assertThat(job.state().upper()).isEqualTo(Frontier.of(T + 400));
    job.stop(second);

    job.parallelism = 2;
    JobClient third = job.start();
    put("e.jsonl", 400, 500);
    TestJobs.await("the last one is there", third, () -> job.rows().size() == 500);
    assertThat(job.rows()).allSatisfy((row, n) -> assertThat(n).isOne());
    assertThat(job.errors()).isZero();
  }

  @Test
  @DisplayName("P-IN-03c: a file that goes on after it was read stops the job, by name")
  void aFileThatGrowsAfterItWasReadIsNeverHalfLost() throws Exception {
    Path grows = in.resolve("grows.jsonl");
    Files.writeString(grows, SourceJob.line("a", T, "v") + "\n{\"k\":\"b\",");
    SourceJob job = job(Order.NAME);
    job.watermarks = new SourceSettings.Watermarks(Duration.ZERO, Duration.ofMillis(100));
    job.restarts = 0;
    JobClient running = job.start();
    TestJobs.await("it was taken for whole", running, () -> job.rows().size() == 1);
    Files.writeString(grows, "\"ts\":1,\"v\":\"v\"}\n", StandardOpenOption.APPEND);
    assertThatThrownBy(() -> running.getJobExecutionResult().get())
        .hasStackTraceContaining("grows.jsonl was read when it had");
  }

  @Test
  @DisplayName("P-PF-04: a directory of many files")
  void manyFiles() throws Exception {
    int files = Integer.getInteger("tidemark.files", 200);
    for (int i = 0; i < files; i++) {
      put(String.format("f%07d.jsonl", i), 10 * i, 10 * i + 10);
    }
    SourceJob job = job(Order.ANY);
    job.parallelism = 2;
    job.patienceSeconds = Math.max(90, files / 100);
    job.watermarks = new SourceSettings.Watermarks(Duration.ofDays(1), Duration.ofMillis(500));
    JobClient running = job.start();
    job.await("all rows are there", running, () -> job.updates() == 10L * files);
    put("one-more.jsonl", 10 * files, 10 * files + 10);
    job.await("one more", running, () -> job.updates() == 10L * files + 10);
    assertThat(job.rows()).hasSize(10 * files + 10).allSatisfy((row, n) -> assertThat(n).isOne());
  }
}
