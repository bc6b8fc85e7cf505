package dev.tidemark.row;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.row.Updates.One;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MergeCursorTest {
  @Test
  void mergesLikeASortedMap() {
    Seeds.each(
        100,
        random -> {
          List<One> all = new ArrayList<>();
          List<UpdateCursor> inputs = new ArrayList<>();
          int style = random.nextInt(4);
          for (int k = random.nextInt(random.nextBoolean() ? 4 : 20); k > 0; k--) {
            List<One> input = new ArrayList<>();
            for (int i = random.nextInt(200); i > 0; i--) {
              input.add(
                  One.of(
                      RowBufferTest.randomRow(random, style),
                      random.nextInt(6),
                      1 + random.nextInt(2) * -2));
            }
            all.addAll(input);
            inputs.add(Updates.cursor(Updates.consolidate(input, Long.MIN_VALUE)));
          }
          long since = random.nextBoolean() ? Long.MIN_VALUE : random.nextInt(8);
          assertThat(Updates.drain(new MergeCursor(inputs, since)))
              .isEqualTo(Updates.consolidate(all, since));
        });
  }

  @Test
  void anInputOutOfOrderIsNamed() {
    List<One> good = List.of(new One("0101", 0, 1), new One("0103", 0, 1));
    for (List<One> bad :
        List.of(
            List.of(new One("0102", 0, 1), new One("0101", 0, 1)),
            List.of(new One("0102", 5, 1), new One("0102", 4, 1)),
            List.of(new One("01020304050607080901", 0, 1), new One("010203040506070809", 0, 1)))) {
      assertThatThrownBy(
              () ->
                  Updates.drain(
                      new MergeCursor(
                          List.of(Updates.cursor(good), Updates.cursor(bad)), Long.MIN_VALUE)))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("input 1");
    }
  }

  @Test
  void aSumBeyond64BitsIsAnError() {
    One most = new One("01", 0, Long.MIN_VALUE);
    assertThatThrownBy(
            () ->
                Updates.drain(
                    new MergeCursor(
                        List.of(Updates.cursor(List.of(most)), Updates.cursor(List.of(most))), 0)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("64 bits");
  }

  @Test
  void closesEveryInputThoughOneFails() {
    List<Integer> closed = new ArrayList<>();
    List<UpdateCursor> inputs = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      int number = i;
      inputs.add(new Closing(number, closed));
    }
    assertThatThrownBy(() -> new MergeCursor(inputs, 0).close())
        .isInstanceOf(IOException.class)
        .hasMessage("close 0");
    assertThat(closed).containsExactly(0, 1, 2);
  }

  private record Closing(int number, List<Integer> closed) implements UpdateCursor {
    @Override
    public boolean next() {
      return false;
    }

    @Override
    public byte[] row() {
      return new byte[0];
    }

    @Override
    public int rowOffset() {
      return 0;
    }

    @Override
    public int rowLength() {
      return 0;
    }

    @Override
    public long time() {
      return 0;
    }

    @Override
    public long diff() {
      return 1;
    }

    @Override
    public void close() throws IOException {
      closed.add(number);
      throw new IOException("close " + number);
    }
  }
}
