package dev.tidemark.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LatestCheckpointTest {
  @TempDir private Path folder;

  private void complete(String name, long millis) throws IOException {
    Path metadata = Files.createDirectories(folder.resolve(name)).resolve("_metadata");
    Files.writeString(metadata, "");
    Files.setLastModifiedTime(metadata, FileTime.fromMillis(millis));
  }

  private String newest() throws IOException {
    return LatestCheckpoint.find("file://" + folder)
        .map(LatestCheckpoint.Found::path)
        .orElse("none");
  }

  @Test
  void nothingIsFoundWhereNothingIs() throws IOException {
    assertThat(LatestCheckpoint.find("file://" + folder.resolve("nowhere"))).isEmpty();
    Files.createDirectories(folder.resolve("job1/chk-3"));
    Files.createDirectories(folder.resolve("job1/shared"));
    assertThat(newest()).isEqualTo("none");
  }

  @Test
  void theNewestCompleteOneIsTaken() throws IOException {
    complete("job1/chk-7", 1000);
    complete("job2/chk-8", 2000);
    Files.createDirectories(folder.resolve("job2/chk-9"));
    assertThat(newest()).endsWith("job2/chk-8");
    complete("job2/chk-9", 2000);
    assertThat(newest()).endsWith("job2/chk-9");
    complete("savepoints/savepoint-1", 3000);
    assertThat(newest()).endsWith("savepoints/savepoint-1");
  }

  @Test
  void whatAKillLeftBehindIsSwept() throws IOException {
    complete("job1/chk-7", 1000);
    complete("job1/chk-8", 2000);
    complete("savepoints/savepoint-1", 500);
    LatestCheckpoint.Found newest = LatestCheckpoint.find("file://" + folder).orElseThrow();
    LatestCheckpoint.sweep("file://" + folder, newest);
    assertThat(folder.resolve("job1/chk-7")).doesNotExist();
    assertThat(folder.resolve("job1/chk-8")).exists();
    assertThat(folder.resolve("savepoints/savepoint-1")).exists();
  }

  @Test
  void thoseInAStoreAreFoundBySettings() throws IOException {
    String directory = "memory:" + folder.getFileName() + "/orders";
    StoreSettings settings = new StoreSettings(Map.of());
    assertThat(StoredCheckpoints.newest(directory, settings, true)).isEmpty();
    try (ObjectStore store = Stores.open(directory, settings)) {
      for (String key :
          List.of(
              "job1/chk-9/_metadata",
              "job1/chk-9/state",
              "job1/chk-10/_metadata",
              "job1/chk-11/state",
              "job1/shared/file",
              "savepoints/_metadata")) {
        store.putIfAbsent(key, new byte[] {1});
      }
      assertThat(StoredCheckpoints.newest(directory, settings, false))
          .contains(directory + "/job1/chk-10");
      assertThat(StoredCheckpoints.newest(directory, settings, true))
          .contains(directory + "/job1/chk-10");
      assertThat(store.list("job1/", "", 10))
          .extracting(ObjectInfo::key)
          .containsExactly("job1/chk-10/_metadata", "job1/chk-11/state", "job1/shared/file");
      assertThat(StoredCheckpoints.isComplete(directory + "/job1/chk-10", settings)).isTrue();
      assertThat(StoredCheckpoints.isComplete(directory + "/job1/chk-11", settings)).isFalse();
    }
  }
}
