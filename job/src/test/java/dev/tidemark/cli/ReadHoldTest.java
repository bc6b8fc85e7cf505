package dev.tidemark.cli;

import static dev.tidemark.cli.Said.say;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.log.Author;
import dev.tidemark.log.ShardLog;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.Body;
import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The hold of a command that reads. */
@Timeout(120)
class ReadHoldTest {
  private static final Author BY =
      new Author(new WriterAttempt("orders", "2026-11-30T00:00:00Z", "1", "here"), "append");

  @TempDir private Path folder;

  private static void make(ObjectStore store) throws Exception {
    Schema schema = Schema.parse("id BIGINT NOT NULL", 1);
    new ShardLog(store).commit(new Command.Create("id-1", schema, SpineSpec.DEFAULT), BY);
    new ShardLog(store).commit(new Command.Seal("seal-1"), BY);
  }

  @Test
  void credentialsThatOnlyReadReadWithoutAHold() throws Exception {
    MemoryStore memory = new MemoryStore("read-only");
    make(memory.under("orders/"));
    Stores.putMemory(
        "read-only",
        new ForwardingStore(memory) {
          @Override
          public void put(String key, Body body) throws StoreException {
            throw new StoreException(
                StoreException.Reason.DENIED, false, "PUT " + key + " is not allowed", null);
          }
        });
    Said snapshot = say("snapshot", "memory:read-only/orders", "--as-of", "5");
    assertThat(snapshot.code()).isZero();
    assertThat(snapshot.err())
        .contains("reading without a hold", "is not allowed", "gc.keep")
        .hasLineCount(1);
    assertThat(say("snapshot", "memory:read-only/orders", "--as-of", "5", "--no-hold"))
        .isEqualTo(new Said(0, "", ""));
    Said verify = say("verify", "--deep", "memory:read-only/orders");
    assertThat(verify.code()).isZero();
    assertThat(verify.err()).contains("verifying without a hold", "is not allowed");
  }

  @ParameterizedTest
  @EnabledOnOs(OS.LINUX)
  @CsvSource({"-INT,130", "-TERM,143"})
  void aSignalGivesTheHoldUp(String signal, int code) throws Exception {
    Path shard = folder.resolve("orders");
    try (ObjectStore store = Stores.open(shard.toUri().toString(), StoreSettings.DEFAULT)) {
      Schema schema = Schema.parse("id BIGINT NOT NULL", 1);
      new ShardLog(store).commit(new Command.Create("id-1", schema, SpineSpec.DEFAULT), BY);
      // It waits for a time that doesn't come, under a hold.
      Process reading =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-XX:TieredStopAtLevel=1",
                  "-cp",
                  System.getProperty("java.class.path"),
                  "dev.tidemark.cli.Tidemark",
                  "snapshot",
                  shard.toString(),
                  "--as-of",
                  "5",
                  "--timeout",
                  "10 min")
              .redirectErrorStream(true)
              .redirectOutput(folder.resolve("out").toFile())
              .start();
      try {
        while (!renews(reading)) {
          assertThat(reading.waitFor(20, TimeUnit.MILLISECONDS))
              .as(() -> said(folder.resolve("out")))
              .isFalse();
        }
        assertThat(store.list("hold/", "", 10)).hasSize(1);
        String pid = Long.toString(reading.pid());
        assertThat(new ProcessBuilder("kill", signal, pid).start().waitFor()).isZero();
        assertThat(reading.waitFor()).as(() -> said(folder.resolve("out"))).isEqualTo(code);
        assertThat(store.list("hold/", "", 10)).isEmpty();
      } finally {
        reading.destroyForcibly();
      }
    }
  }

  /** Whether the thread that renews the hold runs: by then the hold is given up at the end. */
  private static boolean renews(Process process) throws IOException {
    Path tasks = Path.of("/proc", Long.toString(process.pid()), "task");
    try (Stream<Path> threads = Files.list(tasks)) {
      for (Path thread : threads.toList()) {
        if (said(thread.resolve("comm")).startsWith("tidemark-hold-")) {
          return true;
        }
      }
    }
    return false;
  }

  private static String said(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return e.toString();
    }
  }
}
