package dev.tidemark.flink.source;

import dev.tidemark.flink.message.RawRecord;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a file into raw records: lines, or CSV records, whose quoted fields may hold line ends. A
 * byte-order mark is dropped at byte 0 only; a line ends in LF, CRLF or the file's end; the CR that
 * belongs to the line's end does not belong to the record.
 */
final class RawLines implements Closeable {
  /** A longer record is an error, kept up to its first 64 KiB, rather than the end of the heap. */
  static final int MAX_RECORD_BYTES = 64 << 20;

  /** A record is there some times over while it is read, as bytes and as text. */
  private static final int RECORDS_IN_HEAP = 16;

  private static final int KEPT_OF_TOO_LONG = 64 << 10;
  private static final int BUFFER_BYTES = 128 << 10;

  private final InputStream in;
  private final String place;
  private final String partition;
  private final boolean quotes;
  private final int maxBytes;
  private final byte[] buffer = new byte[BUFFER_BYTES];
  private int at;
  private int end;
  private byte[] record = new byte[1024];
  private int length;
  private boolean tooLong;
  private long line = 1;
  private long offset;
  private byte @Nullable [] header;

  /**
   * Reads {@code in} from its beginning.
   *
   * @param csv whether it is CSV, with a header, which is read at once
   */
  RawLines(InputStream in, String place, String partition, boolean csv, int maxBytes)
      throws IOException {
    this.in = in;
    this.place = place;
    this.partition = partition;
    this.quotes = csv;
    this.maxBytes = maxBytes;
    dropByteOrderMark();
    if (csv) {
      RawRecord first = next();
      header = first == null ? null : first.value;
    }
  }

  /** The most bytes that a record may have in this JVM: a sixteenth of its heap, 64 MiB at most. */
  static int maxRecordBytes() {
    return (int) Math.min(MAX_RECORD_BYTES, Runtime.getRuntime().maxMemory() / RECORDS_IN_HEAP);
  }

  private void dropByteOrderMark() throws IOException {
    while (end < 3 && fill()) {
      // a stream may give its bytes one by one
    }
    if (end >= 3
        && buffer[0] == (byte) 0xEF
        && buffer[1] == (byte) 0xBB
        && buffer[2] == (byte) 0xBF) {
      at = 3;
      offset = 3;
    }
  }

  /** Reads more behind what is there; false at the end of the file. */
  private boolean fill() throws IOException {
    if (at == end) {
      at = 0;
      end = 0;
    }
    int read = in.read(buffer, end, buffer.length - end);
    if (read < 0) {
      return false;
    }
    end += read;
    return true;
  }

  /** The next record; null at the end of the file. */
  @Nullable RawRecord next() throws IOException {
    length = 0;
    tooLong = false;
    long firstLine = line;
    long firstByte = offset;
    if (!cut()) {
      return null;
    }
    RawRecord next = new RawRecord();
    next.place = place;
    next.partition = partition;
    next.header = header;
    next.number = firstLine;
    next.byteOffset = firstByte;
    if (tooLong) {
      next.flaw = "a record of more than " + maxBytes + " bytes, from byte " + firstByte;
    }
    next.value = Arrays.copyOf(record, tooLong ? Math.min(length, KEPT_OF_TOO_LONG) : length);
    return next;
  }

  /** Collects the bytes of one record; false when there is none left. */
  private boolean cut() throws IOException {
    boolean any = false;
    Place place = Place.START;
    while (at < end || fill()) {
      int start = at;
      while (at < end) {
        byte b = buffer[at++];
        if (b == '\n') {
          line++;
          if (place != Place.QUOTED) {
            append(start, at - 1);
            offset += at - start;
            if (length > 0 && record[length - 1] == '\r') {
              length--;
            }
            return true;
          }
        } else if (quotes) {
          place = place.after(b);
        }
      }
      any = true;
      append(start, at);
      offset += at - start;
    }
    return any;
  }

  /** Where in a CSV record a byte stands. A quote within a bare field is data (and an error). */
  private enum Place {
    START,
    BARE,
    QUOTED,
    CLOSED;

    Place after(byte b) {
      if (this == QUOTED) {
        return b == '"' ? CLOSED : QUOTED;
      }
      if (b == ',') {
        return START;
      }
      return b == '"' && this != BARE ? QUOTED : BARE;
    }
  }

  private void append(int from, int to) {
    int more = to - from;
    if (tooLong || length + more > maxBytes) {
      more = Math.min(more, maxBytes - length);
      tooLong = true;
      if (more <= 0) {
        return;
      }
    }
    if (length + more > record.length) {
      int doubled = (int) Math.min(maxBytes, record.length * 2L);
      record = Arrays.copyOf(record, Math.max(length + more, doubled));
    }
    System.arraycopy(buffer, from, record, length, more);
    length += more;
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
