package dev.tidemark.cli;

import dev.tidemark.read.ShardReader;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.ShardState;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/**
 * A shard's latest snapshot against the database's own final table, line by line as multisets.
 *
 * @param rows rows read back
 * @param differences the first of them, {@code - expected} and {@code + read}
 * @param different how many there are in all
 */
record TableComparison(long rows, List<String> differences, long different) {
  private static final int SHOWN = 10;

  /** What stands for NULL in the database's files. */
  private static final String NULL = "\\N";

  /**
   * Compares.
   *
   * @param expected a gzipped CSV with a heading, by {@code COPY ... (FORMAT csv, HEADER, NULL
   *     '\N')}; no value may hold a line break
   */
  static TableComparison of(ShardReader reader, ShardState state, Path expected)
      throws IOException {
    Map<String, Long> missing = new TreeMap<>();
    Schema schema = state.schema();
    RowPrinter.Csv printer = new RowPrinter.Csv(schema, NULL);
    try (BufferedReader lines = open(expected)) {
      @Nullable String heading = lines.readLine();
      if (!printer.heading().equals(heading)) {
        return new TableComparison(0, List.of("- " + heading, "+ " + printer.heading()), 1);
      }
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        missing.merge(line, 1L, Long::sum);
      }
    }
    long rows = 0;
    Map<String, Long> extra = new TreeMap<>();
    if (!state.upper().isMinimum()) {
      RowCodec codec = new RowCodec(schema);
      try (UpdateCursor cursor = reader.snapshot(state, state.upper().time() - 1)) {
        while (cursor.next()) {
          rows += cursor.diff();
          String line =
              printer.line(codec.decode(cursor.row(), cursor.rowOffset(), cursor.rowLength()));
          take(missing, extra, line, cursor.diff());
        }
      }
    }
    return result(rows, missing, extra);
  }

  private static void take(
      Map<String, Long> missing, Map<String, Long> extra, String line, long count) {
    long expected = missing.getOrDefault(line, 0L);
    long left = expected - count;
    if (left > 0) {
      missing.put(line, left);
    } else {
      missing.remove(line);
      if (left < 0) {
        extra.merge(line, -left, Long::sum);
      }
    }
  }

  private static TableComparison result(
      long rows, Map<String, Long> missing, Map<String, Long> extra) {
    List<String> shown = new ArrayList<>();
    missing.keySet().stream().limit(SHOWN).forEach(line -> shown.add("- " + line));
    extra.keySet().stream().limit(SHOWN).forEach(line -> shown.add("+ " + line));
    shown.sort((a, b) -> a.substring(2).compareTo(b.substring(2)));
    long different =
        missing.values().stream().mapToLong(n -> n).sum()
            + extra.values().stream().mapToLong(n -> n).sum();
    return new TableComparison(rows, shown.subList(0, Math.min(SHOWN, shown.size())), different);
  }

  private static BufferedReader open(Path file) throws IOException {
    return new BufferedReader(
        new InputStreamReader(
            new GZIPInputStream(Files.newInputStream(file)), StandardCharsets.UTF_8));
  }

  boolean equal() {
    return different == 0;
  }
}
