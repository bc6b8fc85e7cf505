package dev.tidemark.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.gc.Collector;
import dev.tidemark.gc.GcSettings;
import dev.tidemark.gc.GcWorld;
import dev.tidemark.log.LogFormatException;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.TestShard.Update;
import dev.tidemark.store.Body;
import dev.tidemark.store.MemoryStore;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A shard as an older build left it, log, rollups and parts; it lies in the tree, never to be
 * changed. A rollup is every 4 versions there.
 */
class OldShardTest {
  private final GcWorld.VirtualTime time = new GcWorld.VirtualTime();
  private final MemoryStore store = new MemoryStore("old", time::storeNow);

  @BeforeEach
  void copySample() throws Exception {
    Path root = Path.of(Objects.requireNonNull(getClass().getResource("/shard-1.0")).toURI());
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        String key = root.relativize(file).toString().replace('\\', '/');
        store.put(key, Body.of(Files.readAllBytes(file)));
      }
    }
  }

  private ShardLog log() {
    return new ShardLog(store, time, GcWorld.SHORT);
  }

  private static List<Update> contents(TestShard shard, long asOf) throws Exception {
    return shard.drain(new ShardReader(shard.log()).snapshot(shard.log().refresh(), asOf));
  }

  private static void check(TestShard shard) throws Exception {
    assertThat(contents(shard, 40))
        .containsExactly(
            new Update(0, "v0", 40, 1),
            new Update(1, "v1", 40, 1),
            new Update(2, "v2", 40, 1),
            new Update(3, "v3", 40, 1));
    assertThat(contents(shard, 59))
        .containsExactly(
            new Update(0, null, 59, 1),
            new Update(1, "v1", 59, 1),
            new Update(2, "v2", 59, 1),
            new Update(3, "v3", 59, 1),
            new Update(9, "inline", 59, 1));
  }

  @Test
  @DisplayName("P-OP-01: a shard of format 1.0 is read, appended to, merged and collected")
  void aShardOfFormatOneGoesOn() throws Exception {
    TestShard shard = TestShard.open(log(), 1 << 20, 1000);
    check(shard);
    for (int i = 6; i < 16; i++) {
      shard.append(10 * i + 10, new Update(100 + i, "new", 10 * i + 5, 1));
      while (shard.compactOnce()) {
        check(shard);
      }
    }
    time.pass(Duration.ofDays(3));
    Collector collector = new Collector(log(), GcWorld.BY, GcSettings.DEFAULT);
    assertThat(collector.collect(true).partsDeleted()).isPositive();
    check(TestShard.open(log(), 1 << 20, 2000));
  }

  @ParameterizedTest
  @ValueSource(strings = {"append", "create"})
  @DisplayName("P-OP-01: a newer format is refused by name before anything is written")
  void aNewerFormatIsRefusedBeforeAnyWrite(String command) throws Exception {
    long next = log().refresh().seqno().value() + 1;
    String entry =
        new String(
            store.get(String.format("log/%020d.json", next - 1)).orElseThrow(),
            StandardCharsets.UTF_8);
    String newer =
        entry
            .replace("\"format\":\"1.0\"", "\"format\":\"2.0\"")
            .replace("\"seqno\":" + (next - 1), "\"seqno\":" + next)
            .replace("\"command\":\"append\"", "\"command\":\"" + command + "\"");
    store.put(
        String.format("log/%020d.json", next), Body.of(newer.getBytes(StandardCharsets.UTF_8)));
    long puts = store.requests().puts();
    assertThatThrownBy(() -> TestShard.open(log(), 1 << 20, 1000))
        .isInstanceOfSatisfying(LogFormatException.class, e -> assertThat(e.newerFormat()).isTrue())
        .hasMessageContaining("2.0")
        .hasMessageContaining("1.0");
    assertThat(store.requests().puts()).isEqualTo(puts);
  }
}
