package dev.tidemark.log;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.row.Seeds;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.time.Frontier;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class HoldCodecTest {
  private static final Hold HOLD =
      new Hold(new SeqNo(42), Frontier.of(1000), 900_000, "tail", "reader-7");

  private static byte[] golden(String name) throws Exception {
    try (InputStream in = HoldCodecTest.class.getResourceAsStream("/golden/log-1.0/" + name)) {
      return in.readAllBytes();
    }
  }

  @Test
  void theSampleReadsAndWritesTheSame() throws Exception {
    byte[] sample = golden("hold.json");
    assertThat(HoldCodec.decode(sample, "hold")).isEqualTo(HOLD);
    assertThat(new String(HoldCodec.encode(HOLD), UTF_8)).isEqualTo(new String(sample, UTF_8));
  }

  @Test
  void keysOfALaterMinorFormatAreSkippedAndANewerMajorIsRefused() throws Exception {
    String text = new String(golden("hold.json"), UTF_8);
    String later = text.replace("\"1.0\"", "\"1.7\"").replace("}", ",\"more\":[1]}");
    assertThat(HoldCodec.decode(later.getBytes(UTF_8), "hold")).isEqualTo(HOLD);
    assertThatThrownBy(
            () -> HoldCodec.decode(text.replace("\"1.0\"", "\"2.0\"").getBytes(UTF_8), "hold/x"))
        .isInstanceOfSatisfying(
            LogFormatException.class, e -> assertThat(e.newerFormat()).isTrue());
  }

  @Test
  void damagedBytesAreReadOrRefusedByName() throws Exception {
    byte[] sample = golden("hold.json");
    Seeds.each(
        200,
        random -> {
          byte[] damaged = damaged(sample, random);
          try {
            Hold hold = HoldCodec.decode(damaged, "hold/x");
            assertThat(HoldCodec.decode(HoldCodec.encode(hold), "again")).isEqualTo(hold);
          } catch (LogFormatException e) {
            assertThat(e).hasMessageContaining("hold/x");
          }
        });
  }

  private static byte[] damaged(byte[] sample, Random random) {
    byte[] damaged = sample.clone();
    for (int i = 1 + random.nextInt(4); i > 0; i--) {
      damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
    }
    int length = random.nextInt(4) == 0 ? random.nextInt(damaged.length) : damaged.length;
    return Arrays.copyOf(damaged, length);
  }
}
