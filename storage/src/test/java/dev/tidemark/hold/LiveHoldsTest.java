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
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Which holds count as live when time passes while they are looked at. */
class LiveHoldsTest {
  private static final long LEASE_MILLIS = Duration.ofMinutes(15).toMillis();
  private static final Hold HOLD =
      new Hold(new SeqNo(5), Frontier.of(100), LEASE_MILLIS, "tail", "here");

  /** One clock for the store and all actors, moved by hand. */
  private static final class World implements Pacing {
    private Instant now = Instant.parse("2026-11-30T00:00:00Z");
    private long randoms;

    void pass(Duration time) {
      now = now.plus(time);
    }

    @Override
    public Instant now() {
      return now;
    }

    @Override
    public long nanoTime() {
      return now.toEpochMilli() * 1_000_000;
    }

    @Override
    public void pause(long millis) {
      pass(Duration.ofMillis(millis));
    }

    @Override
    public long random() {
      return ++randoms;
    }

    @Override
    public int sideBySide() {
      return 1;
    }
  }

  private interface Event {
    void happen() throws IOException;
  }

  private final World world = new World();
  private final MemoryStore truth = new MemoryStore("holds", world::now);

  /** A store on whose way a clock's PUT takes long enough for something else to happen. */
  private ForwardingStore slowClock(Event meanwhile) {
    return new ForwardingStore(truth) {
      @Override
      public void put(String key, Body body) throws StoreException {
        try {
          meanwhile.happen();
        } catch (StoreException e) {
          throw e;
        } catch (IOException e) {
          throw new IllegalStateException(e);
        }
        super.put(key, body);
      }
    };
  }

  @Test
  void aHoldRenewedWhileTheClockIsAskedIsLive() throws IOException {
    OwnHold own = new Holds(truth, world).create(HOLD);
    Event renewal =
        () -> {
          world.pass(Duration.ofMinutes(10));
          assertThat(own.renew()).isTrue();
          world.pass(Duration.ofMinutes(10));
        };
    assertThat(new Holds(slowClock(renewal), world).live()).hasSize(1);
  }

  @Test
  void aHoldRenewedWhileLeftoversAreLookedForIsLeft() throws IOException {
    OwnHold own = new Holds(truth, world).create(HOLD);
    Event renewals =
        () -> {
          for (int i = 0; i < 6; i++) {
            world.pass(Duration.ofMinutes(10));
            assertThat(own.renew()).isTrue();
          }
        };
    assertThat(new Holds(slowClock(renewals), world).leftovers(100)).isEmpty();
  }

  @Test
  void aHoldIsOverWhenItsLeaseIs() throws IOException {
    Holds holds = new Holds(truth, world);
    holds.create(HOLD);
    assertThat(holds.live()).hasSize(1);
    assertThat(holds.leastSince()).isEqualTo(Frontier.of(100));
    world.pass(Duration.ofMinutes(16));
    assertThat(holds.live()).isEmpty();
    assertThat(holds.leastSince()).isEqualTo(Frontier.END);
  }
}
