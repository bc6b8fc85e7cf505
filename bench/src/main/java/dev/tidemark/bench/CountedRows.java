package dev.tidemark.bench;

import dev.tidemark.part.KeyRange;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.PartLocation;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The model: no rows, only their number. What a merge of commits {@code [a, b)} leaves is the last
 * version of each key that they touch, and the taking back of the one before, if there was one.
 */
final class CountedRows implements SpineRows {
  private final long rowBytes;
  private final double bytesPerSecond;
  private final long chunkBytes;
  private final List<KeyUpdates.Commit> commits = new ArrayList<>();
  private final int[] seen;
  private int round;
  private int named;

  /**
   * A model.
   *
   * @param rowBytes row bytes of an update
   * @param bytesPerSecond what merges read in a second
   * @param chunkBytes how large a chunk of a merge is
   */
  CountedRows(int keys, long rowBytes, double bytesPerSecond, long chunkBytes) {
    this.chunkBytes = chunkBytes;
    this.rowBytes = rowBytes;
    this.bytesPerSecond = bytesPerSecond;
    this.seen = new int[keys];
  }

  @Override
  public Batch write(
      ShardState state, BatchDescription bounds, KeyUpdates.Commit commit, int runs) {
    commits.add(commit);
    List<Part> parts = new ArrayList<>();
    int from = 0;
    for (int run = 0; run < runs; run++) {
      int to = (int) ((long) commit.size() * (run + 1) / runs);
      long retracted = 0;
      for (int i = from; i < to; i++) {
        retracted += commit.before(i) == KeyUpdates.NONE ? 0 : 1;
      }
      parts.add(part(to - from, retracted, bounds.upper().time() - 1));
      from = to;
    }
    return batch(bounds, Frontier.MINIMUM, 0, parts);
  }

  /** Even stretches of the keys, which have one hex digit for each four bits here. */
  @Override
  public List<KeyRange> chunks(ShardState state, List<Batch> inputs) {
    long bytes = inputs.stream().mapToLong(Batch::bytes).sum();
    int count = (int) Math.max(1, Math.round((double) bytes / chunkBytes));
    List<KeyRange> chunks = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      chunks.add(new KeyRange(bound(i, count), bound(i + 1, count)));
    }
    return chunks;
  }

  private @Nullable String bound(int i, int count) {
    long key = (long) seen.length * i / count;
    return i == 0 || i == count ? null : String.format(Locale.ROOT, "%08x", key);
  }

  private static int key(@Nullable String bound, int otherwise) {
    return bound == null ? otherwise : Integer.parseInt(bound, 16);
  }

  @Override
  public Merged merge(ShardState state, List<Batch> inputs, Frontier since, KeyRange chunk) {
    Batch first = inputs.get(0);
    BatchDescription bounds =
        new BatchDescription(
            first.bounds().lower(), inputs.get(inputs.size() - 1).bounds().upper());
    int from = bounds.lower().isMinimum() ? 0 : (int) bounds.lower().time();
    int least = key(chunk.from(), 0);
    int end = key(chunk.to(), seen.length);
    round++;
    long touched = 0;
    long retracted = 0;
    for (KeyUpdates.Commit commit : commits.subList(from, (int) bounds.upper().time())) {
      for (int i = commit.firstAt(least); i < commit.firstAt(end); i++) {
        int key = commit.key(i);
        if (seen[key] != round) {
          seen[key] = round;
          touched++;
          retracted += commit.before(i) == KeyUpdates.NONE ? 0 : 1;
        }
      }
    }
    Batch merged =
        batch(bounds, since, first.level(), List.of(part(touched, retracted, since.time())));
    double share = (double) (end - least) / seen.length;
    double bytes = inputs.stream().mapToDouble(Batch::bytes).sum() * share;
    return new Merged(merged, (long) (bytes / bytesPerSecond * 1e9));
  }

  private Part part(long touched, long retracted, long time) {
    String key = String.format(Locale.ROOT, "part/2026-11-30/%026d.parquet", ++named);
    long rows = touched + retracted;
    return new Part(
        new PartLocation.Stored(key, rows * rowBytes, "00c0ffee"),
        rows,
        rows * rowBytes,
        touched - retracted,
        retracted * rowBytes,
        null,
        null,
        time,
        time,
        Map.of());
  }

  private Batch batch(BatchDescription bounds, Frontier since, int level, List<Part> parts) {
    List<List<Part>> runs = parts.stream().map(List::of).toList();
    return Batch.of("b" + ++named, bounds, since, level, runs, List.of(), 1);
  }
}
