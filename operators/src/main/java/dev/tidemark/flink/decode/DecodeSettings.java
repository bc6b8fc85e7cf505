package dev.tidemark.flink.decode;

import java.io.Serializable;
import java.util.List;
import java.util.Map;

/**
 * How raw records become updates.
 *
 * @param format how the input is written
 * @param debezium for {@link Format#DEBEZIUM_JSON}
 * @param tables the shards and what belongs to them
 * @param unmatchedFails whether a record of no shard fails the job; else it is counted and ignored
 * @param errorsFail whether a record that can't be decoded fails the job; else it is kept as an
 *     error row
 * @param maxTimeMillis rows later than this are errors: {@code Long.MAX_VALUE - 1} = no limit
 * @param maxAheadMillis rows later than the clock by more than this are errors; {@code
 *     Long.MAX_VALUE} = no limit
 * @param flink for {@link Format#FLINK}
 */
public record DecodeSettings(
    Format format,
    DebeziumSettings debezium,
    List<TableMapping> tables,
    boolean unmatchedFails,
    boolean errorsFail,
    long maxTimeMillis,
    long maxAheadMillis,
    FlinkFormat flink)
    implements Serializable {

  /** For a format of our own. */
  public DecodeSettings(
      Format format,
      DebeziumSettings debezium,
      List<TableMapping> tables,
      boolean unmatchedFails,
      boolean errorsFail,
      long maxTimeMillis,
      long maxAheadMillis) {
    this(
        format,
        debezium,
        tables,
        unmatchedFails,
        errorsFail,
        maxTimeMillis,
        maxAheadMillis,
        FlinkFormat.NONE);
  }

  /** What a record may not pass. */
  Intake.Limits limits() {
    return new Intake.Limits(errorsFail, maxTimeMillis, maxAheadMillis);
  }

  /** The same for a format of Flink's. */
  public DecodeSettings withFlink(FlinkFormat other) {
    return withFormat(Format.FLINK, other);
  }

  /** The same for a format of our own. */
  public DecodeSettings withFormat(Format other) {
    return withFormat(other, FlinkFormat.NONE);
  }

  private DecodeSettings withFormat(Format other, FlinkFormat flinks) {
    return new DecodeSettings(
        other, debezium, tables, unmatchedFails, errorsFail, maxTimeMillis, maxAheadMillis, flinks);
  }

  /**
   * A format of Flink's that is on the class path.
   *
   * @param name as {@link FlinkFormats#names} has it
   * @param options its own options, without a prefix
   */
  public record FlinkFormat(String name, Map<String, String> options) implements Serializable {
    /** None. */
    public static final FlinkFormat NONE = new FlinkFormat("", Map.of());

    /** Copies the options. */
    public FlinkFormat {
      options = Map.copyOf(options);
    }
  }

  /** The formats that Tidemark reads itself, and all others. */
  public enum Format {
    /** One JSON object a line. */
    JSON,
    /** RFC 4180 with a header line. */
    CSV,
    /** Debezium's JSON. */
    DEBEZIUM_JSON,
    /** A format of Flink's. */
    FLINK
  }
}
