package dev.tidemark.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.store.ObjectStore.Created;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What every store must do. */
public abstract class ObjectStoreContract {
  private static final int RACES = 100;
  private static final int MIB = 1 << 20;

  /** More than a page of S3's listings. */
  private static final int MANY_KEYS = 1_060;

  private ObjectStore store;

  /** Opens the store under test below a prefix; the same one each time within a test. */
  protected abstract ObjectStore open(String prefix) throws Exception;

  @BeforeEach
  void openBelowPrefixOfOurOwn() throws Exception {
    store = open("contract/" + UUID.randomUUID() + "/");
  }

  @AfterEach
  void close() {
    store.close();
  }

  @Test
  void missingKeyIsEmpty() throws Exception {
    assertThat(store.get("a/b")).isEmpty();
    assertThat(store.getRange("a/b", 0, 3)).isEmpty();
    assertThat(store.getRange("a/b", 0, 0)).isEmpty();
    assertThat(store.list("", "", 10)).isEmpty();
    assertThat(store.listFolders("")).isEmpty();
  }

  @Test
  @DisplayName("persist 70: created once, and never again")
  void createdOnceAndNeverAgain() throws Exception {
    assertThat(store.putIfAbsent("log/1", bytes("first"))).isEqualTo(Created.YES);
    assertThat(store.putIfAbsent("log/1", bytes("second"))).isEqualTo(Created.EXISTS);
    assertThat(store.putIfAbsent("log/1", bytes("first"))).isEqualTo(Created.EXISTS);
    assertThat(store.get("log/1")).contains(bytes("first"));
  }

  @Test
  void createAfterDelete() throws Exception {
    store.putIfAbsent("log/1", bytes("first"));
    store.delete(List.of("log/1"));
    assertThat(store.putIfAbsent("log/1", bytes("second"))).isEqualTo(Created.YES);
    assertThat(store.get("log/1")).contains(bytes("second"));
  }

  @Test
  void oneOfTwoRacingWritersWins() throws Exception {
    ObjectStore other = open(folderOf(store));
    CyclicBarrier barrier = new CyclicBarrier(2);
    ExecutorService pool = Executors.newFixedThreadPool(2);
    try {
      for (int round = 0; round < RACES; round++) {
        String key = "race/" + round;
        Future<Created> left = pool.submit(() -> race(barrier, store, key, "left"));
        Future<Created> right = pool.submit(() -> race(barrier, other, key, "right"));
        assertThat(List.of(left.get(), right.get()))
            .as(key)
            .containsExactlyInAnyOrder(Created.YES, Created.EXISTS);
        assertThat(store.get(key))
            .as(key)
            .contains(bytes(left.get() == Created.YES ? "left" : "right"));
      }
    } finally {
      pool.shutdownNow();
      other.close();
    }
  }

  private static Created race(CyclicBarrier barrier, ObjectStore store, String key, String bytes)
      throws Exception {
    barrier.await();
    return store.putIfAbsent(key, bytes(bytes));
  }

  @Test
  @DisplayName("persist 70: a put replaces the whole")
  void putReplacesWhole() throws Exception {
    store.put("hold/x", Body.of(bytes("a longer first text")));
    store.put("hold/x", new Body(List.of(bytes("sec"), bytes(""), bytes("ond"))));
    assertThat(store.get("hold/x")).contains(bytes("second"));
    assertThat(store.list("", "", 10)).extracting(ObjectInfo::sizeBytes).containsExactly(6L);
  }

  @Test
  @DisplayName("persist 70: an object may be empty")
  void emptyObject() throws Exception {
    store.put("empty", new Body(List.of()));
    assertThat(store.putIfAbsent("empty too", new byte[0])).isEqualTo(Created.YES);
    assertThat(store.putIfAbsent("empty", bytes("x"))).isEqualTo(Created.EXISTS);
    assertThat(store.get("empty")).contains(new byte[0]);
    assertThat(store.getRange("empty", 0, 0)).contains(new byte[0]);
    assertThat(store.list("", "", 10))
        .extracting(ObjectInfo::key)
        .containsExactly("empty", "empty too");
  }

  @Test
  void largeBodyInSegments() throws Exception {
    byte[] whole = new byte[40 * MIB + 12_345];
    new Random(7).nextBytes(whole);
    List<byte[]> segments = new ArrayList<>();
    for (int at = 0; at < whole.length; at += 3 * MIB + 1) {
      segments.add(Arrays.copyOfRange(whole, at, Math.min(whole.length, at + 3 * MIB + 1)));
    }
    store.put("part/large", new Body(segments));
    assertThat(Arrays.equals(store.get("part/large").orElseThrow(), whole)).isTrue();
    assertThat(store.list("part/", "", 10))
        .extracting(ObjectInfo::sizeBytes)
        .containsExactly((long) whole.length);
    assertThat(store.getRange("part/large", 17L * MIB - 5, 10))
        .contains(Arrays.copyOfRange(whole, 17 * MIB - 5, 17 * MIB + 5));
  }

  @Test
  void ranges() throws Exception {
    store.put("digits", Body.of(bytes("0123456789")));
    assertThat(store.getRange("digits", 0, 10)).contains(bytes("0123456789"));
    assertThat(store.getRange("digits", 3, 4)).contains(bytes("3456"));
    assertThat(store.getRange("digits", 9, 1)).contains(bytes("9"));
    assertThat(store.getRange("digits", 5, 0)).contains(new byte[0]);
    assertThatThrownBy(() -> store.getRange("digits", 8, 3)).isInstanceOf(StoreException.class);
    assertThatThrownBy(() -> store.getRange("digits", 10, 1)).isInstanceOf(StoreException.class);
    assertThatThrownBy(() -> store.getRange("digits", 11, 1))
        .isInstanceOfSatisfying(
            StoreException.class,
            e -> assertThat(e.reason()).isEqualTo(StoreException.Reason.CORRUPT))
        .hasMessageContaining("digits");
    assertThatThrownBy(() -> store.getRange("digits", -1, 1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void listsInOrderByPrefixAfterAKeyAndInPages() throws Exception {
    List<String> keys =
        List.of("a", "b/1", "b/10", "b/2", "b/c/d", "b-1", "b0", "c/1", "é", "z").stream()
            .sorted(Keys.ORDER)
            .toList();
    for (String key : keys) {
      store.put(key, Body.of(bytes(key)));
    }
    assertThat(keys("", "", 100)).isEqualTo(keys);
    assertThat(keys("b", "", 100)).containsExactly("b-1", "b/1", "b/10", "b/2", "b/c/d", "b0");
    assertThat(keys("b/", "", 100)).containsExactly("b/1", "b/10", "b/2", "b/c/d");
    assertThat(keys("b/1", "", 100)).containsExactly("b/1", "b/10");
    assertThat(keys("b/", "b/10", 100)).containsExactly("b/2", "b/c/d");
    assertThat(keys("b/", "b/11", 100)).containsExactly("b/2", "b/c/d");
    assertThat(keys("b/", "a", 100)).containsExactly("b/1", "b/10", "b/2", "b/c/d");
    assertThat(keys("b/", "b/c", 100)).containsExactly("b/c/d");
    assertThat(keys("b/", "c", 100)).isEmpty();
    assertThat(keys("x/", "", 100)).isEmpty();
    assertThat(keys("", "", 0)).isEmpty();
    List<String> paged = new ArrayList<>();
    for (List<String> page = keys("", "", 3); !page.isEmpty(); ) {
      assertThat(page).hasSizeLessThanOrEqualTo(3);
      paged.addAll(page);
      page = keys("", paged.get(paged.size() - 1), 3);
    }
    assertThat(paged).isEqualTo(keys);
  }

  @Test
  void listsAndDeletesMoreThanAPage() throws Exception {
    List<String> keys =
        IntStream.range(0, MANY_KEYS).mapToObj(n -> String.format("many/%06d", n)).toList();
    keys.parallelStream()
        .forEach(
            key -> {
              try {
                store.put(key, Body.of(bytes("x")));
              } catch (StoreException e) {
                throw new AssertionError(e);
              }
            });
    assertThat(keys("many/", "", Integer.MAX_VALUE)).isEqualTo(keys);
    assertThat(keys("many/", "", 1_020)).isEqualTo(keys.subList(0, 1_020));
    assertThat(keys("many/", keys.get(999), 50)).isEqualTo(keys.subList(1_000, 1_050));
    store.delete(keys);
    assertThat(keys("", "", 10)).isEmpty();
  }

  @Test
  void listedTimesAreTheStores() throws Exception {
    store.put("k", Body.of(bytes("v")));
    Instant modified = store.list("", "", 1).get(0).modified();
    assertThat(Duration.between(modified, Instant.now()).abs()).isLessThan(Duration.ofMinutes(1));
  }

  @Test
  void folders() throws Exception {
    for (String key : List.of("part/2026-01-02/a", "part/2026-01-02/b", "part/2026-01-03/x/y")) {
      store.put(key, Body.of(bytes("v")));
    }
    store.put("part/file", Body.of(bytes("v")));
    store.put("log/1", Body.of(bytes("v")));
    assertThat(store.listFolders("")).containsExactly("log/", "part/");
    assertThat(store.listFolders("part/")).containsExactly("2026-01-02/", "2026-01-03/");
    assertThat(store.listFolders("none/")).isEmpty();
    store.delete(List.of("part/2026-01-02/a", "part/2026-01-02/b"));
    assertThat(store.listFolders("part/")).containsExactly("2026-01-03/");
  }

  @Test
  @DisplayName("persist 70: deleting what is not there is no error")
  void deletingWhatIsNotThereIsNoError() throws Exception {
    store.put("a", Body.of(bytes("v")));
    store.delete(List.of());
    store.delete(List.of("nothing"));
    store.delete(List.of("nothing", "no/where", "a"));
    store.delete(List.of("a"));
    assertThat(store.get("a")).isEmpty();
  }

  @Test
  void oddKeys() throws Exception {
    List<String> keys =
        List.of(
            "a b/c+d",
            "100%",
            "%2F/%",
            "q?x=1&y=2",
            "#h",
            "ümläut/日本",
            "a'b\"c",
            "~t/!*()",
            "=,;:@",
            "_dot/.hidden",
            "-",
            "back\\slash",
            "<x>&amp;");
    for (String key : keys) {
      assertThat(store.putIfAbsent(key, bytes(key))).as(key).isEqualTo(Created.YES);
    }
    for (String key : keys) {
      assertThat(store.get(key)).as(key).contains(bytes(key));
    }
    assertThat(keys("", "", 100)).isEqualTo(keys.stream().sorted(Keys.ORDER).toList());
    store.delete(keys);
    assertThat(keys("", "", 100)).isEmpty();
  }

  @Test
  void keysThatNoStoreTakes() {
    for (String key :
        List.of("", "/a", "a/", "a//b", "../a", "a/../b", "a/..", "./a", "a\nb", "a\0b")) {
      assertThatThrownBy(() -> store.put(key, Body.of(bytes("x"))))
          .as(key)
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> store.get(key)).isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> store.get("k".repeat(1_025)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> store.list("../", "", 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> store.under("x")).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> store.under("../")).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void underIsTheSameStore() throws Exception {
    ObjectStore orders = store.under("orders/");
    ObjectStore parts = orders.under("part/");
    parts.put("p1", Body.of(bytes("v")));
    assertThat(store.get("orders/part/p1")).contains(bytes("v"));
    assertThat(orders.list("part/", "", 10)).extracting(ObjectInfo::key).containsExactly("part/p1");
    assertThat(parts.list("", "p0", 10)).extracting(ObjectInfo::key).containsExactly("p1");
    assertThat(parts.list("", "p1", 10)).isEmpty();
    assertThat(orders.listFolders("")).containsExactly("part/");
    assertThat(parts.location()).isEqualTo(store.location() + "/orders/part");
    orders.close();
    assertThat(parts.get("p1")).contains(bytes("v"));
    parts.delete(List.of("p1"));
    assertThat(store.get("orders/part/p1")).isEmpty();
  }

  @Test
  void requestsAreCounted() throws Exception {
    RequestCounts counts = store.requests();
    long puts = counts.puts();
    long gets = counts.gets();
    long lists = counts.lists();
    long deletes = counts.deletes();
    long written = counts.bytesWritten();
    long read = counts.bytesRead();
    store.putIfAbsent("a", bytes("12345"));
    store.put("b", Body.of(bytes("123")));
    store.under("x/").put("c", Body.of(bytes("12")));
    store.get("a");
    store.get("none");
    store.getRange("a", 1, 2);
    store.list("", "", 10);
    store.listFolders("");
    store.delete(List.of("a", "b"));
    assertThat(counts.puts() - puts).isEqualTo(3);
    assertThat(counts.bytesWritten() - written).isEqualTo(10);
    assertThat(counts.gets() - gets).isEqualTo(3);
    assertThat(counts.bytesRead() - read).isEqualTo(7);
    assertThat(counts.lists() - lists).isEqualTo(2);
    assertThat(counts.deletes() - deletes).isEqualTo(1);
  }

  @Test
  void whatIsHandedOverIsNotShared() throws Exception {
    byte[] bytes = bytes("abc");
    store.putIfAbsent("k", bytes);
    bytes[0] = 'x';
    store.get("k").orElseThrow()[1] = 'x';
    assertThat(store.get("k")).contains(bytes("abc"));
  }

  @Test
  void probePassesAndLeavesNothing() throws Exception {
    ProbeReport report = Stores.probe(store);
    assertThat(report.mayDelete()).isTrue();
    assertThat(report.warnings()).isEmpty();
    assertThat(store.list("", "", 10)).isEmpty();
  }

  private List<String> keys(String prefix, String startAfter, int limit) throws StoreException {
    return store.list(prefix, startAfter, limit).stream().map(ObjectInfo::key).toList();
  }

  /** The prefix with which {@link #open} gave this store. */
  private static String folderOf(ObjectStore store) {
    String location = store.location();
    return location.substring(location.indexOf("contract/")) + "/";
  }

  static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }
}
