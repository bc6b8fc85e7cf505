package dev.tidemark.sim;

import dev.tidemark.hold.Holds;
import dev.tidemark.hold.OwnHold;
import dev.tidemark.log.Hold;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * Subscribes with a hold: a snapshot, then what comes after it. As long as the hold lives it must
 * get all it asks for; when it has lost the hold, it must notice or be right all the same.
 */
final class Holder extends Participant {
  private static final int TRIES = 3;

  /** How much likelier it is than elsewhere: it wakes up behind its lease, or just before. */
  private static final double FREEZES_WHILE_READING = 2;

  private static final long LEASE_MILLIS = 15 * 60_000L;

  private final Holds holds;
  private @Nullable OwnHold hold;
  private SeqNo loaded = SeqNo.ZERO;
  private long progress;

  Holder(Host host) {
    super(host);
    this.holds = new Holds(log);
  }

  /** A time that can be read, negative when there is none. */
  static long timeWithin(ShardState state, Chance chance) {
    if (!state.exists() || state.upper().isMinimum()) {
      return -1;
    }
    long first = Math.max(0, state.since().time());
    long last = state.upper().isEnd() ? first + 20 : state.upper().time() - 1;
    return first > last ? -1 : chance.between(first, last);
  }

  @Override
  void turn() throws IOException {
    ShardState state = refresh();
    progress = timeWithin(state, host.chance());
    if (progress < 0) {
      return;
    }
    if (host.chance().happens(0.2)) {
      host.await(host.chance().between(60_000, 9_000_000)); // what it wants gets old
    }
    Hold wanted =
        new Hold(state.seqno(), Frontier.of(progress), LEASE_MILLIS, "simulation", host.name());
    OwnHold own = holds.create(wanted);
    hold = own;
    if (host.world().mutant() != Mutant.HOLD_AFTER_LOAD) {
      state = refreshChecked();
    }
    loaded = state.seqno();
    if (state.since().isAfter(wanted.since())) {
      host.tell(() -> "comes too late for " + progress);
    } else {
      follow(own, state);
      if (own.lost()) {
        host.world().count("holds lost");
      }
    }
    if (host.chance().happens(0.7)) {
      own.drop();
    }
  }

  @Override
  void afterPart() throws IOException {
    if (hold != null) {
      host.mayFreeze(FREEZES_WHILE_READING);
      hold.maybeRenew();
    }
  }

  private void follow(OwnHold own, ShardState first) throws IOException {
    SortedMap<String, Long> counts = null;
    ShardState state = first;
    int rounds = host.chance().below(12);
    for (int round = 0; round <= rounds; round++) {
      long until = round == 0 ? progress : last(state);
      List<Update> rows = readFrom(own, state, round == 0 ? Long.MIN_VALUE : progress, until);
      if (rows == null) {
        host.tell(() -> "lost its hold");
        return;
      }
      if (counts == null) {
        counts = Rows.at(until, rows);
      } else {
        Rows.add(counts, until, rows);
      }
      progress = until;
      Snapshooter.check(host, until, counts);
      host.await(host.chance().between(1_000, 600_000));
      if (host.chance().happens(0.6)) {
        own.forward(state.seqno(), Frontier.of(progress));
      }
      own.maybeRenew();
      state = refresh();
      loaded = state.seqno();
    }
  }

  private long last(ShardState state) {
    return state.upper().isEnd() ? progress + 20 : Math.max(progress, state.upper().time() - 1);
  }

  /** The updates after {@code after} up to {@code until}, null when they can't be had any more. */
  private @Nullable List<Update> readFrom(OwnHold own, ShardState known, long after, long until)
      throws IOException {
    ShardState state = known;
    for (int tried = 0; tried < TRIES; tried++) {
      List<Batch> batches = new ArrayList<>();
      boolean past = false;
      for (Batch batch : state.batches()) {
        if (batch.bounds().upper().time() > after && batch.bounds().lower().time() <= until) {
          batches.add(batch);
          past |= batch.since().time() > progress;
        }
      }
      if (!past) {
        List<Update> rows = read(batches);
        if (rows != null) {
          return rows.stream()
              .filter(update -> update.time() > after && update.time() <= until)
              .toList();
        }
      }
      String key = "hold/" + own.id() + ".json";
      if (!own.lost()) {
        throw new ViolationError(
            "I6", host.name() + " can't read at " + progress + " under its live " + key);
      }
      if (past) {
        return null;
      }
      state = refreshChecked();
      loaded = state.seqno();
    }
    return null;
  }
}
