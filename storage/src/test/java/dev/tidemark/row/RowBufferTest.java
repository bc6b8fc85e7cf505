package dev.tidemark.row;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.row.Updates.One;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RowBufferTest {
  private static void add(RowBuffer buffer, One one) {
    byte[] row = one.bytes();
    byte[] wide = new byte[row.length + 5];
    System.arraycopy(row, 0, wide, 3, row.length);
    buffer.add(wide, 3, row.length, one.time(), one.diff());
  }

  static byte[] randomRow(Random random, int style) {
    int length = style == 0 ? random.nextInt(5) : 2 + random.nextInt(20);
    byte[] row = new byte[length];
    for (int i = 0; i < length; i++) {
      row[i] = (byte) (style <= 1 ? random.nextInt(3) : i < 10 ? 7 : random.nextInt(256) % 5 - 2);
    }
    if (style == 3 && length > 0) {
      row[0] = 1;
    }
    return row;
  }

  @Test
  void sortsAndSumsLikeASortedMap() {
    Seeds.each(
        40,
        random -> {
          RowBuffer buffer = new RowBuffer();
          for (int round = 0; round < 3; round++) {
            List<One> all = new ArrayList<>();
            int style = random.nextInt(4);
            int count = random.nextInt(random.nextBoolean() ? 50 : 3000);
            for (int i = 0; i < count; i++) {
              One one =
                  One.of(randomRow(random, style), random.nextInt(3) - 1, random.nextInt(5) - 2);
              if (one.diff() != 0) {
                all.add(one);
                add(buffer, one);
              }
            }
            assertThat(buffer.size()).isEqualTo(all.size());
            assertThat(Updates.drain(buffer.sorted()))
                .isEqualTo(Updates.consolidate(all, Long.MIN_VALUE));
            One more = One.of(randomRow(random, 1), 5, 1);
            all.add(more);
            add(buffer, more);
            assertThat(Updates.drain(buffer.sorted()))
                .isEqualTo(Updates.consolidate(all, Long.MIN_VALUE));
            buffer.clear();
            assertThat(buffer.size()).isZero();
            assertThat(buffer.sorted().next()).isFalse();
          }
        });
  }

  @Test
  void startsSmallAndAccountsForWhatItHolds() throws Exception {
    RowBuffer buffer = new RowBuffer();
    assertThat(buffer.memoryBytes()).isLessThan(10 << 10);
    byte[] row = new byte[131];
    for (int i = 0; i < 100_000; i++) {
      row[1] = (byte) (i >> 16);
      row[2] = (byte) (i >> 8);
      row[3] = (byte) i;
      buffer.add(row, 0, row.length, i, 1);
    }
    assertThat(buffer.memoryBytes() / 100_000).isBetween(160L, 190L);
    buffer.add(new byte[3 << 20], 0, 3 << 20, 0, 1);
    assertThat(Updates.drain(buffer.sorted())).hasSize(100_001);
    buffer.clear();
    assertThat(buffer.memoryBytes()).isLessThan((1 << 20) + (128 << 10));
  }

  @Test
  void aSumBeyond64BitsIsAnError() {
    RowBuffer buffer = new RowBuffer();
    buffer.add(new byte[] {1}, 0, 1, 0, Long.MAX_VALUE);
    buffer.add(new byte[] {1}, 0, 1, 0, 1);
    assertThatThrownBy(() -> buffer.sorted().next())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("64 bits");
  }
}
