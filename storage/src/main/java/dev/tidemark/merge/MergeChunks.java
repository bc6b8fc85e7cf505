package dev.tidemark.merge;

import dev.tidemark.part.KeyRange;
import dev.tidemark.part.PartStore;
import dev.tidemark.part.PartStore.Sample;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a merge into chunks by ranges of rows, each of about as many row bytes of input, so that
 * nothing runs long. The same batches always give the same chunks.
 */
public final class MergeChunks {
  /** A part of less than this share of a chunk is taken whole. */
  private static final int SAMPLE_SHARE = 16;

  /** A merge of more parts than this has samples enough in their bounds. */
  private static final int MOST_SAMPLED = 512;

  private MergeChunks() {}

  /**
   * The chunks in the order of rows; together they are all rows, and none is in two.
   *
   * @param parts the parts of the shard; those of large merges are opened, not read
   * @param inputs the batches
   * @param chunkBytes how large a chunk should be (merge.chunk-bytes)
   */
  public static List<KeyRange> cut(PartStore parts, List<Batch> inputs, long chunkBytes)
      throws IOException {
    long bytes = inputs.stream().mapToLong(Batch::bytes).sum();
    if (Math.round((double) bytes / chunkBytes) <= 1) {
      return List.of(KeyRange.ALL);
    }
    List<Part> all = new ArrayList<>();
    inputs.forEach(batch -> batch.runs().forEach(all::addAll));
    long least = chunkBytes / SAMPLE_SHARE;
    boolean few = all.stream().filter(part -> part.bytes() > least).count() <= MOST_SAMPLED;
    List<Sample> samples = new ArrayList<>();
    for (Part part : all) {
      if (few && part.bytes() > least) {
        samples.addAll(parts.samples(part));
      } else {
        samples.add(Sample.of(part));
      }
    }
    return cut(samples, chunkBytes);
  }

  /** Cuts where as much as a chunk lies between two samples. */
  static List<KeyRange> cut(List<Sample> samples, long chunkBytes) {
    double total = samples.stream().mapToDouble(Sample::bytes).sum();
    double wanted = total / Math.max(1, Math.round(total / chunkBytes));
    List<Sample> sorted = new ArrayList<>(samples);
    sorted.sort(Comparator.comparing(Sample::key).thenComparingLong(Sample::bytes));
    List<KeyRange> chunks = new ArrayList<>();
    @Nullable String from = null;
    double sum = 0;
    double left = total;
    for (Sample sample : sorted) {
      boolean later = sample.key().compareTo(from == null ? "" : from) > 0;
      if (later && sum >= wanted && left >= wanted / 2) {
        chunks.add(new KeyRange(from, sample.key()));
        from = sample.key();
        sum = 0;
      }
      sum += sample.bytes();
      left -= sample.bytes();
    }
    chunks.add(new KeyRange(from, null));
    return List.copyOf(chunks);
  }
}
