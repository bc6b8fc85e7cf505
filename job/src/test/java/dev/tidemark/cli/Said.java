package dev.tidemark.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.Map;

/** What a command printed and how it ended. */
record Said(int code, String out, String err) {
  /** Runs a command without any environment. */
  static Said say(String... words) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    int code = Tidemark.run(Arrays.asList(words), out, new PrintStream(err, true, UTF_8), Map.of());
    return new Said(code, out.toString(UTF_8), err.toString(UTF_8));
  }
}
