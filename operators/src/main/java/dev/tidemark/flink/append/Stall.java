package dev.tidemark.flink.append;

import dev.tidemark.flink.SinkSettings;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Blockage;
import java.time.Instant;
import java.util.List;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.jspecify.annotations.Nullable;

/** How long a shard's spine has had no room, and what stands in the way. */
final class Stall {
  private final LongCounter counter = new LongCounter();

  /** What the spine said; null while it has room. Another thread asks whether it is null. */
  private volatile @Nullable String reason;

  private @Nullable Blockage blockage;
  private long since;
  private long counted;
  private List<String> wanted = List.of();
  private long wantedSince;

  /** The milliseconds in all that at least one append has waited. */
  LongCounter counter() {
    return counter;
  }

  /**
   * Notes how an append went.
   *
   * @param full what the spine said when it had no room for all of it; null when it had
   * @param state the shard then
   */
  void note(@Nullable String full, ShardState state, long now) {
    if (reason == null) {
      since = now;
    } else {
      counter.add(now - counted);
    }
    counted = now;
    reason = full;
    if (full == null) {
      blockage = null;
      wanted = List.of();
      return;
    }
    blockage = Blockage.of(state.spec(), state.batches(), state.since(), state.consolidating());
    if (!blockage.inputs().equals(wanted)) {
      wanted = blockage.inputs();
      wantedSince = now;
    }
  }

  boolean isFull() {
    return reason != null;
  }

  /** For how long it has had no room until now. */
  long millis(long now) {
    return reason == null ? 0 : now - since;
  }

  /** What is said when that is too long: what is full, what is stuck and since when, the mend. */
  String why(SinkSettings settings, long now) {
    StringBuilder why = new StringBuilder();
    why.append("has had no room for an append for ")
        .append(millis(now) / 1000)
        .append(" s (spine.max-stall ")
        .append(settings.maxStall().toSeconds())
        .append(" s): ")
        .append(reason);
    Blockage stuck = blockage;
    if (stuck != null) {
      why.append("; ").append(stuck.message());
    }
    if (!wanted.isEmpty()) {
      why.append(", wanted since ").append(Instant.ofEpochMilli(wantedSince)).append(" at least");
    }
    return why.append(". ").append(mend(settings, stuck)).toString();
  }

  private static String mend(SinkSettings settings, @Nullable Blockage stuck) {
    if (stuck != null && stuck.cause() == Blockage.Cause.MERGING_OFF) {
      return "Switch merging on again";
    }
    if (!settings.merging()) {
      return "This job leaves merging to others: see that one of role = compact runs";
    }
    return "If merges don't keep up, give them more (merge.parallelism) or the shard a larger queue;"
        + " if they fail, the merge task's warnings say why";
  }
}
