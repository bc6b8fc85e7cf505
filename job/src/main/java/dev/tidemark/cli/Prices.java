package dev.tidemark.cli;

import dev.tidemark.job.OptionException;
import dev.tidemark.job.OptionFile;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What a store bills (conf/prices.yaml).
 *
 * @param put dollars per thousand PUT-class requests
 * @param get dollars per thousand GET-class requests
 * @param gbMonth dollars for storing a GB, 10^9 bytes, for a month
 */
record Prices(double put, double get, double gbMonth) {
  private static final double GB = 1e9;

  /** Those of a file; of conf/prices.yaml where none is named. */
  static Prices of(@Nullable Path file) {
    Path root = Path.of(System.getProperty("tidemark.root", "."));
    return read(file == null ? root.resolve("conf").resolve("prices.yaml") : file);
  }

  static Prices read(Path file) {
    OptionFile prices = OptionFile.read(file);
    return new Prices(
        number(prices, "put-per-thousand"),
        number(prices, "get-per-thousand"),
        number(prices, "gb-month"));
  }

  private static double number(OptionFile file, String key) {
    @Nullable String text = file.settings().get(key);
    try {
      return Double.parseDouble(String.valueOf(text));
    } catch (NumberFormatException e) {
      throw new OptionException(file.name() + ": " + key + " = " + text + ": not a number");
    }
  }

  /** Dollars for so many requests. */
  double requests(long puts, long gets) {
    return puts * put / 1000 + gets * get / 1000;
  }

  /** Dollars for storing so many bytes for a month. */
  double month(long bytes) {
    return bytes / GB * gbMonth;
  }
}
