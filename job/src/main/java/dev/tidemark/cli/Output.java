package dev.tidemark.cli;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;

/** Standard output, buffered, in UTF-8. A reader that has gone ends the command in peace. */
final class Output {
  private static final int BUFFER_CHARS = 1 << 16;

  private final Writer writer;

  Output(OutputStream stream) {
    this.writer =
        new BufferedWriter(new OutputStreamWriter(stream, StandardCharsets.UTF_8), BUFFER_CHARS);
  }

  /** Writes a line. */
  void line(CharSequence text) {
    try {
      writer.append(text).append('\n');
    } catch (IOException e) {
      throw failure(e);
    }
  }

  /** Hands on what is buffered. */
  void flush() {
    try {
      writer.flush();
    } catch (IOException e) {
      throw failure(e);
    }
  }

  private static RuntimeException failure(IOException e) {
    String message = String.valueOf(e.getMessage());
    return message.contains("pipe") || message.contains("closed")
        ? new ClosedPipeException()
        : new CommandException(Exit.STORE, "can't write the output: " + message, e);
  }
}
