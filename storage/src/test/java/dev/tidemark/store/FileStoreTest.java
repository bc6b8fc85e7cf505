package dev.tidemark.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileStoreTest extends ObjectStoreContract {
  @TempDir Path folder;

  @Override
  protected ObjectStore open(String prefix) {
    return Stores.open(folder.toString(), StoreSettings.DEFAULT).under(prefix);
  }

  private FileStore store() {
    return new FileStore(folder.resolve("warehouse"));
  }

  @Test
  void thePathIsTheKey() throws Exception {
    store().put("part/2026-01-02/a.parquet", Body.of(bytes("v")));
    Path file = folder.resolve("warehouse/part/2026-01-02/a.parquet");
    assertThat(Files.readString(file)).isEqualTo("v");
    assertThat(store().location()).isEqualTo("file://" + folder.resolve("warehouse"));
  }

  @Test
  void openingMakesNothing() throws Exception {
    assertThat(store().list("", "", 1)).isEmpty();
    assertThat(folder.resolve("warehouse")).doesNotExist();
  }

  @Test
  void aKilledWritersFileIsNoObject() throws Exception {
    store().put("log/1", Body.of(bytes("v")));
    Files.writeString(folder.resolve("warehouse/log/" + Keys.HIDDEN + "x"), "half");
    Files.createDirectories(folder.resolve("warehouse/part/day"));
    Files.writeString(folder.resolve("warehouse/part/day/" + Keys.HIDDEN + "x"), "half");
    assertThat(store().list("", "", 10)).extracting(ObjectInfo::key).containsExactly("log/1");
    assertThat(store().listFolders("")).containsExactly("log/");
    assertThatThrownBy(() -> store().get("log/" + Keys.HIDDEN + "x"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void nothingIsLeftBesideTheObjects() throws Exception {
    FileStore store = store();
    store.putIfAbsent("log/1", bytes("v"));
    store.putIfAbsent("log/1", bytes("w"));
    store.put("log/2", Body.of(bytes("v")));
    store.put("log/2", Body.of(bytes("w")));
    try (var files = Files.list(folder.resolve("warehouse/log"))) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrder("1", "2");
    }
  }

  @Test
  void emptyFoldersGoWithTheirLastObject() throws Exception {
    FileStore store = store();
    store.put("part/day/a", Body.of(bytes("v")));
    store.put("part/day/b", Body.of(bytes("v")));
    store.delete(List.of("part/day/a"));
    assertThat(folder.resolve("warehouse/part/day")).isDirectory();
    store.delete(List.of("part/day/b"));
    assertThat(folder.resolve("warehouse/part")).doesNotExist();
    assertThat(folder.resolve("warehouse")).isDirectory();
  }

  @Test
  void writersAndDeletersOfOneFolderDoNotDisturbEachOther() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(2);
    try {
      List<Future<?>> both =
          List.of(pool.submit(() -> writeAndDelete("a")), pool.submit(() -> writeAndDelete("b")));
      for (Future<?> one : both) {
        one.get();
      }
    } finally {
      pool.shutdownNow();
    }
    assertThat(store().list("", "", 10)).isEmpty();
  }

  private Void writeAndDelete(String name) throws StoreException {
    FileStore store = store();
    for (int n = 0; n < 60; n++) {
      store.put("x/y/" + name, Body.of(bytes("v")));
      store.delete(List.of("x/y/" + name));
    }
    return null;
  }

  @Test
  void aFileWhereTheKeyHasAFolder() throws Exception {
    store().put("a", Body.of(bytes("v")));
    assertThat(store().get("a/b")).isEmpty();
    assertThatThrownBy(() -> store().put("a/b", Body.of(bytes("v"))))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("a/b");
    store().put("c/d", Body.of(bytes("v")));
    assertThat(store().get("c")).isEmpty();
    assertThatThrownBy(() -> store().put("c", Body.of(bytes("v"))))
        .isInstanceOf(StoreException.class);
  }
}
