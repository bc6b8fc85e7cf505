package dev.tidemark.cli;

import dev.tidemark.job.JobFrame;
import java.nio.file.Path;
import org.apache.logging.log4j.core.config.Configurator;

/**
 * Where the log of a job in this process goes. Said only once the options are found good, so that
 * wrong ones leave nothing behind.
 */
final class JobLog {
  private static final String PROPERTY = "tidemark.log";

  private JobLog() {}

  /** Into the writer's folder, where that is on this machine. */
  static void to(JobFrame options) {
    String directory = options.writerDirectory();
    if (directory.startsWith("file:")) {
      to(Path.of(directory.replaceFirst("^file:(//)?", "")).resolve("tidemark.log"));
    }
  }

  /** Into a file. */
  static void to(Path file) {
    if (System.getProperty(PROPERTY) == null) {
      System.setProperty(PROPERTY, file.toString());
      Configurator.reconfigure();
    }
  }
}
