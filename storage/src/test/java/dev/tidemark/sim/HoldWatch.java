package dev.tidemark.sim;

import dev.tidemark.log.Hold;
import dev.tidemark.log.HoldCodec;
import dev.tidemark.log.LogFormatException;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.spine.Batch;
import dev.tidemark.time.Frontier;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * What the holds in the store forbid. A hold speaks from the moment it is written: parts that leave
 * after that, and after the version it names, stay; and if the shard's since wasn't past it then,
 * no merge goes past its since. Once it has expired it says nothing, and when it is written again
 * after that, it speaks anew.
 */
final class HoldWatch {
  /**
   * @param hold what it says now
   * @param from the head when it began to speak
   * @param good whether since wasn't past it then
   * @param writtenMillis when it was written last
   */
  private record Spoken(Hold hold, SeqNo from, boolean good, long writtenMillis) {}

  private final SortedMap<String, Spoken> holds = new TreeMap<>();
  private final LongSupplier clockMillis;

  HoldWatch(LongSupplier clockMillis) {
    this.clockMillis = clockMillis;
  }

  void written(String key, byte[] bytes, SeqNo head, Frontier since) {
    if (key.startsWith("hold/clock-")) {
      return;
    }
    Hold hold = decode(key, bytes);
    Spoken before = holds.get(key);
    long now = clockMillis.getAsLong();
    boolean goesOn = before != null && isLive(before);
    SeqNo from = goesOn ? before.from() : head;
    boolean good =
        goesOn && before.good()
            ? !hold.since().isBefore(before.hold().since())
            : !since.isAfter(hold.since());
    holds.put(key, new Spoken(hold, from, good, now));
  }

  private static Hold decode(String key, byte[] bytes) {
    try {
      return HoldCodec.decode(bytes, key);
    } catch (LogFormatException e) {
      throw new ViolationError("I3", key + " can't be read", e);
    }
  }

  void deleted(String key) {
    holds.remove(key);
  }

  private boolean isLive(Spoken spoken) {
    return clockMillis.getAsLong() < spoken.writtenMillis() + spoken.hold().leaseMillis();
  }

  /** Whether a hold protects what its owner loaded at or after {@code loaded}. */
  boolean protects(String key, SeqNo loaded) {
    Spoken spoken = holds.get(key);
    return spoken != null
        && isLive(spoken)
        && spoken.good()
        && spoken.from().compareTo(loaded) <= 0
        && spoken.hold().seqno().compareTo(loaded) <= 0;
  }

  /** Throws when a part that left at that version may not go. */
  void checkDeletion(String part, SeqNo left) {
    for (Map.Entry<String, Spoken> entry : holds.entrySet()) {
      Spoken spoken = entry.getValue();
      if (isLive(spoken)
          && left.compareTo(spoken.from()) > 0
          && left.compareTo(spoken.hold().seqno()) > 0) {
        throw new ViolationError(
            "I3",
            part
                + " left at version "
                + left
                + " and is deleted under the live "
                + entry.getKey()
                + " of version "
                + spoken.hold().seqno());
      }
    }
  }

  /** Throws when a merge went past a hold. */
  void checkMerge(Batch output) {
    for (Map.Entry<String, Spoken> entry : holds.entrySet()) {
      Spoken spoken = entry.getValue();
      if (isLive(spoken) && spoken.good() && output.since().isAfter(spoken.hold().since())) {
        throw new ViolationError(
            "I3",
            "merge "
                + output.id()
                + " of since "
                + output.since()
                + " goes past the live "
                + entry.getKey()
                + " of since "
                + spoken.hold().since());
      }
    }
  }
}
