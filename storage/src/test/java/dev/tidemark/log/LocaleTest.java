package dev.tidemark.log;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.log.LogFixture.TestPacing;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.time.Frontier;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What one host writes another reads, whatever digits its people write. */
class LocaleTest {
  private static final LogIntervals SHORT = new LogIntervals(4, 8);

  private final Locale display = Locale.getDefault(Locale.Category.DISPLAY);
  private final Locale format = Locale.getDefault(Locale.Category.FORMAT);

  @BeforeEach
  void otherDigits() {
    Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
    assertThat(String.format("%d", 7)).as("the digits of this host").isEqualTo("\u0667");
  }

  @AfterEach
  void asBefore() {
    Locale.setDefault(format);
    Locale.setDefault(Locale.Category.DISPLAY, display);
  }

  @Test
  void keysAreInAsciiDigits() {
    assertThat(LogFiles.entryKey(SeqNo.ZERO)).isEqualTo("log/00000000000000000000.json");
    assertThat(LogFiles.entryKey(new SeqNo(1_234_567_890)))
        .isEqualTo("log/00000000001234567890.json");
    assertThat(LogFiles.entryKey(new SeqNo(Long.MAX_VALUE)))
        .isEqualTo("log/09223372036854775807.json");
    assertThat(LogFiles.rollupKey(new SeqNo(64))).isEqualTo("rollup/00000000000000000064.json");
    assertThat(LogFiles.closedKey(0)).isEqualTo("log/closed/0000000000.json");
    assertThat(LogFiles.closedKey(1_234_567_890)).isEqualTo("log/closed/1234567890.json");
    assertThat(LogFiles.number(LogFiles.entryKey(new SeqNo(97)))).hasValue(97);
    assertThat(LogFiles.number(LogFiles.rollupKey(new SeqNo(64)))).hasValue(64);
    assertThat(LogFiles.closedBlock(LogFiles.closedKey(3))).hasValue(3);
  }

  @Test
  void keysInOtherDigitsAreNobodys() {
    String digits = String.format("%020d", 7);
    assertThat(LogFiles.number("log/" + digits + ".json")).isEmpty();
    assertThat(LogFiles.number("rollup/" + digits + ".json")).isEmpty();
    assertThat(LogFiles.closedBlock("log/closed/" + String.format("%010d", 7) + ".json")).isEmpty();
  }

  /** Entries, rollups, the marker of a closed block. */
  private static Map<String, String> work() throws Exception {
    MemoryStore store = new MemoryStore("digits");
    ShardLog log = new ShardLog(store, new TestPacing(1), SHORT);
    log.commit(LogFixture.create("shard-1"), LogFixture.author("a"));
    for (long upper = 10; upper <= 200; upper += 10) {
      Frontier lower = upper == 10 ? Frontier.MINIMUM : Frontier.of(upper - 10);
      log.commit(
          LogFixture.append("a", LogFixture.batch("b" + upper, lower, upper)),
          LogFixture.author("a"));
    }
    LogBlocks blocks = log.blocks();
    blocks.close(blocks.firstOpen());
    Map<String, String> objects = new TreeMap<>();
    for (ObjectInfo object : store.list("", "", 1000)) {
      objects.put(object.key(), new String(store.get(object.key()).orElseThrow(), UTF_8));
    }
    return objects;
  }

  @Test
  void theLogIsTheSameToTheByte() throws Exception {
    Map<String, String> objects = work();
    assertThat(objects.keySet())
        .anyMatch(key -> key.startsWith("log/0"))
        .anyMatch(key -> key.startsWith("rollup/"))
        .contains("log/closed/0000000000.json");
    Locale.setDefault(Locale.ROOT);
    assertThat(work()).isEqualTo(objects);
  }

  @Test
  void whatIsWrittenIsReadElsewhere() throws Exception {
    MemoryStore store = new MemoryStore("digits");
    ShardLog here = new ShardLog(store, new TestPacing(1), SHORT);
    ShardState state = here.commit(LogFixture.create("s"), LogFixture.author("a")).state();
    for (long upper = 1; upper < 20; upper++) {
      Locale.setDefault(
          List.of(Locale.ROOT, Locale.forLanguageTag("ar-EG-u-nu-arab")).get((int) (upper % 2)));
      Frontier lower = upper == 1 ? Frontier.MINIMUM : Frontier.of(upper - 1);
      ShardLog log = new ShardLog(store, new TestPacing(upper), SHORT);
      assertThat(log.refresh()).isEqualTo(state);
      state =
          log.commit(
                  LogFixture.append("a", LogFixture.empty("e" + upper, lower, upper)),
                  LogFixture.author("a"))
              .state();
    }
    assertThat(here.refresh()).isEqualTo(state);
    assertThat(state.seqno()).isEqualTo(new SeqNo(20));
  }
}
