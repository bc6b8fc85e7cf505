package dev.tidemark.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.log.Hold;
import dev.tidemark.log.Pacing;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.store.Body;
import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.store.StoreException;
import dev.tidemark.time.Frontier;
import java.io.InterruptedIOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Renewing in the background, in a time that passes only when the renewal waits. */
@Timeout(60)
class RenewalTest {
  private static final long LEASE_MILLIS = 60_000;
  private static final Hold HOLD =
      new Hold(new SeqNo(1), Frontier.of(5), LEASE_MILLIS, "a test", "here");

  /** Each pause takes what it is asked for, but for one; after the last nothing goes on. */
  private static final class FakeTime implements Pacing {
    private final long mostPauses;
    private final long longPause;
    private final CountDownLatch over = new CountDownLatch(1);
    private long pauses;
    private long millis;

    FakeTime(long mostPauses, long longPause) {
      this.mostPauses = mostPauses;
      this.longPause = longPause;
    }

    synchronized long millis() {
      return millis;
    }

    @Override
    public Instant now() {
      return Instant.ofEpochMilli(millis());
    }

    @Override
    public long nanoTime() {
      return millis() * 1_000_000;
    }

    @Override
    public void pause(long asked) throws InterruptedIOException {
      synchronized (this) {
        pauses++;
        millis += pauses == longPause ? 2 * LEASE_MILLIS : asked;
        if (pauses < mostPauses) {
          return;
        }
      }
      over.countDown();
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException e) {
        throw new InterruptedIOException("closed");
      }
    }

    @Override
    public long random() {
      return 7;
    }

    @Override
    public int sideBySide() {
      return 1;
    }
  }

  /** Notes when a hold is written. */
  private static final class Notes extends ForwardingStore {
    private final FakeTime time;
    private final List<Long> written = new ArrayList<>();

    Notes(FakeTime time) {
      super(new MemoryStore("renewal"));
      this.time = time;
    }

    @Override
    public synchronized void put(String key, Body body) throws StoreException {
      written.add(time.millis());
      super.put(key, body);
    }

    synchronized List<Long> written() {
      return List.copyOf(written);
    }
  }

  private static void awaitEnd(OwnHold hold) throws InterruptedException {
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().equals("tidemark-hold-" + hold.id())) {
        thread.join();
      }
    }
  }

  @Test
  void aHoldIsRenewedAtAThirdOfItsLeaseUntilItIsClosed() throws Exception {
    FakeTime time = new FakeTime(300, -1);
    Notes store = new Notes(time);
    OwnHold hold = new Holds(store, time).create(HOLD);
    try (Renewal renewal = Renewal.start(hold)) {
      time.over.await();
      assertThat(renewal).isNotNull();
      assertThat(hold.lost()).isFalse();
    }
    awaitEnd(hold);
    List<Long> written = store.written();
    assertThat(written).as("ten leases").hasSizeBetween(28, 31);
    for (int i = 1; i < written.size(); i++) {
      assertThat(written.get(i) - written.get(i - 1))
          .isBetween(LEASE_MILLIS / 3, LEASE_MILLIS / 3 + LEASE_MILLIS / 30);
    }
    assertThat(store.list("hold/", "", 10)).as("it is its owner's still").hasSize(1);
  }

  @Test
  void aHoldWhoseOwnerSleptPastItsLeaseIsLostAndNotWrittenAgain() throws Exception {
    FakeTime time = new FakeTime(300, 20);
    Notes store = new Notes(time);
    OwnHold hold = new Holds(store, time).create(HOLD);
    try (Renewal renewal = Renewal.start(hold)) {
      awaitEnd(hold);
      assertThat(renewal).isNotNull();
    }
    assertThat(hold.lost()).isTrue();
    assertThat(store.written()).as("made, renewed once, then it slept").hasSize(2);
  }

  @Test
  void aHoldThatSomebodyDroppedIsNotWrittenAgain() throws Exception {
    FakeTime time = new FakeTime(300, -1);
    Notes store = new Notes(time);
    Holds holds = new Holds(store, time);
    OwnHold hold = holds.create(HOLD);
    holds.drop(hold.id());
    try (Renewal renewal = Renewal.start(hold)) {
      awaitEnd(hold);
      assertThat(renewal).isNotNull();
    }
    assertThat(hold.lost()).isTrue();
    assertThat(store.written()).hasSize(1);
    assertThat(store.list("hold/", "", 10)).isEmpty();
  }
}
