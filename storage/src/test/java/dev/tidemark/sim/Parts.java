package dev.tidemark.sim;

import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.PartLocation.Stored;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;

/** Handles of parts and batches of simulated rows. */
final class Parts {
  private Parts() {}

  /** The handle of a part under that key. */
  static Part handle(String key, List<Update> updates, byte[] bytes) {
    long sum = 0;
    long retracted = 0;
    long least = Long.MAX_VALUE;
    long greatest = Long.MIN_VALUE;
    for (Update update : updates) {
      sum += update.diff();
      retracted += update.diff() < 0 ? Rows.ROW_BYTES : 0;
      least = Math.min(least, update.time());
      greatest = Math.max(greatest, update.time());
    }
    return new Part(
        new Stored(key, bytes.length, checksum(bytes)),
        updates.size(),
        updates.size() * Rows.ROW_BYTES,
        sum,
        retracted,
        null,
        null,
        least,
        greatest,
        Map.of());
  }

  static String checksum(byte[] bytes) {
    CRC32C sum = new CRC32C();
    sum.update(bytes);
    return String.format("%08x", sum.getValue());
  }

  /** Whether these are the bytes that the handle speaks of. */
  static boolean isWhole(Part part, byte[] bytes) {
    return bytes.length == stored(part).sizeBytes()
        && checksum(bytes).equals(stored(part).crc32c());
  }

  /** The rows of a part, as they were written. */
  static List<Update> rows(Part part, byte[] bytes) {
    return Parquet.is(bytes) ? Parquet.decode(part, bytes) : Rows.decode(bytes);
  }

  /** Those of a part's rows that its batch has: of a cut one only those within its bounds. */
  static List<Update> within(Batch batch, List<Update> rows) {
    return batch.cut()
        ? rows.stream().filter(row -> batch.bounds().contains(row.time())).toList()
        : rows;
  }

  /** The parts of all runs of a batch. */
  static List<Part> ofRuns(Batch batch) {
    return batch.runs().stream().flatMap(List::stream).toList();
  }

  /** All parts of a batch. */
  static List<Part> of(Batch batch) {
    List<Part> parts = new ArrayList<>();
    batch.runs().forEach(parts::addAll);
    parts.addAll(batch.errors());
    return parts;
  }

  /** The keys of all parts of some batches. */
  static List<String> keys(List<Batch> batches) {
    List<String> keys = new ArrayList<>();
    for (Batch batch : batches) {
      of(batch).forEach(part -> keys.add(key(part)));
    }
    return keys;
  }

  static Stored stored(Part part) {
    if (part.location() instanceof Stored stored) {
      return stored;
    }
    throw new ViolationError("I3", "a part without a key");
  }

  static String key(Part part) {
    return stored(part).key();
  }
}
