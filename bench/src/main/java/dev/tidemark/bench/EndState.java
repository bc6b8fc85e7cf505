package dev.tidemark.bench;

import dev.tidemark.log.ShardLog;
import dev.tidemark.read.ShardReader;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.shard.ShardState;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * What a shard must hold at the end: rows and a sum of their hashes, computed from the generator
 * alone.
 */
final class EndState {
  private EndState() {}

  static boolean matches(ShardLog log, ShardState state, Workload workload, int parallelism)
      throws IOException {
    Generator generator = new Generator(GatedSource.SEED, workload.keys(), parallelism);
    long perSubtask = (long) workload.commits() * (workload.rowsPerCommit() / parallelism);
    long rows = 0;
    long hash = 0;
    for (int subtask = 0; subtask < parallelism; subtask++) {
      long[] last = new long[generator.keysPerSubtask()];
      for (long row = 0; row < perSubtask; row++) {
        int key = generator.localKey(subtask, row);
        if (workload.envelope() == Workload.Kind.APPEND) {
          rows++;
          hash += Generator.hash(generator.key(subtask, key), generator.value(subtask, row));
        }
        last[key] = row + 1;
      }
      for (int key = 0; key < last.length; key++) {
        if (last[key] != 0 && workload.envelope() != Workload.Kind.APPEND) {
          rows++;
          hash +=
              Generator.hash(generator.key(subtask, key), generator.value(subtask, last[key] - 1));
        }
      }
    }
    RowCodec codec = new RowCodec(state.schema());
    long asOf = state.upper().time() - 1;
    try (UpdateCursor cursor = new ShardReader(log).snapshot(state, asOf)) {
      while (cursor.next()) {
        Object[] values = codec.decode(cursor.row(), cursor.rowOffset(), cursor.rowLength());
        rows -= cursor.diff();
        hash -=
            cursor.diff()
                * Generator.hash(
                    ((String) values[0]).getBytes(StandardCharsets.UTF_8),
                    ((String) values[2]).getBytes(StandardCharsets.UTF_8));
      }
    }
    return rows == 0 && hash == 0;
  }
}
