package dev.tidemark.part;

import com.github.luben.zstd.ZstdCompressCtx;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Column;
import dev.tidemark.schema.Schema;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.PartLocation;
import dev.tidemark.store.Body;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.hadoop.ParquetFileWriter;
import org.apache.parquet.schema.MessageType;

/** Writes one part, in memory: encoded rows come in, a Parquet file comes out. */
final class PartWriter {
  static final String FORMAT = "1.0";

  /** The most row bytes of a row group: what a reader of many parts holds of each. */
  static final long GROUP_BYTES = 16L << 20;

  /** A part of a smaller target has smaller groups, so that chunks of merges find their place. */
  private static final int GROUPS = 8;

  private static final long LEAST_GROUP_BYTES = 4 << 10;

  private static final int CHECKSUM_BUFFER = 32 << 10;
  private static final int STATISTICS_BYTES = 64;

  private final String shard;
  private final Schema schema;
  private final SegmentOutput output = new SegmentOutput();
  private final ParquetFileWriter file;
  private final List<ColumnPages> columns = new ArrayList<>();
  private final FieldWriter[] fields;
  private final ColumnPages times;
  private final ColumnPages diffs;

  private final List<RowGroups.Bounds> groups = new ArrayList<>();
  private final long groupTarget;
  private String groupLeast = "";

  private final RowScan scan = new RowScan();
  private final PartSums sums = new PartSums();
  private final CanonicalRows canonical = new CanonicalRows(CHECKSUM_BUFFER + 1024);
  private final CRC32C checksum = new CRC32C();
  private long groupRows;
  private long groupBytes;

  PartWriter(String shard, Schema schema, long targetBytes, ZstdCompressCtx zstd)
      throws IOException {
    this.shard = shard;
    this.groupTarget = Math.min(GROUP_BYTES, Math.max(LEAST_GROUP_BYTES, targetBytes / GROUPS));
    this.schema = schema;
    MessageType type = PartSchema.of(schema);
    for (ColumnDescriptor descriptor : type.getColumns()) {
      columns.add(new ColumnPages(descriptor, zstd));
    }
    Iterator<ColumnPages> leaves = columns.iterator();
    FieldWriter[] inSchemaOrder = new FieldWriter[schema.columns().size()];
    for (int i = 0; i < inSchemaOrder.length; i++) {
      Column column = schema.columns().get(i);
      inSchemaOrder[i] = FieldWriter.of(column.type(), 0, leaves::next);
    }
    times = leaves.next();
    diffs = leaves.next();
    int[] order = RowCodec.order(schema);
    fields = new FieldWriter[order.length];
    for (int i = 0; i < order.length; i++) {
      fields[i] = inSchemaOrder[order[i]];
    }
    file =
        new ParquetFileWriter(
            output,
            type,
            ParquetFileWriter.Mode.CREATE,
            GROUP_BYTES,
            0,
            STATISTICS_BYTES,
            STATISTICS_BYTES,
            true);
    file.start();
  }

  /** The row bytes so far. */
  long bytes() {
    return sums.bytes();
  }

  /** Whether the cursor's row is the one added last. */
  boolean isLast(UpdateCursor updates) {
    return sums.isLast(updates.row(), updates.rowOffset(), updates.rowLength());
  }

  /** Adds the cursor's update. */
  void add(UpdateCursor updates) throws IOException {
    byte[] row = updates.row();
    int offset = updates.rowOffset();
    int length = updates.rowLength();
    long time = updates.time();
    long diff = updates.diff();
    scan.start(row, offset, length);
    try {
      for (FieldWriter field : fields) {
        field.write(scan, 0, 0);
      }
    } catch (IndexOutOfBoundsException e) {
      throw new IOException("a row's bytes are no row of schema " + schema.id(), e);
    }
    if (scan.position != scan.limit) {
      throw new IOException("a row's bytes are no row of schema " + schema.id());
    }
    times.present(0);
    times.addLong(time);
    diffs.present(0);
    diffs.addLong(diff);
    long counted = scan.counted + 16;
    if (groupRows == 0) {
      groupLeast = PartSums.lowerBound(row, offset, length);
    }
    sums.add(row, offset, length, time, diff, counted);
    canonical.add(row, offset, length, time, diff);
    if (canonical.length() >= CHECKSUM_BUFFER) {
      drainChecksum();
    }
    groupRows++;
    groupBytes += counted;
    if (groupBytes >= groupTarget) {
      endGroup();
    }
  }

  private void drainChecksum() {
    checksum.update(canonical.bytes(), 0, canonical.length());
    canonical.drain();
  }

  private void endGroup() throws IOException {
    file.startBlock(groupRows);
    for (ColumnPages column : columns) {
      column.writeTo(file);
    }
    file.endBlock();
    String most = sums.upperBound();
    groups.add(new RowGroups.Bounds(groupLeast, most == null ? "" : most));
    groupRows = 0;
    groupBytes = 0;
  }

  /** The finished file and its handle. */
  record Finished(Part part, Body body) {}

  Finished finish(String key) throws IOException {
    if (groupRows > 0) {
      endGroup();
    }
    drainChecksum();
    Map<String, String> footer = new LinkedHashMap<>();
    footer.put("tidemark.format", FORMAT);
    footer.put("tidemark.shard", shard);
    footer.put("tidemark.schema", Integer.toString(schema.id()));
    footer.put("tidemark.sorted", "true");
    if (!groups.isEmpty()) {
      footer.put(RowGroups.KEY, RowGroups.text(groups));
    }
    footer.put("tidemark.rows", Long.toString(sums.rows()));
    footer.put("tidemark.sum", Long.toString(sums.sum()));
    footer.put("tidemark.checksum", HexFormat.of().toHexDigits((int) checksum.getValue()));
    file.end(footer);
    Body body = output.body();
    PartLocation location =
        new PartLocation.Stored(key, body.sizeBytes(), SegmentOutput.crc32c(body));
    return new Finished(sums.part(location), body);
  }
}
