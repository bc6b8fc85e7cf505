package dev.tidemark.flink.source;

import dev.tidemark.flink.message.RawRecord;
import java.io.IOException;
import java.io.InputStream;
import org.apache.flink.api.common.io.compression.GzipInflaterInputStreamFactory;
import org.apache.flink.api.common.io.compression.InflaterInputStreamFactory;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.compression.StandardDeCompressors;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.connector.file.src.util.ArrayResultIterator;
import org.apache.flink.connector.file.src.util.CheckpointedPosition;
import org.apache.flink.core.fs.Path;
import org.jspecify.annotations.Nullable;

/**
 * Whole files as raw records, for Flink's file source. The position in a file is the number of
 * records read from it; restoring reads them again and drops them, which is right for compressed
 * files as well.
 */
final class RawFileFormat implements BulkFormat<RawRecord, FileSourceSplit> {
  private static final long serialVersionUID = 1L;

  /** A batch goes to the task's thread when it has so many records, */
  private static final int BATCH_RECORDS = 512;

  /** or so many bytes. */
  private static final long BATCH_BYTES = 1 << 20;

  private final boolean csv;
  private final String compression;
  private final boolean inOrder;
  private final int maxRecordBytes;

  /**
   * A format.
   *
   * @param csv CSV records with a header, else lines
   * @param compression auto, none or gzip
   * @param inOrder whether all files are one sequence, in which a table's times never fall
   */
  RawFileFormat(boolean csv, String compression, boolean inOrder, int maxRecordBytes) {
    this.csv = csv;
    this.compression = compression;
    this.inOrder = inOrder;
    this.maxRecordBytes = maxRecordBytes;
  }

  @Override
  public Reader<RawRecord> createReader(Configuration config, FileSourceSplit split)
      throws IOException {
    return open(split, 0);
  }

  @Override
  public Reader<RawRecord> restoreReader(Configuration config, FileSourceSplit split)
      throws IOException {
    return open(
        split,
        split.getReaderPosition().map(CheckpointedPosition::getRecordsAfterOffset).orElse(0L));
  }

  private Reader<RawRecord> open(FileSourceSplit split, long skip) throws IOException {
    Path path = split.path();
    InputStream in = path.getFileSystem().open(path);
    try {
      InflaterInputStreamFactory<?> inflater = inflater(path.getName());
      InputStream plain = inflater == null || split.length() == 0 ? in : inflater.create(in);
      String partition = inOrder ? "files" : path.toString();
      String place = path.getFileSystem().isDistributedFS() ? path.toString() : path.getPath();
      RawLines lines =
          new RawLines(
              plain, place, partition, csv, Math.min(maxRecordBytes, RawLines.maxRecordBytes()));
      for (long i = 0; i < skip; i++) {
        if (lines.next() == null) {
          throw new IOException("it has fewer records than were read before: it was changed");
        }
      }
      return new LinesReader(path, lines, skip);
    } catch (IOException e) {
      in.close();
      throw unreadable(path, e);
    }
  }

  private @Nullable InflaterInputStreamFactory<?> inflater(String name) {
    switch (compression) {
      case "none" -> {
        return null;
      }
      case "gzip" -> {
        return GzipInflaterInputStreamFactory.getInstance();
      }
      default -> {
        return StandardDeCompressors.getDecompressorForFileName(name);
      }
    }
  }

  private static IOException unreadable(Path path, IOException e) {
    return new IOException("cannot read " + path + ": " + e.getMessage(), e);
  }

  @Override
  public boolean isSplittable() {
    return false;
  }

  @Override
  public TypeInformation<RawRecord> getProducedType() {
    return RawRecord.TYPE;
  }

  private static final class LinesReader implements Reader<RawRecord> {
    private final Path path;
    private final RawLines lines;
    private long read;

    LinesReader(Path path, RawLines lines, long read) {
      this.path = path;
      this.lines = lines;
      this.read = read;
    }

    @Override
    public @Nullable RecordIterator<RawRecord> readBatch() throws IOException {
      RawRecord[] batch = new RawRecord[BATCH_RECORDS];
      int count = 0;
      long bytes = 0;
      try {
        while (count < BATCH_RECORDS && bytes < BATCH_BYTES) {
          RawRecord next = lines.next();
          if (next == null) {
            break;
          }
          bytes += next.value == null ? 0 : next.value.length;
          batch[count++] = next;
        }
      } catch (IOException e) {
        throw unreadable(path, e);
      }
      if (count == 0) {
        return null;
      }
      ArrayResultIterator<RawRecord> iterator = new ArrayResultIterator<>();
      iterator.set(batch, count, CheckpointedPosition.NO_OFFSET, read);
      read += count;
      return iterator;
    }

    @Override
    public void close() throws IOException {
      lines.close();
    }
  }
}
