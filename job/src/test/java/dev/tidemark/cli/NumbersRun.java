package dev.tidemark.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs of generated rows into a shard, {@code numbers}. */
final class NumbersRun {
  private NumbersRun() {}

  /** What every job of them is told. */
  static List<String> options(Path warehouse, int rows) {
    return new ArrayList<>(
        List.of(
            "--source.connector",
            "datagen",
            "--source.rows",
            Integer.toString(rows),
            "--source.schema",
            "k STRING, ts BIGINT, v STRING",
            "--source.event-time",
            "ts",
            "--shard.warehouse",
            warehouse.toString(),
            "--shard.name",
            "numbers",
            "--parallelism",
            "1"));
  }

  /**
   * Runs one to its end, which comes with the last of the rows.
   *
   * @param rate how many come a second
   */
  static Said run(Path warehouse, int rows, int rate, List<String> own, String... more) {
    List<String> words = options(warehouse, rows);
    words.add(0, "run");
    words.addAll(List.of("--source.rate", Integer.toString(rate), "--ui.port", "0", "--json"));
    words.addAll(own);
    words.addAll(List.of(more));
    return Said.say(words.toArray(String[]::new));
  }
}
