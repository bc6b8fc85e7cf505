package dev.tidemark.flink.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.flink.source.SeenFiles.Found;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.core.fs.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Which files of a watched folder are read, and what is remembered of them. */
class SeenFilesTest {
  private static Found file(String name, long length, long changed) {
    return new Found("file:/in/" + name, length, changed);
  }

  private static List<String> names(List<Found> files) {
    return files.stream().map(file -> file.path().substring(9)).toList();
  }

  @Test
  void aFileIsTakenOnceWhenTwoLooksFoundItAlike() {
    SeenFiles seen = new SeenFiles();
    assertThat(seen.look(List.of(file("b", 5, 1), file("a", 7, 1)), 0)).isEmpty();
    assertThat(names(seen.look(List.of(file("b", 5, 1), file("a", 7, 1)), 1)))
        .as("in the order found")
        .containsExactly("b", "a");
    assertThat(seen.look(List.of(file("b", 5, 1), file("a", 7, 1)), 2)).isEmpty();
    SeenFiles restored = new SeenFiles(seen.remembered());
    List<Found> later = List.of(file("b", 5, 1), file("a", 7, 1), file("c", 1, 3));
    assertThat(restored.look(later, 3)).isEmpty();
    assertThat(names(restored.look(later, 4))).containsExactly("c");
  }

  @Test
  @DisplayName("P-IN-03c: a file that grows isn't taken")
  void aGrowingFileIsLeftAloneUntilItRests() {
    SeenFiles seen = new SeenFiles();
    for (int look = 0; look < 5; look++) {
      assertThat(seen.look(List.of(file("grows", 10 + look, look)), look)).isEmpty();
    }
    assertThat(seen.look(List.of(file("grows", 14, 4)), 5)).hasSize(1);
    SeenFiles empty = new SeenFiles();
    assertThat(empty.look(List.of(file("empty", 0, 0)), 0)).isEmpty();
    assertThat(empty.look(List.of(file("empty", 0, 0)), 1)).as("nothing in it yet").isEmpty();
  }

  @Test
  @DisplayName("P-IN-03c: one that was taken too early is refused by name, never half lost")
  void aFileThatChangedAfterItWasTakenIsRefused() {
    SeenFiles seen = new SeenFiles();
    seen.look(List.of(file("slow", 10, 1)), 0);
    seen.look(List.of(file("slow", 10, 1)), 1);
    SeenFiles restored = new SeenFiles(seen.remembered());
    assertThatThrownBy(() -> restored.look(List.of(file("slow", 20, 9)), 2))
        .hasMessageContaining("file:/in/slow was read when it had 10 bytes and has 20 now")
        .hasMessageContaining("rename them into the watched folder");
  }

  @Test
  @DisplayName("P-PF-04: 16 bytes a file, and those that went are forgotten after a day")
  void memoryFollowsTheFilesThatAreThere() {
    SeenFiles seen = new SeenFiles();
    List<Found> many = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      many.add(file("part-" + i, 100, 1));
    }
    seen.look(many, 0);
    assertThat(seen.look(many, 1)).hasSize(20_000);
    assertThat(seen.remembered()).hasSize(2 * 20_000);
    List<Found> few = many.subList(0, 10);
    seen.look(few, 2);
    seen.look(few, SeenFiles.FORGET_MILLIS);
    assertThat(seen.remembered()).as("a listing may be short").hasSize(2 * 20_000);
    assertThat(seen.look(many, SeenFiles.FORGET_MILLIS + 1)).as("none twice").isEmpty();
    seen.look(few, SeenFiles.FORGET_MILLIS + 2);
    seen.look(few, 2 * SeenFiles.FORGET_MILLIS + 2);
    assertThat(seen.remembered()).hasSize(2 * 10);
  }

  @Test
  void itsStateStaysReadable() throws Exception {
    FileSourceSplit split =
        new FileSourceSplit("0000000000000000007", new Path("file:/in/a.jsonl"), 0, 5, 9, 5);
    WatchState state = new WatchState(8, new long[] {-2, 100, 77, 5}, List.of(split));
    byte[] written = WatchState.Serializer.INSTANCE.serialize(state);
    byte[] golden = dev.tidemark.flink.GoldenBytes.read("watch-state-1");
    assertThat(HexFormat.of().formatHex(written)).isEqualTo(HexFormat.of().formatHex(golden));
    WatchState read = WatchState.Serializer.INSTANCE.deserialize(1, golden);
    assertThat(read.next()).isEqualTo(8);
    assertThat(read.seen()).containsExactly(-2, 100, 77, 5);
    assertThat(read.pending()).hasSize(1);
    assertThat(read.pending().get(0).splitId()).isEqualTo(split.splitId());
    assertThat(read.pending().get(0).path()).isEqualTo(split.path());
    assertThatThrownBy(() -> WatchState.Serializer.INSTANCE.deserialize(2, golden))
        .hasMessageContaining("newer build");
    for (int length = 0; length < golden.length; length++) {
      byte[] cut = java.util.Arrays.copyOf(golden, length);
      assertThatThrownBy(() -> WatchState.Serializer.INSTANCE.deserialize(1, cut))
          .isInstanceOf(java.io.IOException.class);
    }
  }
}
