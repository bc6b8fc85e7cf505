package dev.tidemark.store.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class LocalS3ServerTest {
  @TempDir Path folder;

  /** Starts a server, says its process id, and waits for its own end. */
  static final class Owner {
    public static void main(String[] arguments) throws Exception {
      LocalS3Server server = LocalS3Server.start(Path.of(arguments[0]), Path.of(arguments[1]), 0);
      System.out.println(server.process().orElseThrow().pid());
      TimeUnit.HOURS.sleep(1);
    }
  }

  @Test
  @Timeout(120)
  void theServerEndsWithItsKilledOwner() throws Exception {
    Process owner =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Owner.class.getName(),
                LocalS3.jar().toString(),
                folder.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      String pid = owner.inputReader().readLine();
      ProcessHandle server = ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
      assertThat(server.isAlive()).isTrue();
      owner.destroyForcibly().waitFor();
      server.onExit().get(20, TimeUnit.SECONDS);
      assertThat(server.isAlive()).isFalse();
    } finally {
      owner.destroyForcibly();
    }
  }

  @Test
  void closingStopsItAndBucketsHaveProperNames() throws Exception {
    LocalS3Server server = LocalS3.start(folder);
    ProcessHandle process = server.process().orElseThrow();
    for (String name : List.of("", "../x", ".hidden", "UPPER", "a")) {
      assertThatThrownBy(() -> server.createBucket(name))
          .isInstanceOf(IllegalArgumentException.class);
    }
    server.close();
    server.close();
    assertThat(process.onExit()).succeedsWithin(Duration.ofSeconds(10));
    assertThat(server.process()).isEmpty();
  }

  @Test
  void aTakenPortIsSaid() throws Exception {
    try (ServerSocket taken = new ServerSocket(0)) {
      assertThatThrownBy(
              () -> LocalS3Server.start(LocalS3.jar(), folder, taken.getLocalPort()).close())
          .isInstanceOf(IOException.class)
          .hasMessageContaining("port " + taken.getLocalPort() + " is taken");
    }
  }

  @Test
  void aServerThatEndsAtOnceIsSaidWithItsLog() throws Exception {
    Path jar = Files.writeString(folder.resolve("no.jar"), "no jar");
    assertThatThrownBy(() -> LocalS3Server.start(jar, folder, 0).close())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("ended at once")
        .hasMessageContaining("no.jar");
  }

  @Test
  void noJar() {
    assertThatThrownBy(() -> LocalS3Server.start(folder.resolve("none.jar"), folder, 0))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("none.jar");
  }
}
