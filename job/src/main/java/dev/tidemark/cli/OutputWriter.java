package dev.tidemark.cli;

import java.io.Writer;

/** Lets picocli print its help through an {@link Output}. */
final class OutputWriter extends Writer {
  private final Output out;
  private final StringBuilder line = new StringBuilder();

  OutputWriter(Output out) {
    this.out = out;
  }

  @Override
  public void write(char[] chars, int offset, int length) {
    for (int i = offset; i < offset + length; i++) {
      if (chars[i] == '\n') {
        out.line(line.toString());
        line.setLength(0);
      } else {
        line.append(chars[i]);
      }
    }
  }

  @Override
  public void flush() {
    if (!line.isEmpty()) {
      out.line(line.toString());
      line.setLength(0);
    }
    out.flush();
  }

  @Override
  public void close() {
    flush();
  }
}
