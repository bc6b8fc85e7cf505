package dev.tidemark.store;

import static dev.tidemark.store.ObjectStoreContract.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StoresTest {
  private static ObjectStore open(String url) {
    return Stores.open(url, StoreSettings.DEFAULT);
  }

  @ParameterizedTest
  @CsvSource({
    "file:///data/shards, file:///data/shards",
    "file:///data/shards/, file:///data/shards",
    "file:/data/a%20b, file:///data/a%20b",
    "/data/../shards, file:///shards",
    "memory:StoresTest, memory:StoresTest",
    "memory:StoresTest/, memory:StoresTest",
    "memory:StoresTest/a/b, memory:StoresTest/a/b",
    "memory:StoresTest/a/b/, memory:StoresTest/a/b",
  })
  void location(String url, String location) {
    try (ObjectStore store = open(url)) {
      assertThat(store.location()).isEqualTo(location);
    }
    Stores.forgetMemory("StoresTest");
  }

  @Test
  void plainPath() {
    assertThat(open("data/shards").location())
        .isEqualTo("file://" + Path.of("data/shards").toAbsolutePath());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "hdfs://namenode/x",
        "http://localhost/x",
        "s3a://bucket/x",
        "s3:bucket",
        "s3://",
        "s3:///x",
        "s3://bad bucket/x",
        "s3://bucket//x",
        "s3://bucket/a/../b",
        "file://host/x",
        "file:x",
        "memory:",
        "memory:/x",
        "memory:x/../y",
      })
  void refused(String url) {
    assertThatThrownBy(() -> open(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'" + url + "' is no place for a shard");
  }

  @Test
  void missingBucketIsNamed() {
    assertThatThrownBy(() -> open("s3:///orders")).hasMessageContaining("names no bucket");
  }

  @Test
  void memoryIsOnePerNameUntilForgotten() throws Exception {
    open("memory:one/a").put("k", Body.of(bytes("v")));
    assertThat(open("memory:one").get("a/k")).contains(bytes("v"));
    assertThat(open("memory:two").get("a/k")).isEmpty();
    Stores.forgetMemory("one");
    assertThat(open("memory:one").get("a/k")).isEmpty();
    Stores.forgetMemory("one");
    Stores.forgetMemory("two");
  }

  @Test
  void settingsDoNotPrintSecrets() {
    StoreSettings settings = new StoreSettings(Map.of("secret-key", "hush"));
    assertThat(settings.toString()).contains("secret-key").doesNotContain("hush");
  }

  @Test
  void probeRefusesAStoreThatIgnoresTheCondition() {
    ObjectStore careless =
        new ForwardingStore(new MemoryStore("careless")) {
          @Override
          public Created putIfAbsent(String key, byte[] body) throws StoreException {
            put(key, Body.of(body));
            return Created.YES;
          }
        };
    assertThatThrownBy(() -> Stores.probe(careless))
        .isInstanceOfSatisfying(
            StoreException.class,
            e -> assertThat(e.reason()).isEqualTo(StoreException.Reason.UNSUPPORTED))
        .hasMessage(
            "the store at memory:careless overwrote an object despite If-None-Match: *;"
                + " exactly-once is impossible there");
  }

  @Test
  void probeReportsAMissingRightToDelete() throws Exception {
    ObjectStore keeping =
        new ForwardingStore(new MemoryStore("keeping")) {
          @Override
          public void delete(List<String> keys) throws StoreException {
            throw new StoreException(
                StoreException.Reason.DENIED, false, "no s3:DeleteObject", null);
          }
        };
    ProbeReport report = Stores.probe(keeping);
    assertThat(report.mayDelete()).isFalse();
    assertThat(report.warnings()).singleElement().asString().contains("no s3:DeleteObject");
  }
}
