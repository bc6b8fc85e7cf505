package dev.tidemark.row;

import dev.tidemark.schema.Column;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.Schema;
import java.util.List;

/** Input that is no row of its shard, kept as a row of the shard's error collection. */
public final class ErrorRows {
  /** The most raw bytes that an error row keeps. */
  public static final int MAX_RAW_BYTES = 64 << 10;

  private static final ColumnType TEXT =
      new ColumnType(ColumnType.Kind.VARCHAR, false, Integer.MAX_VALUE, 0, List.of(), List.of());
  private static final ColumnType BYTES =
      new ColumnType(ColumnType.Kind.VARBINARY, false, Integer.MAX_VALUE, 0, List.of(), List.of());

  /** Reason, raw bytes, origin (file and line, or partition and offset), table. */
  public static final Schema SCHEMA =
      new Schema(
          1,
          List.of(
              new Column(1, "reason", TEXT),
              new Column(2, "raw", BYTES),
              new Column(3, "origin", TEXT),
              new Column(4, "table", TEXT)),
          List.of());

  private ErrorRows() {}
}
