package dev.tidemark.part;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import dev.tidemark.row.Seeds;
import dev.tidemark.row.Updates;
import dev.tidemark.row.Updates.One;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

class RowBlockTest {
  private static final List<One> SAMPLE =
      List.of(
          new One("", Long.MIN_VALUE, 1),
          new One("0101", Long.MAX_VALUE, -1),
          new One("0102", 1_000, Long.MAX_VALUE),
          new One("0102", 1_999, Long.MIN_VALUE));

  private static List<One> random(Random random, int count) {
    List<One> updates = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] row = new byte[random.nextInt(30)];
      random.nextBytes(row);
      updates.add(One.of(row, random.nextInt(1000), 1 + random.nextInt(3)));
    }
    return updates;
  }

  @Test
  void comesBack() {
    Seeds.each(
        20,
        random -> {
          List<One> updates = random(random, random.nextInt(500));
          byte[] block = RowBlock.encode(Updates.cursor(updates));
          assertThat(Updates.drain(RowBlock.decode(block))).isEqualTo(updates);
          assertThat(RowBlock.encode(RowBlock.decode(block))).isEqualTo(block);
        });
  }

  @Test
  void theSampleOfVersionOneIsRead() throws Exception {
    try (InputStream in = RowBlockTest.class.getResourceAsStream("/part/row-block-1.bin")) {
      byte[] block = in.readAllBytes();
      assertThat(Updates.drain(RowBlock.decode(block))).isEqualTo(SAMPLE);
      // Another zstd may choose other bytes: then this line goes, the sample stays.
      assertThat(RowBlock.encode(Updates.cursor(SAMPLE))).isEqualTo(block);
    }
  }

  @Test
  void anotherVersionIsRefusedByName() throws Exception {
    byte[] block = RowBlock.encode(Updates.cursor(SAMPLE));
    block[0] = 2;
    assertThatThrownBy(() -> RowBlock.decode(block))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("version is 2");
  }

  @Test
  void noBytesMakeAnythingButANamedError() {
    Seeds.each(
        20,
        random -> {
          byte[] good = RowBlock.encode(Updates.cursor(random(random, 50)));
          for (int i = 0; i < 300; i++) {
            byte[] bad = mutate(good, random);
            if (random.nextBoolean() && bad.length > 4) {
              // As if the wrong bytes had been written on purpose.
              CRC32C crc = new CRC32C();
              crc.update(bad, 0, bad.length - 4);
              ByteBuffer.wrap(bad)
                  .order(ByteOrder.LITTLE_ENDIAN)
                  .putInt(bad.length - 4, (int) crc.getValue());
            }
            try {
              Updates.drain(RowBlock.decode(bad));
            } catch (IOException e) {
              assertThat(e).hasMessageContaining("block of rows is corrupt");
            } catch (RuntimeException | OutOfMemoryError e) {
              fail("not an IOException", e);
            }
          }
        });
  }

  private static byte[] mutate(byte[] good, Random random) {
    byte[] bad =
        random.nextInt(3) == 0
            ? java.util.Arrays.copyOf(good, random.nextInt(good.length + 20))
            : good.clone();
    for (int n = 1 + random.nextInt(3); n > 0 && bad.length > 0; n--) {
      int at = random.nextInt(random.nextBoolean() ? Math.min(24, bad.length) : bad.length);
      bad[at] = (byte) (random.nextBoolean() ? random.nextInt() : bad[at] ^ 1 << random.nextInt(8));
    }
    return bad;
  }
}
