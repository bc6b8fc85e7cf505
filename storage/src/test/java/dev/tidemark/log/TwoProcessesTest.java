package dev.tidemark.log;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.gc.Collector;
import dev.tidemark.gc.GcSettings;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two processes on one shard, one stopped in the middle of its appends and woken after gc. */
@Timeout(120)
@EnabledOnOs(OS.LINUX)
class TwoProcessesTest {
  @TempDir Path folder;

  private Process start(String writer, String attempt, String started, int appends)
      throws IOException {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    return new ProcessBuilder(
            java,
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            AppendingProcess.class.getName(),
            folder.resolve("s").toUri().toString(),
            writer,
            attempt,
            started,
            Integer.toString(appends))
        .redirectErrorStream(true)
        .redirectOutput(folder.resolve(attempt).toFile())
        .start();
  }

  private static void signal(String signal, Process process) throws Exception {
    String pid = Long.toString(process.pid());
    assertThat(new ProcessBuilder("kill", signal, pid).start().waitFor()).isZero();
  }

  private List<String> lines(String attempt) throws IOException {
    return Files.readAllLines(folder.resolve(attempt));
  }

  @ParameterizedTest
  @DisplayName("P-CC-02: SIGSTOP, another process, gc, SIGCONT: no number is won twice")
  @ValueSource(strings = {"same", "other"})
  void aStoppedProcessWakesUpAfterTheLogWasCollected(String second) throws Exception {
    try (ObjectStore store =
        Stores.open(folder.resolve("s").toUri().toString(), StoreSettings.DEFAULT)) {
      ShardLog log = new ShardLog(store, Pacing.system(), AppendingProcess.SHORT);
      log.commit(LogFixture.create("shard"), LogFixture.INSTALLER);
      Process first = start("same", "a", "2026-11-30T00:00:00Z", 400);
      try {
        while (log.refresh().seqno().value() < 20) {
          assertThat(first.isAlive()).as("%s", lines("a")).isTrue();
          TimeUnit.MILLISECONDS.sleep(5);
        }
        signal("-STOP", first);
        long stoppedAt = log.refresh().seqno().value();
        assertThat(start(second, "b", "2026-11-30T00:00:01Z", 60).waitFor()).isZero();
        GcSettings eager = GcSettings.unsafe(Duration.ZERO, Duration.ofDays(7));
        new Collector(log, LogFixture.INSTALLER, eager).collect(false);
        assertThat(log.oldestEntry().orElseThrow().value()).isGreaterThan(stoppedAt);
        signal("-CONT", first);
        assertThat(first.waitFor()).as("%s", lines("a")).isZero();
      } finally {
        first.destroyForcibly();
      }
      check(log.refreshChecked(), second);
    }
  }

  private void check(ShardState state, String second) throws IOException {
    List<String> won = new ArrayList<>(lines("a"));
    won.addAll(lines("b"));
    List<String[]> wins =
        won.stream().filter(line -> line.startsWith("won")).map(line -> line.split(" ")).toList();
    assertThat(wins).extracting(win -> win[1]).doesNotHaveDuplicates();
    List<String> there = state.batches().stream().map(Batch::id).toList();
    assertThat(there).doesNotHaveDuplicates().containsAll(wins.stream().map(w -> w[2]).toList());
    String last = lines("a").get(lines("a").size() - 1);
    assertThat(last).startsWith(second.equals("same") ? "stopped: writer same" : "done");
    assertThat(lines("b")).last().isEqualTo("done");
  }
}
