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
 * @param csvNull what an unquoted CSV field holds for NULL, besides nothing; empty: only nothing
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
    String csvNull,
    FlinkFormat flink)
    implements Serializable {

  /** With a literal for NULL in CSV. */
  public DecodeSettings(
      Format format,
      DebeziumSettings debezium,
      List<TableMapping> tables,
      boolean unmatchedFails,
      boolean errorsFail,
      long maxTimeMillis,
      long maxAheadMillis,
      String csvNull) {
    this(
        format,
        debezium,
        tables,
        unmatchedFails,
        errorsFail,
        maxTimeMillis,
        maxAheadMillis,
        csvNull,
        FlinkFormat.NONE);
  }

  /** Without a literal for NULL in CSV. */
  public DecodeSettings(
      Format format,
      DebeziumSettings debezium,
      List<TableMapping> tables,
      boolean unmatchedFails,
      boolean errorsFail,
      long maxTimeMillis,
      long maxAheadMillis) {
    this(format, debezium, tables, unmatchedFails, errorsFail, maxTimeMillis, maxAheadMillis, "");
  }

  /** What a record may not pass. */
  Intake.Limits limits() {
    return new Intake.Limits(errorsFail, maxTimeMillis, maxAheadMillis);
  }

  /** The same with a format of Flink's. */
  public DecodeSettings withFlink(FlinkFormat other) {
    return new DecodeSettings(
        Format.FLINK,
        debezium,
        tables,
        unmatchedFails,
        errorsFail,
        maxTimeMillis,
        maxAheadMillis,
        csvNull,
        other);
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
