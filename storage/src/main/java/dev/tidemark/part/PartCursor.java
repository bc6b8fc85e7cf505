package dev.tidemark.part;

import com.github.luben.zstd.ZstdDecompressCtx;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.RowEncoder;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Column;
import dev.tidemark.schema.Schema;
import dev.tidemark.spine.Part;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.RowGroup;

/**
 * The updates of a stored part. Memory: one row group, compressed, or as much of it as is to be
 * held at a time; and a page a column.
 */
final class PartCursor implements UpdateCursor {
  private final PartFile file;
  private final Part part;
  private final ZstdDecompressCtx zstd = new ZstdDecompressCtx();
  private final List<ColumnDescriptor> descriptors;
  private final List<ColumnValues> columns = new ArrayList<>();
  private final FieldReader[] fields;
  private final ColumnValues times;
  private final ColumnValues diffs;

  private final RowEncoder row = new RowEncoder();
  private final Iterator<RowGroup> groups;
  private boolean all = true;
  private long groupRows;
  private long rows;
  private long sum;
  private long time;
  private long diff;
  private boolean closed;

  /** {@link Evolution#check} has allowed to read the one schema as the other. */
  PartCursor(PartFile file, Part part, Schema written, Schema wanted, KeyRange range)
      throws IOException {
    this.file = file;
    this.part = part;
    boolean longer = written.columns().size() < wanted.columns().size();
    this.groups = groups(range, longer).iterator();
    this.descriptors = PartSchema.of(written).getColumns();
    for (ColumnDescriptor descriptor : descriptors) {
      columns.add(new ColumnValues(descriptor, zstd));
    }
    Iterator<ColumnValues> leaves = columns.iterator();
    Map<Integer, FieldReader> readers = new HashMap<>();
    for (Column column : written.columns()) {
      readers.put(column.id(), FieldReader.of(column.type(), 0, 0, leaves::next));
    }
    times = leaves.next();
    diffs = leaves.next();
    int[] order = RowCodec.order(wanted);
    fields = new FieldReader[order.length];
    for (int i = 0; i < order.length; i++) {
      int id = wanted.columns().get(order[i]).id();
      fields[i] = readers.getOrDefault(id, FieldReader.MISSING);
    }
  }

  /** The row groups that may have rows in the range. */
  private List<RowGroup> groups(KeyRange range, boolean longer) throws IOException {
    List<RowGroup> groups = file.footer().getRow_groups();
    List<RowGroups.Bounds> bounds = List.of();
    if (!range.isAll()) {
      try {
        bounds = RowGroups.of(file.footer());
      } catch (IOException e) {
        throw file.named(e);
      }
    }
    if (bounds.isEmpty()) {
      return groups;
    }
    List<RowGroup> within = new ArrayList<>();
    for (int i = 0; i < groups.size(); i++) {
      String most = bounds.get(i).most();
      if (!range.isAfter(bounds.get(i).least())
          && (most.isEmpty() || !range.isBefore(most, longer))) {
        within.add(groups.get(i));
      }
    }
    all = within.size() == groups.size();
    return within;
  }

  @Override
  public boolean next() throws IOException {
    if (closed) {
      return false;
    }
    try {
      return advance();
    } catch (IOException | RuntimeException e) {
      throw file.named(e);
    }
  }

  private boolean advance() throws IOException {
    while (groupRows == 0) {
      if (!groups.hasNext()) {
        close();
        if (all && (rows != part.rows() || sum != part.sum())) {
          throw new IOException(
              "its rows and sum are "
                  + rows
                  + " and "
                  + sum
                  + ", not "
                  + part.rows()
                  + " and "
                  + part.sum());
        }
        return false;
      }
      startGroup(groups.next());
    }
    row.reset();
    for (FieldReader field : fields) {
      field.read(row);
    }
    times.advance();
    time = times.takeLong();
    diffs.advance();
    diff = diffs.takeLong();
    if (diff == 0) {
      throw new IOException("a diff is 0");
    }
    groupRows--;
    rows++;
    sum += diff;
    return true;
  }

  private void startGroup(RowGroup group) throws IOException {
    if (group.getColumnsSize() != columns.size()) {
      throw new IOException("its columns are not those of its schema");
    }
    long from = Long.MAX_VALUE;
    long to = 0;
    for (int i = 0; i < columns.size(); i++) {
      ColumnMetaData meta = group.getColumns().get(i).getMeta_data();
      if (!meta.getPath_in_schema().equals(List.of(descriptors.get(i).getPath()))) {
        throw new IOException("its columns are not those of its schema");
      }
      // Each value of a column, NULL and empty too, was counted with a byte at least.
      if (meta.getNum_values() > part.bytes()) {
        throw new IOException("a column has more values than its rows have bytes");
      }
      from = Math.min(from, meta.getData_page_offset());
      to = Math.max(to, meta.getData_page_offset() + meta.getTotal_compressed_size());
    }
    if (to - from <= file.fetchBytes()) {
      PartFile.Range range = file.range(from, to - from);
      for (int i = 0; i < columns.size(); i++) {
        columns.get(i).start(group.getColumns().get(i).getMeta_data(), range.bytes, range.offset);
      }
    } else {
      for (int i = 0; i < columns.size(); i++) {
        ColumnMetaData meta = group.getColumns().get(i).getMeta_data();
        double share = (double) meta.getTotal_compressed_size() / (to - from);
        columns.get(i).start(meta, file, (int) (share * file.fetchBytes()));
      }
    }
    groupRows = group.getNum_rows();
    if (groupRows < 0) {
      throw new IOException("a row group has a wrong number of rows");
    }
  }

  @Override
  public byte[] row() {
    return row.bytes();
  }

  @Override
  public int rowOffset() {
    return 0;
  }

  @Override
  public int rowLength() {
    return row.length();
  }

  @Override
  public long time() {
    return time;
  }

  @Override
  public long diff() {
    return diff;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      zstd.close();
      columns.clear();
    }
  }

  @Override
  public String toString() {
    return file.toString();
  }
}
