package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.flink.decode.Envelope;
import dev.tidemark.flink.source.SourceSettings;
import dev.tidemark.flink.source.SourceSettings.Order;
import dev.tidemark.time.Frontier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Odd times, and how an input ends: everything is readable then, and nothing is beyond it. */
class EndOfInputTest {
  @RegisterExtension static final MiniClusterExtension FLINK = TestJobs.cluster();

  private static final long T = 1_714_521_600_000L;

  @TempDir Path folder;

  @AfterEach
  void cancelJobs() throws Exception {
    SourceJob.cancelAll();
  }

  private void file(String name, String... lines) throws Exception {
    Files.createDirectories(folder.resolve("in"));
    Files.writeString(
        folder.resolve("in").resolve(name),
        lines.length == 0 ? "" : String.join("\n", lines) + "\n");
  }

  private SourceJob job(Order order) {
    return SourceJob.of(
        folder,
        new SourceSettings.Files(List.of(folder.resolve("in").toString()), order, "auto"),
        Envelope.APPEND,
        "ts");
  }

  @Test
  @DisplayName("P-TW-04: one record from the year 2262, and one at the end of time")
  void aWrongClockTakesNothingWithIt() throws Exception {
    String[] lines = new String[1_004];
    lines[0] = SourceJob.line("1", T, "v");
    lines[1] = SourceJob.line("2", 9_223_372_036_854L, "v");
    lines[2] = SourceJob.line("end", Long.MAX_VALUE, "v");
    for (int i = 3; i < lines.length; i++) {
      lines[i] = SourceJob.line("" + i, T + 10_000 + i, "v");
    }
    file("rows.jsonl", lines);
    SourceJob job = job(Order.NAME);
    job.maxAheadMillis = 24 * 3_600_000L;
    Map<String, Object> counts = job.run();
    assertThat(job.state().upper()).isEqualTo(Frontier.of(T + 10_000 + 1_004));
    assertThat(job.rows()).hasSize(1_002).doesNotContainKeys("2=v", "end=v");
    assertThat(job.errors()).isEqualTo(2);
    assertThat(counts)
        .containsEntry("tidemark.read", 1_004L)
        .containsEntry("tidemark.rows.stored", 1_002L)
        .containsEntry("tidemark.rows.error", 2L)
        .containsEntry("tidemark.rows.retimed", 0L);
  }

  @Test
  @DisplayName("P-TW-06: times before 1970, from end to end")
  void timesBefore1970() throws Exception {
    long[] times = {-446_751_900_000L, -1_500, -500, -1, 0, 1};
    String[] lines = new String[times.length];
    for (int i = 0; i < times.length; i++) {
      lines[i] = SourceJob.line("k" + i, times[i], "v");
    }
    file("rows.jsonl", lines);
    SourceJob job = job(Order.NAME);
    job.run();
    assertThat(job.state().upper()).isEqualTo(Frontier.of(2));
    for (int i = 0; i < times.length; i++) {
      assertThat(job.rows(0, times[i])).as("at %d", times[i]).hasSize(i + 1);
      assertThat(job.rows(0, times[i] - 1)).as("before %d", times[i]).hasSize(i);
    }
  }

  @Test
  @DisplayName("P-XO-05: ten rows that are read before the first checkpoint; writers without rows")
  void tenRowsBeforeTheFirstCheckpoint() throws Exception {
    String[] lines = new String[10];
    for (int i = 0; i < lines.length; i++) {
      lines[i] = SourceJob.line("same", T + i, "v" + i);
    }
    file("rows.jsonl", lines);
    file("empty.jsonl");
    SourceJob job = job(Order.ANY);
    job.parallelism = 4;
    job.checkpointMillis = 1_500;
    assertThat(job.run()).containsEntry("tidemark.read", 10L);
    assertThat(job.rows()).hasSize(10);
    assertThat(job.state().upper()).as("a later job can go on").isEqualTo(Frontier.of(T + 10));
  }

  @Test
  @DisplayName("P-XO-05: with checkpoints off nothing begins")
  void checkpointsOffAreRefused() throws Exception {
    file("rows.jsonl", SourceJob.line("a", T, "v"));
    SourceJob job = job(Order.ANY);
    job.checkpointMillis = 0;
    assertThatThrownBy(job::start)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("checkpointing is off");
  }

  @Test
  @DisplayName("P-XO-05: three of four sources finished and the fourth live")
  void theRowsOfFinishedSourcesCanBeReadWhileAnotherLives() throws Exception {
    Map<String, Long> expected = new TreeMap<>();
    for (int i = 0; i < 4; i++) {
      String[] lines = new String[i == 3 ? 400 : 10];
      for (int row = 0; row < lines.length; row++) {
        String key = "f" + i + "-" + row;
        lines[row] = SourceJob.line(key, T + row, "v");
        expected.put(key + "=v", 1L);
      }
      file("f" + i + ".jsonl", lines);
    }
    Slow.slow = true;
    SourceJob job = job(Order.ANY);
    job.parallelism = 4;
    job.breaks = new Slow();
    JobClient running = job.start();
    TestJobs.await("what all have passed is there", running, () -> job.rows().size() >= 40);
    assertThat(job.state().upper().time()).isLessThan(T + 400);
    Slow.slow = false;
    TestJobs.awaitEnd(running);
    assertThat(job.rows()).isEqualTo(expected);
    assertThat(job.state().upper()).isEqualTo(Frontier.of(T + 400));
  }

  /** Has the reader of the long file go slowly behind its first rows, barriers in between. */
  private static final class Slow implements SourceJob.Breaks {
    static volatile boolean slow;
    private static final long serialVersionUID = 1L;

    private transient int rows;

    @Override
    public void row() {
      if (++rows > 20 && slow) {
        LockSupport.parkNanos(20_000_000);
      }
    }
  }
}
