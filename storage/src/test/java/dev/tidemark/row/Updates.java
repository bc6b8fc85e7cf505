package dev.tidemark.row;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Updates for tests: as a list, as a cursor, and summed in a sorted map. */
public final class Updates {
  /** An update. */
  public record One(String row, long time, long diff) {
    /** From bytes. */
    public static One of(byte[] row, long time, long diff) {
      return new One(HexFormat.of().formatHex(row), time, diff);
    }

    byte[] bytes() {
      return HexFormat.of().parseHex(row);
    }
  }

  private Updates() {}

  /** All updates of a cursor, which is closed. */
  public static List<One> drain(UpdateCursor cursor) throws IOException {
    List<One> all = new ArrayList<>();
    try (cursor) {
      while (cursor.next()) {
        int from = cursor.rowOffset();
        byte[] row = Arrays.copyOfRange(cursor.row(), from, from + cursor.rowLength());
        all.add(One.of(row, cursor.time(), cursor.diff()));
      }
    }
    return all;
  }

  /** A cursor over a list as it is. */
  public static UpdateCursor cursor(List<One> updates) {
    return new UpdateCursor() {
      private int at = -1;
      private byte[] row = new byte[0];

      @Override
      public boolean next() {
        if (++at >= updates.size()) {
          return false;
        }
        // The array changes its contents, as the contract allows.
        byte[] bytes = updates.get(at).bytes();
        Arrays.fill(row, (byte) 0x55);
        row = new byte[bytes.length + 2];
        System.arraycopy(bytes, 0, row, 1, bytes.length);
        return true;
      }

      @Override
      public byte[] row() {
        return row;
      }

      @Override
      public int rowOffset() {
        return 1;
      }

      @Override
      public int rowLength() {
        return row.length - 2;
      }

      @Override
      public long time() {
        return updates.get(at).time();
      }

      @Override
      public long diff() {
        return updates.get(at).diff();
      }
    };
  }

  /** The dumb model: sorted by row and time, times advanced, equal ones summed, zeros left out. */
  public static List<One> consolidate(List<One> updates, long since) {
    Map<String, Map<Long, Long>> sums = new TreeMap<>();
    for (One one : updates) {
      sums.computeIfAbsent(one.row(), r -> new TreeMap<>())
          .merge(Math.max(since, one.time()), one.diff(), Math::addExact);
    }
    List<One> all = new ArrayList<>();
    sums.forEach(
        (row, times) ->
            times.forEach(
                (time, diff) -> {
                  if (diff != 0) {
                    all.add(new One(row, time, diff));
                  }
                }));
    return all;
  }
}
