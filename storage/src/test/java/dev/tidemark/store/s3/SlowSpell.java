package dev.tidemark.store.s3;

import java.io.IOException;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** A hot prefix, in small: three requests of ten are told to slow down, then all, then none. */
final class SlowSpell implements FaultyS3.Fault {
  private static final long SOME_NANOS = TimeUnit.SECONDS.toNanos(3);
  private static final long ALL_NANOS = TimeUnit.MILLISECONDS.toNanos(1_500);

  private final Random random;
  private final long begunNanos = System.nanoTime();

  SlowSpell(long seed) {
    this.random = new Random(seed);
  }

  @Override
  public void serve(FaultyS3 server, FaultyS3.Request request, FaultyS3.Connection connection)
      throws IOException {
    (refuses() ? FaultyS3.error(503, "SlowDown") : FaultyS3.NONE)
        .serve(server, request, connection);
  }

  private synchronized boolean refuses() {
    long passed = System.nanoTime() - begunNanos;
    boolean some = passed < SOME_NANOS && random.nextInt(10) < 3;
    return some || (passed >= SOME_NANOS && passed < SOME_NANOS + ALL_NANOS);
  }
}
