package dev.tidemark.row;

import java.io.IOException;
import java.util.List;

/**
 * Merges sorted cursors into one: times below {@code since} are advanced to it, equal (row, time)
 * are summed, and sums of zero vanish. Memory: one update a cursor.
 *
 * <p>A loser tree over the inputs, with eight bytes of each input's row beside it, so that most
 * comparisons touch no row. An input that isn't in order, or a sum beyond 64 bits, is an
 * IOException.
 */
public final class MergeCursor implements UpdateCursor {
  private final UpdateCursor[] inputs;
  private final long since;

  /** For each input: the beginning of its row, monotone in the row; its time, advanced. */
  private final long[] prefixes;

  private final long[] times;
  private final boolean[] done;

  /** {@code losers[0]} is the input whose update comes next; the others lost at their node. */
  private final int[] losers;

  private boolean started;
  private byte[] row = new byte[256];
  private int length;
  private long prefix;
  private long time;
  private long diff;

  /**
   * Merges {@code inputs}; closes them when closed. {@code sinceMillis = Long.MIN_VALUE} leaves
   * times as they are.
   */
  public MergeCursor(List<UpdateCursor> inputs, long sinceMillis) {
    this.inputs = inputs.toArray(UpdateCursor[]::new);
    this.since = sinceMillis;
    int size = this.inputs.length;
    prefixes = new long[size];
    times = new long[size];
    done = new boolean[size];
    losers = new int[Math.max(1, size)];
  }

  @Override
  public boolean next() throws IOException {
    if (inputs.length == 0) {
      return false;
    }
    if (!started) {
      start();
    }
    while (!done[losers[0]]) {
      int winner = losers[0];
      takeRow(winner);
      diff = inputs[winner].diff();
      advance(winner);
      for (winner = losers[0]; isCurrent(winner); winner = losers[0]) {
        diff = Sums.add(diff, inputs[winner].diff());
        advance(winner);
      }
      if (diff != 0) {
        return true;
      }
    }
    return false;
  }

  private void start() throws IOException {
    started = true;
    for (int i = 0; i < inputs.length; i++) {
      load(i);
    }
    losers[0] = inputs.length == 1 ? 0 : play(1);
  }

  /** Plays the matches below a node, notes who lost them, and gives the winner. */
  private int play(int node) {
    int size = inputs.length;
    int left = 2 * node < size ? play(2 * node) : 2 * node - size;
    int right = 2 * node + 1 < size ? play(2 * node + 1) : 2 * node + 1 - size;
    boolean leftWins = compare(left, right) <= 0;
    losers[node] = leftWins ? right : left;
    return leftWins ? left : right;
  }

  /** Moves an input on, which was the winner, and finds the next one. */
  private void advance(int input) throws IOException {
    load(input);
    if (!done[input] && compareToCurrent(input) < 0) {
      throw new IOException(
          "input " + input + " of a merge is not in order (" + inputs[input] + ")");
    }
    int winner = input;
    for (int node = (input + inputs.length) >>> 1; node > 0; node >>>= 1) {
      int other = losers[node];
      if (compare(other, winner) < 0) {
        losers[node] = winner;
        winner = other;
      }
    }
    losers[0] = winner;
  }

  private void load(int i) throws IOException {
    UpdateCursor input = inputs[i];
    if (input.next()) {
      prefixes[i] = prefix(input.row(), input.rowOffset(), input.rowLength());
      times[i] = Math.max(since, input.time());
    } else {
      done[i] = true;
    }
  }

  /**
   * A number that never gets less as rows get greater. The first byte, a marker, takes one bit of
   * it; where it isn't a marker, the full comparison has to decide.
   */
  private static long prefix(byte[] row, int offset, int length) {
    if (length == 0 || row[offset] == Memcomparable.NULL) {
      return length == 0 ? 0 : Memcomparable.prefix(row, offset + 1, offset + length) >>> 1;
    }
    if (row[offset] != Memcomparable.VALUE) {
      return -1L;
    }
    return Memcomparable.prefix(row, offset + 1, offset + length) >>> 1 | Long.MIN_VALUE;
  }

  private int compare(int a, int b) {
    if (done[a] || done[b]) {
      return done[a] ? (done[b] ? 0 : 1) : -1;
    }
    if (prefixes[a] != prefixes[b]) {
      return Long.compareUnsigned(prefixes[a], prefixes[b]);
    }
    UpdateCursor left = inputs[a];
    UpdateCursor right = inputs[b];
    int order =
        Memcomparable.compare(
            left.row(),
            left.rowOffset(),
            left.rowLength(),
            right.row(),
            right.rowOffset(),
            right.rowLength());
    return order != 0 ? order : Long.compare(times[a], times[b]);
  }

  private int compareToCurrent(int i) {
    if (prefixes[i] != prefix) {
      return Long.compareUnsigned(prefixes[i], prefix);
    }
    UpdateCursor input = inputs[i];
    int order =
        Memcomparable.compare(input.row(), input.rowOffset(), input.rowLength(), row, 0, length);
    return order != 0 ? order : Long.compare(times[i], time);
  }

  private boolean isCurrent(int i) {
    return !done[i] && prefixes[i] == prefix && times[i] == time && compareToCurrent(i) == 0;
  }

  private void takeRow(int i) {
    UpdateCursor input = inputs[i];
    length = input.rowLength();
    if (length > row.length) {
      row = new byte[(int) Math.min(Integer.MAX_VALUE - 16L, Math.max(length, row.length * 2L))];
    }
    System.arraycopy(input.row(), input.rowOffset(), row, 0, length);
    prefix = prefixes[i];
    time = times[i];
  }

  @Override
  public byte[] row() {
    return row;
  }

  @Override
  public int rowOffset() {
    return 0;
  }

  @Override
  public int rowLength() {
    return length;
  }

  @Override
  public long time() {
    return time;
  }

  @Override
  public long diff() {
    return diff;
  }

  @Override
  public void close() throws IOException {
    IOException failure = null;
    for (UpdateCursor input : inputs) {
      try {
        input.close();
      } catch (IOException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
