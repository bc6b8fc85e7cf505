package dev.tidemark.store.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.store.Body;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.ObjectStoreContract;
import dev.tidemark.store.StoreException;
import dev.tidemark.store.StoreException.Reason;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class S3StoreTest extends ObjectStoreContract {
  @TempDir static Path folder;
  private static LocalS3Server server;

  @BeforeAll
  static void start() throws Exception {
    server = LocalS3.start(folder);
    server.createBucket("bucket");
  }

  @AfterAll
  static void stop() {
    server.close();
    assertThat(S3Clients.openSets()).isZero();
  }

  @Override
  protected ObjectStore open(String prefix) {
    return Stores.open("s3://bucket/" + prefix, server.settings());
  }

  private static StoreSettings with(String name, String value) {
    Map<String, String> s3 = new HashMap<>(server.settings().s3());
    s3.put(name, value);
    return new StoreSettings(s3);
  }

  @Test
  void aServersFolderReadsTheSameAsAFileStore() throws Exception {
    try (ObjectStore s3 = open("same/");
        ObjectStore file = Stores.open(folder + "/bucket/same", StoreSettings.DEFAULT)) {
      s3.put("part/2026-01-02/a", Body.of(new byte[] {1, 2, 3}));
      assertThat(file.get("part/2026-01-02/a")).contains(new byte[] {1, 2, 3});
      assertThat(file.list("", "", 10))
          .extracting(ObjectInfo::key)
          .containsExactly("part/2026-01-02/a");
      file.put("log/1", Body.of(new byte[] {4}));
      assertThat(s3.get("log/1")).contains(new byte[] {4});
      s3.delete(List.of("log/1", "part/2026-01-02/a"));
    }
  }

  @Test
  void noSuchBucket() {
    try (ObjectStore store = Stores.open("s3://nowhere/orders", server.settings())) {
      for (ObjectStoreCall call :
          List.<ObjectStoreCall>of(
              () -> store.get("k"),
              () -> store.putIfAbsent("k", new byte[1]),
              () -> store.list("", "", 1),
              () -> Stores.probe(store))) {
        assertThatThrownBy(call::run)
            .isInstanceOfSatisfying(
                StoreException.class, e -> assertThat(e.reason()).isEqualTo(Reason.NO_BUCKET))
            .hasMessageContaining("nowhere")
            .hasMessageContaining(server.endpoint().toString());
      }
    }
  }

  private interface ObjectStoreCall {
    void run() throws Exception;
  }

  @Test
  void wrongCredentials() {
    try (ObjectStore store = Stores.open("s3://bucket/x", with("secret-key", "wrong"))) {
      assertThatThrownBy(() -> Stores.probe(store))
          .isInstanceOfSatisfying(
              StoreException.class,
              e -> {
                assertThat(e.reason()).isEqualTo(Reason.DENIED);
                assertThat(e.retryable()).isFalse();
              })
          .hasMessageContaining("access key " + LocalS3Server.ACCESS_KEY)
          .hasMessageContaining("bucket/x/probe/")
          .hasMessageContaining("s3.secret-key")
          .hasMessageNotContaining("wrong");
    }
  }

  @Test
  @DisplayName("P-S3-04: without new checksums everything works too")
  void checksumRequiredWorksToo() throws Exception {
    try (ObjectStore store = Stores.open("s3://bucket/old/", with("checksum", "required"))) {
      assertThat(Stores.probe(store).mayDelete()).isTrue();
      byte[] large = new byte[17 << 20];
      store.put("large", Body.of(large));
      assertThat(store.getRange("large", 16 << 20, 3)).contains(new byte[3]);
      store.delete(List.of("large", "none"));
    }
  }

  @Test
  void aLargeBodyGoesInParts() throws Exception {
    try (ObjectStore store = open("parts/")) {
      store.put("large", Body.of(new byte[(32 << 20) + 1]));
      // start, three parts, complete
      assertThat(store.requests().puts()).isEqualTo(5);
      assertThat(store.requests().gets()).isEqualTo(1);
      assertThat(store.requests().bytesWritten()).isBetween((32L << 20) + 1, (32L << 20) + 2_000);
      store.delete(List.of("large"));
    }
  }

  @Test
  void clientsAreSharedAndClosedWithTheLastStore() throws Exception {
    StoreSettings settings = with("connections.read", "3");
    int before = S3Clients.openSets();
    ObjectStore one = Stores.open("s3://bucket/one", settings);
    ObjectStore two = Stores.open("s3://bucket/two", settings);
    assertThat(S3Clients.openSets()).isEqualTo(before + 1);
    one.get("k");
    one.close();
    one.close();
    assertThat(two.get("k")).isEmpty();
    assertThatThrownBy(() -> one.get("k")).isInstanceOf(IllegalStateException.class);
    two.close();
    assertThat(S3Clients.openSets()).isEqualTo(before);
  }

  @Test
  void dataOutlivesTheServer(@TempDir Path other) throws Exception {
    try (LocalS3Server first = LocalS3.start(other)) {
      first.createBucket("b-1");
      try (ObjectStore store = Stores.open("s3://b-1/x", first.settings())) {
        store.put("k", Body.of(new byte[] {1}));
      }
      ProcessHandle process = first.process().orElseThrow();
      // A leftover of the same folder is stopped by the next start.
      try (LocalS3Server second = LocalS3.start(other);
          ObjectStore store = Stores.open("s3://b-1/x", second.settings())) {
        assertThat(process.info().arguments()).isEmpty();
        assertThat(store.get("k")).contains(new byte[] {1});
        assertThat(store.putIfAbsent("k", new byte[] {2})).isEqualTo(ObjectStore.Created.EXISTS);
      }
    }
    assertThat(Files.exists(other.resolve(".s3proxy.pid"))).isFalse();
  }
}
