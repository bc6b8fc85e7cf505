package dev.tidemark.sim;

import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.PartLocation.Stored;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
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

  /** A batch of these runs. */
  static Batch batch(
      String id, BatchDescription bounds, Frontier since, int level, List<List<Part>> runs) {
    long rows = 0;
    long bytes = 0;
    long sum = 0;
    long retracted = 0;
    long greatest = Long.MIN_VALUE;
    for (List<Part> run : runs) {
      for (Part part : run) {
        rows += part.rows();
        bytes += part.bytes();
        sum += part.sum();
        retracted += part.retracted();
        greatest = Math.max(greatest, part.maxTime());
      }
    }
    return new Batch(
        id,
        bounds,
        since,
        level,
        runs,
        List.of(),
        rows,
        bytes,
        retracted,
        OptionalLong.of(sum),
        greatest,
        false,
        1,
        Map.of());
  }

  /** The same batch, some of whose rows may lie outside its bounds. */
  static Batch cut(Batch batch) {
    return new Batch(
        batch.id(),
        batch.bounds(),
        batch.since(),
        batch.level(),
        batch.runs(),
        batch.errors(),
        batch.rows(),
        batch.bytes(),
        batch.retracted(),
        OptionalLong.empty(),
        batch.maxTime(),
        true,
        batch.schema(),
        batch.extra());
  }

  /** The rows of a part as its batch has them: of a cut one only those within its bounds. */
  static List<Update> rows(Batch batch, Part part, byte[] bytes) {
    List<Update> rows = Parquet.is(bytes) ? Parquet.decode(part, bytes) : Rows.decode(bytes);
    return batch.cut()
        ? rows.stream().filter(row -> batch.bounds().contains(row.time())).toList()
        : rows;
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
