package dev.tidemark.log;

import java.io.InterruptedIOException;
import java.security.SecureRandom;
import java.time.Instant;

/**
 * What the log needs of the world beside the store: time, waiting and chance. A simulation gives
 * its own and thereby runs in virtual time, the same for the same seed.
 */
public interface Pacing {
  /** The time that stands in entries, for people only. */
  Instant now();

  /** A clock that only goes on, in nanoseconds. */
  long nanoTime();

  /**
   * Waits.
   *
   * @throws InterruptedIOException when interrupted, with the thread's mark set
   */
  void pause(long millis) throws InterruptedIOException;

  /** 64 random bits, for nonces and jitter. */
  long random();

  /** How many GETs may run side by side; 1 keeps them in the caller's thread. */
  int sideBySide();

  /** The real world. */
  static Pacing system() {
    return new SystemPacing(new SecureRandom());
  }

  /**
   * {@link #system()}'s.
   *
   * @param bits where chance comes from
   */
  record SystemPacing(SecureRandom bits) implements Pacing {
    private static final int SIDE_BY_SIDE = 16;

    @Override
    public Instant now() {
      return Instant.now();
    }

    @Override
    public long nanoTime() {
      return System.nanoTime();
    }

    @Override
    public void pause(long millis) throws InterruptedIOException {
      try {
        Thread.sleep(millis);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw (InterruptedIOException)
            new InterruptedIOException("interrupted while waiting for the store").initCause(e);
      }
    }

    @Override
    public long random() {
      return bits.nextLong();
    }

    @Override
    public int sideBySide() {
      return SIDE_BY_SIDE;
    }
  }
}
