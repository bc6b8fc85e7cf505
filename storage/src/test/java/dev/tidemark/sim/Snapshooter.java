package dev.tidemark.sim;

import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import java.io.IOException;
import java.util.List;
import java.util.SortedMap;

/** Reads the shard at a time, without a hold: exactly right, or the time is past since. */
final class Snapshooter extends Participant {
  private static final int TRIES = 3;

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
