package dev.tidemark.sim;

import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import java.io.IOException;
import java.util.List;
import java.util.SortedMap;

/** Reads the shard at a time, without a hold: exactly right, or the time is past since. */
final class Snapshooter extends Participant {
  private static final int TRIES = 3;

  /** How much likelier it is than elsewhere. */
  private static final double FREEZES_WHILE_READING = 4;

  Snapshooter(Host host) {
    super(host);
  }

  @Override
  void turn() throws IOException {
    ShardState state = refresh();
    long asOf = Holder.timeWithin(state, host.chance());
    if (asOf < 0) {
      return;
    }
    if (host.chance().happens(0.3)) {
      host.await(host.chance().between(60_000, 15_000_000)); // its parts may go meanwhile
    }
    for (int tried = 0; tried < TRIES; tried++) {
      if (asOf < state.since().time()) {
        host.tell(() -> "can't read at " + asOf + " any more");
        return;
      }
      List<Update> rows = read(upTo(state, asOf));
      if (rows != null) {
        check(host, asOf, Rows.at(asOf, rows));
        return;
      }
      state = refreshChecked();
    }
  }

  /** It has no hold: what it loaded stays for a while only. */
  @Override
  void afterPart() throws IOException {
    host.mayFreeze(FREEZES_WHILE_READING);
  }

  private static List<Batch> upTo(ShardState state, long asOf) {
    return state.batches().stream().filter(batch -> batch.bounds().lower().time() <= asOf).toList();
  }

  static void check(Host host, long asOf, SortedMap<String, Long> read) {
    SortedMap<String, Long> right = host.truth().model().at(asOf);
    if (!right.equals(read)) {
      throw new ViolationError(
          "I6", host.name() + " reads at " + asOf + " " + read + ", it should be " + right);
    }
    host.tell(() -> "reads at " + asOf + ": right");
  }
}
