package dev.tidemark.read;

import dev.tidemark.hold.HoldLostException;
import dev.tidemark.hold.Holds;
import dev.tidemark.hold.OwnHold;
import dev.tidemark.log.Hold;
import dev.tidemark.log.Pacing;
import dev.tidemark.log.ShardLog;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Reads a shard for as long as it takes, under a hold: a snapshot, then what comes after it.
 *
 * <p>The hold is written first, then the shard is loaded with the check, and its since is compared
 * with the hold's: if it isn't past, nobody destroys what is read from here on while the hold
 * lives, and later states are readable too, by the since of their batches. A hold that was lost
 * harms nothing by itself: what is still there is still right. A part that is gone makes the reader
 * look at a newer state; if that was merged too far, {@link HoldLostException} says so. It never
 * gives fewer rows.
 *
 * <p>Used by one thread, which renews the hold as it reads; {@link #tick} renews it in between.
 */
public final class HeldReader implements AutoCloseable {
  private static final long FIRST_PAUSE_MILLIS = 100;
  private static final long LONGEST_PAUSE_MILLIS = 5_000;

  private final ShardLog log;
  private final ShardReader reader;
  private final Pacing pacing;
  private final OwnHold hold;
  private final long asOfMillis;
  private final Schema schema;
  private ShardState state;

  private HeldReader(ShardLog log, OwnHold hold, long asOfMillis, ShardState state) {
    this.log = log;
    this.reader = new ShardReader(log);
    this.pacing = log.pacing();
    this.hold = hold;
    this.asOfMillis = asOfMillis;
    this.schema = state.schema();
    this.state = state;
  }

  /**
   * Who reads, for people, and for how long its hold lasts without being renewed.
   *
   * @param purpose what for: snapshot, tail
   * @param host where
   * @param leaseMillis hold.expiry
   */
  public record Terms(String purpose, String host, long leaseMillis) {}

  /**
   * Takes a hold at a time and loads the shard. The time may lie ahead.
   *
   * @throws ReadRefusedException when the time is before since, naming since and the mend
   */
  public static HeldReader open(ShardLog log, Holds holds, Terms terms, AsOf choice)
      throws IOException {
    ShardState seen = log.refresh();
    if (!seen.exists()) {
      throw new ReadRefusedException(log.store().location() + ": there is no shard here");
    }
    long asOf = choice.of(seen);
    Hold wanted =
        new Hold(
            seen.seqno(), Frontier.of(asOf), terms.leaseMillis(), terms.purpose(), terms.host());
    OwnHold hold = holds.create(wanted);
    try {
      ShardState state = log.refreshChecked();
      if (state.since().isAfter(Frontier.of(asOf))) {
        throw new ReadRefusedException(
            "shard "
                + state.shard()
                + " can't be read from "
                + Times.text(Frontier.of(asOf))
                + " on: its since is "
                + Times.text(state.since())
                + (state.retired()
                    ? ": it is retired"
                    : ", the oldest time there is: begin anew with a snapshot there or later"));
      }
      return new HeldReader(log, hold, asOf, state);
    } catch (IOException | RuntimeException e) {
      hold.drop();
      throw e;
    }
  }

  /** The time of the snapshot, in milliseconds. */
  public long asOfMillis() {
    return asOfMillis;
  }

  /** The schema in which rows are given, whatever becomes of the shard's. */
  public Schema schema() {
    return schema;
  }

  /** The state that was read last. */
  public ShardState state() {
    return state;
  }

  /** The hold. */
  public OwnHold hold() {
    return hold;
  }

  /** Renews the hold when it is time; to be called more often than every third of the lease. */
  public void tick() throws IOException {
    hold.maybeRenew();
  }

  /**
   * The collection at the time of this reader, once that is durable.
   *
   * @param timeoutMillis how long to wait for it; 0: not at all
   * @throws ReadRefusedException when it isn't durable by then, naming upper
   */
  public UpdateCursor snapshot(long timeoutMillis) throws IOException {
    awaitDurable(timeoutMillis);
    Frontier asOf = Frontier.of(asOfMillis);
    checkMerges(state, Frontier.MINIMUM, asOf, asOf);
    return new HeldCursor(
        this,
        (now, wanted) -> {
          checkMerges(now, Frontier.MINIMUM, asOf, asOf);
          return reader.openSnapshot(now, wanted, asOfMillis);
        });
  }

  private void awaitDurable(long timeoutMillis) throws IOException {
    long begun = pacing.nanoTime();
    long pause = FIRST_PAUSE_MILLIS;
    while (!state.upper().isAfter(Frontier.of(asOfMillis))) {
      long waited = TimeUnit.NANOSECONDS.toMillis(pacing.nanoTime() - begun);
      if (waited >= timeoutMillis) {
        throw new ReadRefusedException(
            "shard "
                + state.shard()
                + " can't be read as of "
                + Times.text(Frontier.of(asOfMillis))
                + ": that isn't durable yet; upper is "
                + Times.text(state.upper())
                + (timeoutMillis > 0 ? ", after waiting " + waited + " ms" : ""));
      }
      pacing.pause(Math.min(pause, timeoutMillis - waited));
      pause = Math.min(LONGEST_PAUSE_MILLIS, 2 * pause);
      tick();
      state = log.refresh();
    }
  }

  /**
   * What comes after the time of this reader; with {@link #snapshot} before it, whose sum is the
   * shard at any later time.
   */
  public Listen listen() {
    return new Listen(this, Frontier.of(asOfMillis + 1));
  }

  // ---- For cursors and listeners

  ShardReader reader() {
    return reader;
  }

  /** Reads the log on, and renews the hold at need. */
  ShardState refresh() throws IOException {
    tick();
    state = log.refresh();
    return state;
  }

  /** A part of {@code used} is gone: looks at a newer state. */
  void refreshAfterLoss(ShardState used, IOException gone) throws IOException {
    tick();
    state = log.refreshChecked();
    if (state.seqno().equals(used.seqno())) {
      throw new IOException(
          "shard "
              + state.shard()
              + " at version "
              + state.seqno()
              + ", which is the newest, has lost a part: "
              + gone.getMessage(),
          gone);
    }
  }

  /**
   * Checks that no batch with updates from {@code from} up to {@code last} was merged with a since
   * past {@code held}, so that times up to there can be told apart no more.
   */
  void checkMerges(ShardState now, Frontier from, Frontier last, Frontier held)
      throws HoldLostException {
    List<Batch> batches = ShardReader.overlapping(now, from, Frontier.of(last.time() + 1));
    for (Batch batch : batches) {
      if (batch.since().isAfter(held)) {
        throw new HoldLostException(
            "shard "
                + now.shard()
                + " can't be read on from "
                + Times.text(held)
                + ": hold "
                + hold.id()
                + " was lost (held since "
                + Times.text(hold.hold().since())
                + " at version "
                + hold.hold().seqno()
                + "), and it was merged up to "
                + Times.text(batch.since())
                + "; since is "
                + Times.text(now.since())
                + ": begin anew with a snapshot, and read faster than hold.expiry");
      }
    }
  }

  /** From now on nothing before {@code progress} is read, nor any version before {@code seqno}. */
  void moveOn(SeqNo seqno, Frontier progress) {
    hold.forward(seqno, Frontier.of(progress.time() - 1));
  }

  /** Gives the hold up. */
  @Override
  public void close() {
    hold.drop();
  }
}
