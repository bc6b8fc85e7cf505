package dev.tidemark.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The jar by which a cluster runs the job. */
final class JobJar {
  private static final String PROPERTY = "tidemark.job-jar";
  private static final String ROOT = "tidemark.root";

  private JobJar() {}

  /** The one that scripts/tidemark names, else where scripts/job-jar puts it. */
  static Path find() {
    @Nullable String named = System.getProperty(PROPERTY);
    Path jar =
        named != null
            ? Path.of(named)
            : Path.of(System.getProperty(ROOT, "")).resolve("job/target/tidemark-job.jar");
    if (!Files.isRegularFile(jar)) {
      throw new CommandException(
          Exit.USAGE,
          "the job's jar for a cluster isn't at "
              + jar.toAbsolutePath()
              + ": scripts/job-jar builds it, and scripts/tidemark run --target does so by itself");
    }
    return jar.toAbsolutePath().normalize();
  }
}
