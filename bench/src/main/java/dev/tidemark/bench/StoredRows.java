package dev.tidemark.bench;

import dev.tidemark.merge.MergeChunks;
import dev.tidemark.merge.RunMerger;
import dev.tidemark.part.KeyRange;
import dev.tidemark.part.PartKeys;
import dev.tidemark.part.PartStore;
import dev.tidemark.row.InvalidRowException;
import dev.tidemark.row.RowBuffer;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;

/** Rows in part files, written and merged by what the job writes and merges with. */
final class StoredRows implements SpineRows {
  static final Schema SCHEMA =
      Schema.parse("k BIGINT NOT NULL, v STRING NOT NULL, PRIMARY KEY (k) NOT ENFORCED", 1);

  private static final long PART_BYTES = 128L << 20;
  private static final int VALUE_BYTES = 100;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final PartStore parts;
  private final RunMerger merger;
  private final PartKeys names;
  private final long chunkBytes;
  private final RowCodec codec = new RowCodec(SCHEMA);

  StoredRows(ObjectStore store, String shard, PartKeys names, long chunkBytes) {
    this.parts = new PartStore(store, shard, PART_BYTES, names);
    this.merger = new RunMerger(parts, RunMerger.DEFAULT_MEMORY_BYTES);
    this.names = names;
    this.chunkBytes = chunkBytes;
  }

  @Override
  public Batch write(ShardState state, BatchDescription bounds, KeyUpdates.Commit commit, int runs)
      throws IOException {
    long time = bounds.upper().time() - 1;
    List<List<Part>> written = new ArrayList<>();
    for (int run = 0; run < runs; run++) {
      RowBuffer buffer = new RowBuffer();
      int from = (int) ((long) commit.size() * run / runs);
      int to = (int) ((long) commit.size() * (run + 1) / runs);
      for (int i = from; i < to; i++) {
        int before = commit.before(i);
        if (before != KeyUpdates.NONE) {
          add(buffer, commit.key(i), before, time, -1);
        }
        add(buffer, commit.key(i), before + 1, time, 1);
      }
      written.add(write(buffer));
    }
    return fresh(bounds, written);
  }

  List<Part> write(RowBuffer buffer) throws IOException {
    try (UpdateCursor sorted = buffer.sorted()) {
      return parts.writeRun(sorted, SCHEMA);
    }
  }

  void add(RowBuffer buffer, long key, int version, long time, long diff) {
    try {
      byte[] row = codec.encode(new Object[] {key, value(key, version)});
      buffer.add(row, 0, row.length, time, diff);
    } catch (InvalidRowException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A hundred characters that compress about as names and addresses do. */
  private static String value(long key, int version) {
    StringBuilder text = new StringBuilder(VALUE_BYTES + 20);
    long bits = key * 0x9E3779B97F4A7C15L + version * 0xC2B2AE3D27D4EB4FL;
    while (text.length() < VALUE_BYTES) {
      bits ^= bits >>> 29;
      bits *= 0xBF58476D1CE4E5B9L;
      text.append("street ").append(bits & 0xffff).append(", ");
    }
    text.setLength(VALUE_BYTES);
    return text.toString();
  }

  Batch fresh(BatchDescription bounds, List<List<Part>> runs) {
    return Batch.of(names.id(), bounds, Frontier.MINIMUM, 0, runs, List.of(), 1);
  }

  @Override
  public List<KeyRange> chunks(ShardState state, List<Batch> inputs) throws IOException {
    return MergeChunks.cut(parts, inputs, chunkBytes);
  }

  @Override
  public Merged merge(ShardState state, List<Batch> inputs, Frontier since, KeyRange chunk)
      throws IOException {
    long begin = THREADS.getCurrentThreadCpuTime();
    RunMerger.Chunk wanted = new RunMerger.Chunk(chunk, 1, chunk.from() == null);
    List<String> ids = inputs.stream().map(Batch::id).toList();
    Batch merged = merger.merge(state, ids, since, names.id(), wanted).orElseThrow();
    return new Merged(merged, THREADS.getCurrentThreadCpuTime() - begin);
  }
}
