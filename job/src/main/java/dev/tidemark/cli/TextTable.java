package dev.tidemark.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Lines of cells that stand below each other; numbers to the right. */
final class TextTable {
  private final List<List<String>> rows = new ArrayList<>();

  /** Adds a line. */
  void row(Object... cells) {
    List<String> row = new ArrayList<>();
    for (Object cell : cells) {
      row.add(
          cell instanceof Number number
              ? String.format(Locale.ROOT, "%,d", number.longValue())
              : cell.toString());
    }
    rows.add(row);
  }

  /** Prints all lines; the first is the heading. */
  void print(Output out) {
    int columns = rows.stream().mapToInt(List::size).max().orElse(0);
    int[] width = new int[columns];
    boolean[] right = new boolean[columns];
    for (int c = 0; c < columns; c++) {
      right[c] = true;
      for (int r = 0; r < rows.size(); r++) {
        String cell = c < rows.get(r).size() ? rows.get(r).get(c) : "";
        width[c] = Math.max(width[c], cell.length());
        right[c] &=
            r == 0
                || cell.isEmpty()
                || cell.equals("-")
                || (Character.isDigit(cell.charAt(0)) && !cell.contains("T"));
      }
    }
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int c = 0; c < row.size(); c++) {
        String pad = " ".repeat(width[c] - row.get(c).length());
        line.append(c == 0 ? "" : "  ").append(right[c] ? pad + row.get(c) : row.get(c) + pad);
      }
      out.line(line.toString().stripTrailing());
    }
  }
}
