package dev.tidemark.store.s3;

import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Faults at a rate, all kinds alike, by a seed; and now and then a spell in which every request is
 * told to slow down. Bits flip only where bytes carry a checksum of our own: in parts.
 */
final class FaultMix implements FaultyS3.Fault {
  private static final List<FaultyS3.Fault> KINDS =
      List.of(
          FaultyS3.REQUEST_LOST,
          FaultyS3.ANSWER_LOST,
          FaultyS3.ANSWER_LOST,
          FaultyS3.RESET,
          FaultyS3.RESET_MID_BODY,
          FaultyS3.TRUNCATED,
          FaultyS3.SLOW,
          FaultyS3.error(500, "InternalError"),
          FaultyS3.error(503, "SlowDown"));

  private final Random random;
  private final double rate;
  private final AtomicInteger faults = new AtomicInteger();
  private int spell;

  FaultMix(long seed, double rate) {
    this.random = new Random(seed);
    this.rate = rate;
  }

  /** Faults so far. */
  int faults() {
    return faults.get();
  }

  @Override
  public void serve(FaultyS3 server, FaultyS3.Request request, FaultyS3.Connection connection)
      throws IOException {
    next(request).serve(server, request, connection);
  }

  private synchronized FaultyS3.Fault next(FaultyS3.Request request) {
    if (spell > 0) {
      spell--;
      faults.incrementAndGet();
      return FaultyS3.error(503, "SlowDown");
    }
    if (random.nextDouble() >= rate) {
      return FaultyS3.NONE;
    }
    faults.incrementAndGet();
    int kind = random.nextInt(KINDS.size() + 4);
    if (kind < KINDS.size()) {
      return KINDS.get(kind);
    }
    if (kind == KINDS.size()) {
      return request.asks("uploadId") && request.method.equals("POST")
          ? FaultyS3.errorInside("InternalError")
          : FaultyS3.NONE;
    }
    if (kind == KINDS.size() + 1) {
      return request.headers.containsKey("if-none-match")
          ? FaultyS3.error(409, "ConditionalRequestConflict")
          : FaultyS3.NONE;
    }
    if (kind == KINDS.size() + 2) {
      boolean part = request.method.equals("GET") && request.key.contains("/part/");
      return part ? FaultyS3.BIT_FLIPPED : FaultyS3.NONE;
    }
    if (random.nextInt(4) == 0) {
      spell = random.nextInt(10);
    }
    return random.nextInt(8) == 0 ? FaultyS3.HANG : FaultyS3.NONE;
  }
}
