package dev.tidemark.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The JSON that {@code tidemark inspect} prints is stable: scripts read it. */
class InspectGoldenTest {
  @TempDir private Path folder;

  @Test
  void aKeptShardIsDescribedAsEver() throws Exception {
    Path shard = folder.resolve("shard-1.0");
    copyKept("/shard-1.0", shard);
    Said said = Said.say("inspect", shard.toString(), "--json");
    assertThat(said.err()).isEmpty();
    assertThat(said.code()).isZero();
    String path = shard.toString();
    try (InputStream golden = getClass().getResourceAsStream("/golden/inspect-1.0.json")) {
      assertThat(said.out().replace(path, "SHARD"))
          .isEqualTo(new String(Objects.requireNonNull(golden).readAllBytes(), UTF_8));
    }
  }

  /** From the storage module's tests, which come as a folder or as a jar. */
  private void copyKept(String name, Path to) throws Exception {
    URI kept = Objects.requireNonNull(getClass().getResource(name)).toURI();
    if (kept.getScheme().equals("jar")) {
      try (FileSystem jar = FileSystems.newFileSystem(kept, Map.of())) {
        copy(jar.getPath(name), to);
      }
    } else {
      copy(Path.of(kept), to);
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Path target = to.resolve(from.relativize(file).toString());
        Files.createDirectories(Objects.requireNonNull(target.getParent()));
        Files.copy(file, target);
      }
    }
  }
}
