package dev.tidemark.flink.source;

import dev.tidemark.flink.message.RawRecord;
import dev.tidemark.schema.ColumnType.Kind;
import dev.tidemark.schema.Schema;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.flink.connector.datagen.source.GeneratorFunction;

/**
 * Generated records, each a pure function of seed and row number: JSON objects of the columns
 * {@code k} (the key, as text), {@code ts} (milliseconds) and {@code v} (text). Row n is a
 * millisecond later than row n - 1, unless it comes late: then its time lies up to ten seconds
 * back.
 */
final class GeneratedRecords implements GeneratorFunction<Long, RawRecord> {
  /** 2026-01-01T00:00:00Z. */
  static final long FIRST_TIME_MILLIS = 1_767_225_600_000L;

  private static final long serialVersionUID = 1L;
  private static final int MAX_LATE_MILLIS = 10_000;

  private final SourceSettings.Datagen settings;

  GeneratedRecords(SourceSettings.Datagen settings) {
    this.settings = settings;
  }

  /**
   * Refuses a schema other than the one that is generated.
   *
   * @throws IllegalArgumentException naming it
   */
  static void checkSchema(Schema schema) {
    List<String> names = schema.columns().stream().map(column -> column.name()).toList();
    List<Kind> kinds = schema.columns().stream().map(column -> column.type().kind()).toList();
    if (!names.equals(List.of("k", "ts", "v"))
        || !kinds.equals(List.of(Kind.VARCHAR, Kind.BIGINT, Kind.VARCHAR))) {
      throw new IllegalArgumentException(
          "source.schema: datagen makes k STRING NOT NULL, ts BIGINT NOT NULL, v STRING NOT NULL"
              + " (PRIMARY KEY (k) NOT ENFORCED with envelope upsert), nothing else");
    }
  }

  @Override
  public RawRecord map(Long row) {
    long bits = mix(settings.seed() + row * 0x9E3779B97F4A7C15L);
    String key = "k" + Long.remainderUnsigned(bits, settings.keys());
    long time = FIRST_TIME_MILLIS + row;
    bits = mix(bits);
    if (share(bits) < settings.lateShare()) {
      time -= Long.remainderUnsigned(mix(bits), MAX_LATE_MILLIS);
    }
    RawRecord record = new RawRecord();
    record.place = "datagen";
    record.partition = "datagen";
    record.number = row;
    record.timestampMillis = time;
    record.key = bytes("{\"k\":\"" + key + "\"}");
    bits = mix(bits);
    if (share(bits) >= settings.deleteShare()) {
      record.value =
          bytes("{\"k\":\"" + key + "\",\"ts\":" + time + ",\"v\":\"" + value(bits) + "\"}");
    }
    return record;
  }

  private String value(long bits) {
    StringBuilder text = new StringBuilder(settings.valueBytes());
    long next = bits;
    while (text.length() < settings.valueBytes()) {
      next = mix(next);
      text.append(Long.toString(next >>> 1, 36));
    }
    text.setLength(settings.valueBytes());
    return text.toString();
  }

  private static double share(long bits) {
    return (bits >>> 11) * 0x1.0p-53;
  }

  /** The finalizer of SplitMix64. */
  private static long mix(long z) {
    long a = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    long b = (a ^ (a >>> 27)) * 0x94D049BB133111EBL;
    return b ^ (b >>> 31);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
