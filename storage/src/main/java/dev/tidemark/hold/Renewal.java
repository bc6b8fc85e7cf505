package dev.tidemark.hold;

import dev.tidemark.store.StoreException;
import java.io.InterruptedIOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews a hold in the background, so that whoever reads under it may take as long as it likes
 * between two rows. Ends when it is closed or the hold is lost; the hold itself stays its owner's.
 */
public final class Renewal implements AutoCloseable {
  /** Looks a lease: renewing is due at a third of it, and may fail a few times. */
  private static final long LOOKS = 30;

  private static final Logger LOG = LoggerFactory.getLogger(Renewal.class);

  private final OwnHold hold;
  private final Thread thread;

  private Renewal(OwnHold hold) {
    this.hold = hold;
    this.thread = new Thread(this::renew, "tidemark-hold-" + hold.id());
    thread.setDaemon(true);
  }

  /** Begins to renew a hold. */
  public static Renewal start(OwnHold hold) {
    Renewal renewal = new Renewal(hold);
    renewal.thread.start();
    return renewal;
  }

  private void renew() {
    long pause = Math.max(1, hold.hold().leaseMillis() / LOOKS);
    try {
      while (true) {
        hold.pause(pause);
        try {
          if (!hold.maybeRenew()) {
            return; // lost: the reader finds out by what is gone, if anything is
          }
        } catch (StoreException e) {
          LOG.warn("hold {} was not renewed, tried again: {}", hold.id(), e.getMessage());
        }
      }
    } catch (InterruptedIOException closed) {
      LOG.debug("hold {} is renewed no more", hold.id());
    }
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
