package dev.tidemark.job;

import dev.tidemark.flink.decode.DecodeSettings.Format;
import dev.tidemark.flink.decode.FlinkFormats;
import java.util.List;
import java.util.Locale;

/**
 * What {@code source.format} names.
 *
 * @param kind one of ours, or one of Flink's
 * @param name as the user writes it
 */
record SourceFormat(Format kind, String name) {
  /** The options of one of Flink's formats begin with it. */
  static final String PREFIX = "source.format.";

  static final OptionType<SourceFormat> TYPE =
      new OptionType<>(
          "json | csv | debezium-json | a format of Flink's on the class path", SourceFormat::of);

  private static SourceFormat of(String text) {
    for (Format own : List.of(Format.JSON, Format.CSV, Format.DEBEZIUM_JSON)) {
      if (own.name().toLowerCase(Locale.ROOT).replace('_', '-').equals(text)) {
        return new SourceFormat(own, text);
      }
    }
    List<String> found = FlinkFormats.names();
    if (found.contains(text)) {
      return new SourceFormat(Format.FLINK, text);
    }
    throw new IllegalArgumentException(
        "no such format; on the class path are " + String.join(", ", found));
  }
}
