package dev.tidemark.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Scripts with their expected output: command lines; a line {@code ----}; what they print; an empty
 * line. Lines that begin with {@code #} tell the story. {@code -Dtidemark.rewrite=true} writes what
 * was printed into the script: read the difference before you keep it.
 */
public final class Scripts {
  private static final String SEPARATOR = "----";

  private Scripts() {}

  /** The scripts of a folder under src/test/resources, by name. */
  public static List<Path> in(String folder) throws IOException {
    try (Stream<Path> files = Files.list(Path.of("src/test/resources", folder))) {
      return files.filter(file -> file.toString().endsWith(".txt")).sorted().toList();
    }
  }

  /** Runs a script: each command line gives what it prints. */
  public static void run(Path script, Function<String, String> interpreter) throws IOException {
    List<String> expected = Files.readAllLines(script);
    List<String> actual = new ArrayList<>();
    StringBuilder printed = new StringBuilder();
    boolean inOutput = false;
    for (String line : expected) {
      if (line.equals(SEPARATOR)) {
        actual.add(line);
        printed.toString().lines().forEach(actual::add);
        printed.setLength(0);
        inOutput = true;
      } else if (line.isEmpty()) {
        actual.add(line);
        inOutput = false;
      } else if (!inOutput) {
        actual.add(line);
        if (!line.startsWith("#")) {
          printed.append(interpreter.apply(line)).append('\n');
        }
      }
    }
    if (Boolean.getBoolean("tidemark.rewrite")) {
      Files.write(script, actual);
    } else if (!actual.equals(expected)) {
      throw new AssertionError(
          script + " prints something else:\n" + String.join("\n", actual) + "\n");
    }
  }
}
