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
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class HeldChunksTest {
  private static final SlotKeys SLOTS = new SlotKeys(1, 1, 16);

  private static UpdateCursor run(long from, long to) {
    RowBuffer buffer = new RowBuffer();
    for (long id = from; id < to; id++) {
      Update row = TestShards.row(SLOTS, 0, id, text(id), 1000 + id, 1);
      buffer.add(row.row, 0, row.row.length, row.time, row.diff);
    }
    return buffer.sorted();
  }

  /** Hardly to be compressed. */
  private static String text(long id) {
    String text = "";
    for (long n = id + 1; text.length() < 64; n *= 0x9E3779B97F4A7C15L) {
      text += Long.toHexString(n * n);
    }
    return text;
  }

  @TempDir Path temporary;

  private SpillFolder folder() {
    return new SpillFolder(List.of(temporary), 0);
  }

  private static List<byte[]> chunks(UpdateCursor run) throws Exception {
    List<byte[]> chunks = new ArrayList<>();
    HeldChunks.Cutter cutter = new HeldChunks.Cutter(run);
    for (byte[] chunk = cutter.next(); chunk != null; chunk = cutter.next()) {
      chunks.add(chunk);
    }
    return chunks;
  }

  private static List<String> lines(List<byte[]> chunks) throws Exception {
    return TestShards.lines(new HeldChunks.Run(chunks.size(), chunks::get));
  }

  private static List<String> lines(Runs runs) throws Exception {
    try (UpdateCursor merged = new MergeCursor(runs.cursors(), Long.MIN_VALUE)) {
      return TestShards.lines(merged);
    }
  }

  private List<Path> files() throws Exception {
    try (Stream<Path> all = Files.walk(temporary)) {
      return all.filter(Files::isRegularFile).toList();
    }
  }

  @Test
  void readsChunksOfVersionOne() throws Exception {
    byte[] golden = GoldenBytes.read("held-chunk-1");
    assertThat(lines(List.of(golden)))
        .containsExactly("1 text 1 @1001 +1", "2 text 2 @1002 +1", "3 text 3 @1003 +1");
    assertThat(HeldChunks.beginsRun(golden)).isTrue();
    assertThat(HeldChunks.minTime(golden)).isEqualTo(1001);
  }

  @Test
  void refusesChunksOfANewerVersion() throws Exception {
    byte[] newer = GoldenBytes.read("held-chunk-1");
    newer[0] = 2;
    assertThatThrownBy(() -> HeldChunks.minTime(newer))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("version 2");
    assertThatThrownBy(() -> lines(List.of(newer)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("version 2");
  }

  @Test
  void chunkKey() {
    GoldenBytes.check(
        "chunk-key-1", ChunkKey.Serializer.INSTANCE, new ChunkKey(0x0123456789ABCDEFL, 17));
  }

  @Test
  void cutsRunsIntoChunksThatCanBeTakenApart() throws Exception {
    List<byte[]> chunks = chunks(run(0, 10_000));
    assertThat(chunks).hasSizeGreaterThan(4);
    assertThat(HeldChunks.minTime(chunks.get(1))).isGreaterThan(1000);
    try (SpillFolder folder = folder();
        Runs runs = new Runs(folder)) {
      // in any order, and without one
      runs.add(new ChunkKey(7, 3), chunks.get(3));
      runs.add(new ChunkKey(7, 0), chunks.get(0));
      runs.add(new ChunkKey(7, 1), chunks.get(1));
      List<String> expected = new ArrayList<>(lines(chunks.subList(0, 2)));
      expected.addAll(lines(chunks.subList(3, 4)));
      assertThat(lines(runs)).isEqualTo(expected);
      assertThat(runs.minTime()).isEqualTo(1000);
    }
  }

  @Test
  void mergesWhatIsTooMuchToBeReadSideBySideAndLeavesNothingOnDisk() throws Exception {
    try (SpillFolder folder = folder()) {
      Runs runs = new Runs(folder);
      int many = 3 * Runs.SIDE_BY_SIDE;
      for (int i = 0; i < many; i++) {
        runs.add(run(i * 200L, (i + 1) * 200L));
      }
      assertThat(files()).hasSize(1);
      assertThat(folder.bytes()).isEqualTo(Files.size(files().get(0))).isPositive();
      assertThat(runs.cursors()).hasSizeLessThanOrEqualTo(Runs.SIDE_BY_SIDE);
      runs.close();
      assertThat(files()).isEmpty();
      assertThat(folder.bytes()).isZero();
      Runs again = new Runs(folder);
      for (int i = 0; i < many; i++) {
        again.add(run(i * 40L, (i + 1) * 40L));
      }
      assertThat(lines(again)).hasSize(many * 40).doesNotHaveDuplicates();
    }
    try (Stream<Path> left = Files.list(temporary)) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void aDiskThatCantBeWrittenIsNamedWithItsMend() throws Exception {
    Path noFolder = Files.writeString(temporary.resolve("file"), "");
    try (SpillFolder folder = new SpillFolder(List.of(noFolder), 0)) {
      Runs runs = new Runs(folder);
      assertThatThrownBy(() -> runs.add(run(0, 40_000)))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(noFolder.toString())
          .hasMessageContaining("io.tmp.dirs");
    }
  }
}
