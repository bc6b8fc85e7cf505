package dev.tidemark.flink;

import dev.tidemark.flink.message.KeyedRow;
import dev.tidemark.flink.message.RawRecord;
import dev.tidemark.flink.message.Update;
import dev.tidemark.row.InvalidRowException;
import dev.tidemark.row.RowCodec;
import dev.tidemark.schema.Schema;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The rows that the numbers of {@link PacedInput} stand for, and what is in a shard at a time when
 * all of them are in it, computed without the code that is tried.
 *
 * <p>Without keys each number is a row of its own, and one in twenty comes late. By key each split
 * has its keys, which it sets in turn and now and then deletes; some keys are late every other
 * time. A key belongs to one shard, and what is said of it comes from one split, in order.
 */
final class PacedRows implements Serializable {
  private static final long serialVersionUID = 1L;

  static final Schema SCHEMA = TestShards.SCHEMA;

  /** Time begins here and runs on by this much a number. */
  static final long BEGIN = 1_700_000_000_000L;

  static final long STEP_MILLIS = 2;

  /** What the watermark allows for. */
  static final long DISORDER_MILLIS = 10;

  private static final long LATE_MILLIS = 150;
  private static final int LATE_EVERY = 20;
  private static final int KEYS_A_SPLIT = 40;
  private static final int DELETED_EVERY = 5;

  private final int splits;
  private final int shards;
  private final boolean byKey;
  private final boolean inOrder;

  /**
   * Rows.
   *
   * @param inOrder whether nothing is late, and nothing deleted
   */
  PacedRows(int splits, int shards, boolean byKey, boolean inOrder) {
    this.splits = splits;
    this.shards = shards;
    this.byKey = byKey;
    this.inOrder = inOrder;
  }

  /** The time of the number at a place of a split, were it not late. */
  static long timeOf(long place) {
    return BEGIN + place * STEP_MILLIS;
  }

  /** The row's own time. */
  long time(long number) {
    long place = PacedInput.place(number);
    boolean late = isLateAt(place) && (!byKey || place / KEYS_A_SPLIT % 2 == 1);
    return late ? Math.max(BEGIN, timeOf(place) - LATE_MILLIS) : timeOf(place);
  }

  private boolean isLateAt(long place) {
    return !inOrder && (byKey ? place % KEYS_A_SPLIT : place) % LATE_EVERY == 7;
  }

  private long id(int split, long place) {
    return (byKey ? place % KEYS_A_SPLIT : place) * splits + split;
  }

  private int shard(long id) {
    return (int) (id / splits % shards);
  }

  /** Whether rows of an id may be retimed, so that when they come is not known. */
  boolean isLate(long id) {
    return isLateAt(id / splits);
  }

  private @Nullable String text(long place) {
    boolean deletes =
        byKey && !inOrder && place / KEYS_A_SPLIT % DELETED_EVERY == DELETED_EVERY - 1;
    return deletes ? null : "n" + place;
  }

  /** The row of a number, added. */
  Update update(long number, SlotKeys slots) {
    long place = PacedInput.place(number);
    long id = id(PacedInput.split(number), place);
    String text = text(place);
    return TestShards.row(slots, shard(id), id, text == null ? "" : text, time(number), 1);
  }

  /** What a number says of its key. */
  KeyedRow keyed(long number) {
    long place = PacedInput.place(number);
    long id = id(PacedInput.split(number), place);
    String text = text(place);
    try {
      RowCodec codec = new RowCodec(SCHEMA);
      byte[] row = codec.encode(new Object[] {id, text == null ? "" : text});
      byte[] key = Arrays.copyOf(row, codec.keyLength(row, 0, row.length));
      return new KeyedRow(shard(id), key, text == null ? null : row, time(number), true);
    } catch (InvalidRowException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A number's record, as a line of JSON. */
  RawRecord record(long number) {
    long place = PacedInput.place(number);
    long id = id(PacedInput.split(number), place);
    RawRecord record = new RawRecord();
    record.place = "split-" + PacedInput.split(number);
    record.partition = record.place;
    record.number = place;
    record.timestampMillis = time(number);
    record.value =
        ("{\"id\":" + id + ",\"text\":\"" + text(place) + "\"}").getBytes(StandardCharsets.UTF_8);
    return record;
  }

  /**
   * What a shard holds at a time, id to text, of the rows that are never late.
   *
   * @param end how many numbers each split has
   */
  Map<Long, String> inOrder(int shard, long asOf, long end) {
    long places = asOf < BEGIN ? 0 : Math.min(end, (asOf - BEGIN) / STEP_MILLIS + 1);
    return contents(shard, places, false);
  }

  /** What it holds once all is in it. */
  Map<Long, String> whole(int shard, long end) {
    return contents(shard, end, true);
  }

  private Map<Long, String> contents(int shard, long places, boolean lateToo) {
    Map<Long, String> rows = new HashMap<>();
    for (int split = 0; split < splits; split++) {
      // by key, all that is older than the last of each key is gone
      long first = byKey ? Math.max(0, places - KEYS_A_SPLIT) : 0;
      for (long place = first; place < places; place++) {
        long id = id(split, place);
        if (shard(id) != shard || (isLate(id) && !lateToo)) {
          continue;
        }
        String text = text(place);
        if (text == null) {
          rows.remove(id);
        } else {
          rows.put(id, text);
        }
      }
    }
    return rows;
  }
}
