package dev.tidemark.store.s3;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** Starts a local S3 server for tests, from the jar that the build put aside. */
public final class LocalS3 {
  private LocalS3() {}

  /** A server on a fresh folder, on any free port. */
  public static LocalS3Server start(Path folder) throws IOException {
    return LocalS3Server.start(jar(), folder, 0);
  }

  /** S3Proxy's jar: -Dtidemark.s3proxy, else where the storage module's build puts it. */
  public static Path jar() throws IOException {
    String given = System.getProperty("tidemark.s3proxy", "");
    if (!given.isEmpty()) {
      return Path.of(given);
    }
    Path folder =
        Path.of(Objects.requireNonNull(System.getProperty("tidemark.root"), "tidemark.root"))
            .resolve("storage/target/s3proxy");
    try (var files = Files.list(folder)) {
      return files
          .filter(file -> file.toString().endsWith(".jar"))
          .findFirst()
          .orElseThrow(() -> new IOException("no S3Proxy jar in " + folder));
    }
  }
}
