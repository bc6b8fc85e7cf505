package dev.tidemark.read;

import dev.tidemark.part.PartStore;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Schema;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.PartLocation;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** Reads a part whole and compares everything that its handle and its batch say of it. */
final class PartCheck {
  /** Bytes fetched at a time for the object's checksum. */
  private static final int FETCH = 8 << 20;

  /** Faults of one part after which the rest is not worth naming. */
  private static final int MOST_FAULTS = 10;

  private final ObjectStore store;
  private final PartStore parts;
  private long bytesRead;

  /** The first and last row of the parts read last, for {@link #orderFaults}. */
  private final List<Ends> ends = new ArrayList<>();

  private static final class Ends {
    private final Part part;
    private final byte[] first;
    private byte[] last;
    private final long firstTime;
    private long lastTime;

    Ends(Part part, byte[] row, long time) {
      this.part = part;
      this.first = row;
      this.last = row;
      this.firstTime = time;
      this.lastTime = time;
    }
  }

  PartCheck(ObjectStore store, String shard) {
    this.store = store;
    this.parts =
        new PartStore(
            store,
            shard,
            Long.MAX_VALUE,
            () -> {
              throw new IllegalStateException("a verifier writes no parts");
            });
  }

  long bytesRead() {
    return bytesRead;
  }

  /** What is wrong with a part; a store that can't be reached is an exception. */
  List<String> faults(Batch batch, Part part, Schema schema) throws IOException {
    List<String> faults = new ArrayList<>();
    try {
      if (part.location() instanceof PartLocation.Stored stored) {
        checksum(stored, faults);
      }
      if (faults.isEmpty()) {
        rows(batch, part, schema, faults);
      }
    } catch (StoreException e) {
      if (e.retryable() || e.reason() == StoreException.Reason.DENIED) {
        throw e;
      }
      faults.add(String.valueOf(e.getMessage()));
    } catch (IOException | RuntimeException e) {
      // Damaged bytes may surprise any decoder; to the verifier that is an answer, not an accident.
      faults.add("can't be read: " + e);
    }
    return faults;
  }

  private void checksum(PartLocation.Stored stored, List<String> faults) throws IOException {
    CRC32C crc = new CRC32C();
    for (long at = 0; at < stored.sizeBytes(); at += FETCH) {
      int length = (int) Math.min(FETCH, stored.sizeBytes() - at);
      Optional<byte[]> bytes = store.getRange(stored.key(), at, length);
      if (bytes.isEmpty()) {
        faults.add("is missing");
        return;
      }
      crc.update(bytes.get());
      bytesRead += length;
    }
    String found = String.format("%08x", crc.getValue());
    if (!found.equals(stored.crc32c())) {
      faults.add("has checksum " + found + ", not " + stored.crc32c());
    }
  }

  /** What the rows of a part add up to. */
  private static final class Totals {
    private long rows;
    private long bytes;
    private long sum;
    private long retracted;
    private long minTime = Long.MAX_VALUE;
    private long maxTime = Long.MIN_VALUE;
  }

  private void rows(Batch batch, Part part, Schema schema, List<String> faults) throws IOException {
    RowCodec codec = new RowCodec(schema);
    Totals totals = new Totals();
    Ends current = null;
    try (UpdateCursor updates = parts.read(part, schema, schema)) {
      while (updates.next() && faults.size() < MOST_FAULTS) {
        byte[] row = updates.row();
        int offset = updates.rowOffset();
        int length = updates.rowLength();
        count(totals, updates, codec.countedBytes(row, offset, length));
        byte[] copy = Arrays.copyOfRange(row, offset, offset + length);
        if (current == null) {
          current = new Ends(part, copy, updates.time());
        } else {
          if (order(current.last, current.lastTime, copy, updates.time()) >= 0) {
            faults.add("row " + totals.rows + " is not past the one before it");
          }
          current.last = copy;
          current.lastTime = updates.time();
        }
        if (!batch.cut() && !inside(batch, updates.time())) {
          faults.add(
              "row " + totals.rows + " at " + updates.time() + " is outside " + batch.bounds());
        }
      }
    }
    if (faults.size() < MOST_FAULTS) {
      compare(totals, part, faults);
    }
    if (current != null) {
      bounds(current, part, faults);
      ends.add(current);
    }
  }

  private static void count(Totals totals, UpdateCursor update, int bytes) {
    totals.rows++;
    totals.bytes += bytes;
    totals.sum = Math.addExact(totals.sum, update.diff());
    totals.retracted += update.diff() < 0 ? bytes : 0;
    totals.minTime = Math.min(totals.minTime, update.time());
    totals.maxTime = Math.max(totals.maxTime, update.time());
  }

  /** Whether a time belongs to a batch, given that its merge advanced times to its since. */
  private static boolean inside(Batch batch, long time) {
    long since = batch.since().time();
    return time >= Math.max(batch.bounds().lower().time(), since)
        && time <= Math.max(batch.bounds().upper().time() - 1, since);
  }

  private static void compare(Totals found, Part part, List<String> faults) {
    differ("rows", found.rows, part.rows(), faults);
    differ("row bytes", found.bytes, part.bytes(), faults);
    differ("sum of diffs", found.sum, part.sum(), faults);
    differ("retracted bytes", found.retracted, part.retracted(), faults);
    if (found.rows > 0) {
      differ("least time", found.minTime, part.minTime(), faults);
      differ("greatest time", found.maxTime, part.maxTime(), faults);
    }
  }

  private static void differ(String what, long found, long said, List<String> faults) {
    if (found != said) {
      faults.add(what + ": " + found + " found, " + said + " in its handle");
    }
  }

  private static void bounds(Ends ends, Part part, List<String> faults) {
    byte[] min = bound(part.minKey());
    if (min != null && Arrays.compareUnsigned(min, ends.first) > 0) {
      faults.add("its first row is before its least key");
    }
    byte[] max = bound(part.maxKey());
    if (max != null && Arrays.compareUnsigned(ends.last, max) > 0) {
      faults.add("its last row is past its greatest key");
    }
  }

  private static byte @Nullable [] bound(@Nullable String hex) {
    return hex == null ? null : HexFormat.of().parseHex(hex);
  }

  private static int order(byte[] left, long leftTime, byte[] right, long rightTime) {
    int order = Arrays.compareUnsigned(left, right);
    return order != 0 ? order : Long.compare(leftTime, rightTime);
  }

  /** What is wrong with the order of a run's parts among each other, which were read just now. */
  List<String> orderFaults(List<Part> run) {
    List<String> faults = new ArrayList<>();
    Ends before = null;
    for (Ends next : ends) {
      if (run.contains(next.part)) {
        if (before != null
            && order(before.last, before.lastTime, next.first, next.firstTime) >= 0) {
          faults.add("two parts of a run overlap");
        }
        before = next;
      }
    }
    ends.clear();
    return faults;
  }
}
