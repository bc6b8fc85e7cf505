package dev.tidemark.log;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.row.Seeds;
import dev.tidemark.shard.Fact;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.PartLocation;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LogCodecTest {
  private static byte[] golden(String name) throws IOException {
    try (InputStream in = LogCodecTest.class.getResourceAsStream("/golden/log-1.0/" + name)) {
      assertThat(in).as(name).isNotNull();
      return in.readAllBytes();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "create.json",
        "append.json",
        "append-counted.json",
        "sweep.json",
        "hand-over.json",
        "retire.json",
        "alter.json",
        "rollup-with-later-keys.json"
      })
  void samplesOfThisFormatReadAndWriteTheSame(String name) throws IOException {
    byte[] sample = golden(name);
    LogEntry entry = LogCodec.decode(sample, name);
    assertThat(new String(LogCodec.encode(entry), UTF_8)).isEqualTo(new String(sample, UTF_8));
  }

  @Test
  void theAppendSampleMeansWhatItSays() throws IOException {
    LogEntry entry = LogCodec.decode(golden("append.json"), "append.json");
    assertThat(entry.seqno().value()).isEqualTo(42);
    assertThat(entry.by().attempt().writer()).isEqualTo("orders");
    assertThat(entry.diff().remove()).containsExactly(new Fact.UpperFact(Frontier.of(1000)));
    Batch batch = ((Fact.BatchFact) entry.diff().add().get(2)).batch();
    assertThat(batch.bounds().lower()).isEqualTo(Frontier.of(1000));
    assertThat(batch.since()).isEqualTo(Frontier.MINIMUM);
    assertThat(batch.sum()).hasValue(10);
    assertThat(batch.runs().get(0).get(0).location())
        .isEqualTo(
            new PartLocation.Stored("part/2026-11-30/01JDXP4V9T3Q.parquet", 1234, "00c0ffee"));
    assertThat(batch.runs().get(1).get(0).minKey()).isNull();
  }

  @Test
  @DisplayName("persist 71: what a later minor format added is kept")
  void keysAndFactsOfALaterMinorFormatAreKept() throws IOException {
    LogEntry entry = LogCodec.decode(golden("rollup-with-later-keys.json"), "rollup");
    Batch batch = ((Fact.BatchFact) entry.diff().add().get(0)).batch();
    assertThat(batch.extra()).isEqualTo(Map.of("later", "{\"a\":[1,2.50]}"));
    assertThat(batch.maxTime()).isEqualTo(Long.MIN_VALUE);
    assertThat(batch.sum()).isEmpty();
    assertThat(entry.diff().add())
        .contains(
            new Fact.UnknownFact("keeper", "\"k\"", Map.of("id", "\"k\"", "of", "[true,null]")),
            new Fact.UnknownFact("later", "", Map.of("", "12")));
  }

  @Test
  @DisplayName("persist 71: a newer major format is refused, both named")
  void aNewerMajorFormatIsRefusedWithBothVersionsNamed() {
    assertThatThrownBy(() -> LogCodec.decode(golden("newer.json"), "log/7.json"))
        .isInstanceOfSatisfying(
            LogFormatException.class,
            e -> {
              assertThat(e.newerFormat()).isTrue();
              assertThat(e).hasMessageContaining("log/7.json").hasMessageContaining("2.0");
              assertThat(e).hasMessageContaining("1.0");
            });
    assertThatThrownBy(
            () ->
                LogCodec.decodeFact(
                    "{\"shard\":{\"id\":\"x\",\"format\":\"2.0\"}}".getBytes(UTF_8), "fact"))
        .isInstanceOfSatisfying(
            LogFormatException.class, e -> assertThat(e.newerFormat()).isTrue());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "[]",
        "{}",
        "{\"upper\":1,\"since\":2}",
        "{\"upper\":1.5}",
        "{\"upper\":9223372036854775808}",
        "{\"upper\":null}",
        "{\"upper\":\"max\"}",
        "{\"upper\":1}x",
        "{\"upper\":1,\"upper\":1}",
        "{\"swept\":\"yesterday\"}",
        "{\"later\":\"\\ud800\"}",
        "{\"batch\":{\"id\":\"b\",\"lower\":5,\"upper\":5}}",
        "{\"schema\":{\"id\":1,\"columns\":[{\"id\":1,\"name\":\"a\",\"type\":\"INTERVAL\","
            + "\"nullable\":true}],\"key\":[]}}"
      })
  void whatIsNoFactIsRefused(String text) {
    assertThatThrownBy(() -> LogCodec.decodeFact(text.getBytes(UTF_8), "log/1.json"))
        .isInstanceOf(LogFormatException.class)
        .hasMessageContaining("log/1.json");
  }

  @Test
  void deepNestingIsRefused() {
    String deep = "{\"later\":" + "[".repeat(100_000) + "]".repeat(100_000) + "}";
    assertThatThrownBy(() -> LogCodec.decodeFact(deep.getBytes(UTF_8), "fact"))
        .isInstanceOf(LogFormatException.class);
    String type = "ARRAY<".repeat(100_000);
    String schema =
        "{\"schema\":{\"id\":1,\"columns\":[{\"id\":1,\"name\":\"a\",\"type\":\""
            + type
            + "\",\"nullable\":true}],\"key\":[]}}";
    assertThatThrownBy(() -> LogCodec.decodeFact(schema.getBytes(UTF_8), "fact"))
        .isInstanceOf(LogFormatException.class);
  }

  @Test
  void anyEntryComesBackAsItWas() {
    Seeds.each(
        50,
        random -> {
          LogEntry entry = new RandomFacts(random).entry();
          byte[] bytes = LogCodec.encode(entry);
          LogEntry back = LogCodec.decode(bytes, "entry");
          assertThat(back).isEqualTo(entry);
          assertThat(LogCodec.encode(back)).isEqualTo(bytes);
          for (Fact fact : entry.diff().add()) {
            assertThat(LogCodec.decodeFact(LogCodec.encodeFact(fact), "fact")).isEqualTo(fact);
          }
        });
  }

  @Test
  void damagedBytesAreReadOrRefusedByName() {
    Seeds.each(
        50,
        random -> {
          byte[] bytes = LogCodec.encode(new RandomFacts(random).entry());
          for (int i = 0; i < 20; i++) {
            byte[] damaged = damage(bytes, random);
            try {
              byte[] once = LogCodec.encode(LogCodec.decode(damaged, "log/1.json"));
              assertThat(LogCodec.encode(LogCodec.decode(once, "again"))).isEqualTo(once);
            } catch (LogFormatException e) {
              assertThat(e).hasMessageContaining("log/1.json");
            }
          }
        });
  }

  private static final String[] SNIPPETS = {
    "{", "}", "[", "]", "\"", ",", ":", "null", "-1", "1e999999999", "\"min\"", "\\ud800", "\u0000"
  };

  /** A cut, a flipped bit, a snippet put in or over, or a piece that stands twice. */
  private static byte[] damage(byte[] bytes, Random random) {
    byte[] damaged = bytes.clone();
    for (int i = 1 + random.nextInt(3); i > 0 && damaged.length > 0; i--) {
      int at = random.nextInt(damaged.length);
      byte[] snippet = SNIPPETS[random.nextInt(SNIPPETS.length)].getBytes(UTF_8);
      damaged =
          switch (random.nextInt(5)) {
            case 0 -> Arrays.copyOf(damaged, at);
            case 1 -> {
              damaged[at] ^= (byte) (1 << random.nextInt(8));
              yield damaged;
            }
            case 2 -> splice(damaged, at, at, snippet);
            case 3 -> splice(damaged, at, Math.min(damaged.length, at + snippet.length), snippet);
            default ->
                splice(
                    damaged,
                    at,
                    at,
                    Arrays.copyOfRange(damaged, at, at + random.nextInt(damaged.length - at + 1)));
          };
    }
    return damaged;
  }

  private static byte[] splice(byte[] bytes, int from, int to, byte[] piece) {
    byte[] spliced = Arrays.copyOf(bytes, from + piece.length + bytes.length - to);
    System.arraycopy(piece, 0, spliced, from, piece.length);
    System.arraycopy(bytes, to, spliced, from + piece.length, bytes.length - to);
    return spliced;
  }
}
