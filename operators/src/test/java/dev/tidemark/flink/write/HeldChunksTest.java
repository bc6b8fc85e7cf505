package dev.tidemark.flink.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.flink.GoldenBytes;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.TestShards;
import dev.tidemark.flink.message.Update;
import dev.tidemark.row.MergeCursor;
import dev.tidemark.row.RowBuffer;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class HeldChunksTest {
  private static final SlotKeys SLOTS = new SlotKeys(1, 1, 16);

  private static UpdateCursor run(long from, long to) {
    RowBuffer buffer = new RowBuffer();
    for (long id = from; id < to; id++) {
      Update row = TestShards.row(SLOTS, 0, id, "text " + id, 1000 + id, 1);
      buffer.add(row.row, 0, row.row.length, row.time, row.diff);
    }
    return buffer.sorted();
  }

  private static List<String> lines(List<byte[]> chunks) throws Exception {
    try (UpdateCursor merged = new MergeCursor(HeldChunks.runs(chunks), Long.MIN_VALUE)) {
      return TestShards.lines(merged);
    }
  }

  @Test
  void readsChunksOfVersionOne() throws Exception {
    byte[] golden = GoldenBytes.read("held-chunk-1");
    assertThat(lines(List.of(golden)))
        .containsExactly("1 text 1 @1001 +1", "2 text 2 @1002 +1", "3 text 3 @1003 +1");
  }

  @Test
  void refusesChunksOfANewerVersion() throws Exception {
    byte[] newer = GoldenBytes.read("held-chunk-1");
    newer[0] = 2;
    assertThatThrownBy(() -> HeldChunks.runs(List.of(newer)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("version 2");
  }

  @Test
  void cutsRunsIntoChunksAndTellsThemApartByTime() throws Exception {
    List<byte[]> chunks = new ArrayList<>();
    HeldChunks.write(run(0, 5000), chunks::add);
    HeldChunks.write(run(5000, 10_000), chunks::add);
    assertThat(chunks).hasSizeGreaterThan(4);
    assertThat(HeldChunks.runs(chunks)).hasSize(2);
    HeldChunks.Split split = HeldChunks.split(chunks, Frontier.of(1000 + 2500));
    assertThat(split.leaving()).isNotEmpty();
    assertThat(split.staying()).isNotEmpty();
    List<byte[]> both = new ArrayList<>(split.staying());
    both.addAll(split.leaving());
    assertThat(lines(both)).hasSize(10_000).isEqualTo(lines(chunks));
    assertThat(lines(split.leaving())).contains("2499 text 2499 @3499 +1");
  }
}
