package dev.tidemark.flink.decode;

import java.io.Serializable;
import java.util.List;

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
 */
public record DecodeSettings(
    Format format,
    DebeziumSettings debezium,
    List<TableMapping> tables,
    boolean unmatchedFails,
    boolean errorsFail,
    long maxTimeMillis,
    long maxAheadMillis,
    String csvNull)
    implements Serializable {

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

  /** The formats that Tidemark reads itself. */
  public enum Format {
    /** One JSON object a line. */
    JSON,
    /** RFC 4180 with a header line. */
    CSV,
    /** Debezium's JSON. */
    DEBEZIUM_JSON
  }
}
