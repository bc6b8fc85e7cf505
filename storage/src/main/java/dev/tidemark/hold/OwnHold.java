package dev.tidemark.hold;

import dev.tidemark.log.Hold;
import dev.tidemark.log.HoldCodec;
import dev.tidemark.log.Pacing;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.store.Body;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import dev.tidemark.time.Frontier;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A hold that is ours. Written when made, renewed at a third of its lease, moved forward by
 * renewing; lost for good once its lease has run out or somebody dropped it, as nobody knows what
 * was destroyed meanwhile. Thread-safe.
 */
public final class OwnHold {
  private static final Logger LOG = LoggerFactory.getLogger(OwnHold.class);

  private final ObjectStore store;
  private final Pacing pacing;
  private final String id;

  /** What the store has, or may have by now. */
  private Hold written;

  /** What is to be written with the next renewal. */
  private Hold wanted;

  /** When the last write was sent that certainly took effect: the store's lease began later. */
  private long sentNanos;

  private long triedNanos;
  private boolean lost;

  OwnHold(ObjectStore store, Pacing pacing, String id, Hold hold) throws StoreException {
    this.store = store;
    this.pacing = pacing;
    this.id = id;
    this.written = hold;
    this.wanted = hold;
    sentNanos = pacing.nanoTime();
    triedNanos = sentNanos;
    store.put(Holds.key(id), Body.of(HoldCodec.encode(hold)));
  }

  /** Its id. */
  public String id() {
    return id;
  }

  /** What it says as far as anybody else can know. */
  public synchronized Hold hold() {
    return written;
  }

  /** If the answer comes when the lease is over, nobody knows whether there was a gap. */
  private void write() throws StoreException {
    long before = pacing.nanoTime();
    written = wanted;
    store.put(Holds.key(id), Body.of(HoldCodec.encode(wanted)));
    if (!lost()) {
      sentNanos = before;
      triedNanos = before;
    }
  }

  /** Whether it is no longer ours: others may have destroyed what it held. */
  public synchronized boolean lost() {
    lost |= pacing.nanoTime() - sentNanos >= leaseNanos();
    return lost;
  }

  private long leaseNanos() {
    return TimeUnit.MILLISECONDS.toNanos(written.leaseMillis());
  }

  /**
   * From the next renewal on it says this. What it says may only move forward.
   *
   * @param seqno a version that all reading from now on is at or after
   * @param since the oldest time that is read from now on
   */
  public synchronized void forward(SeqNo seqno, Frontier since) {
    if (seqno.compareTo(wanted.seqno()) >= 0 && !since.isBefore(wanted.since())) {
      wanted = wanted.at(seqno, since);
    }
  }

  /**
   * Renews it when a third of its lease has passed; to be called every now and then. A renewal that
   * fails is tried again by a later call, as long as the lease lasts.
   *
   * @return whether it is still ours
   */
  public synchronized boolean maybeRenew() throws StoreException {
    if (lost()) {
      return false;
    }
    long now = pacing.nanoTime();
    boolean due = now - sentNanos >= leaseNanos() / 3;
    boolean failedJustNow = triedNanos != sentNanos && now - triedNanos < leaseNanos() / 60;
    return !due || failedJustNow || renew();
  }

  /** Renews it now, and moves it to what {@link #forward} said. */
  public synchronized boolean renew() throws StoreException {
    if (lost()) {
      return false;
    }
    try {
      triedNanos = pacing.nanoTime();
      if (store.get(Holds.key(id)).isEmpty()) {
        lost = true; // dropped: writing it again would only look as if it had been there all along
        return false;
      }
      write();
    } catch (StoreException e) {
      if (!e.retryable()) {
        throw e;
      }
      LOG.warn("{}: hold {} was not renewed: {}", store.location(), id, e.getMessage());
    }
    return !lost();
  }

  /** Waits, by the clock that its lease goes by. */
  void pause(long millis) throws InterruptedIOException {
    pacing.pause(millis);
  }

  /** Gives it up; where it can't be deleted it expires by itself. */
  public synchronized void drop() {
    lost = true;
    try {
      store.delete(List.of(Holds.key(id)));
    } catch (StoreException e) {
      LOG.warn("{}: hold {} stays until it expires: {}", store.location(), id, e.getMessage());
    }
  }
}
