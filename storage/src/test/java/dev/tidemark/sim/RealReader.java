package dev.tidemark.sim;

import dev.tidemark.hold.HoldLostException;
import dev.tidemark.hold.Holds;
import dev.tidemark.read.AsOf;
import dev.tidemark.read.HeldReader;
import dev.tidemark.read.Listen;
import dev.tidemark.read.ReadRefusedException;
import dev.tidemark.shard.ShardState;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/** The reader that sources and commands have: a snapshot under a hold, then what comes after it. */
final class RealReader extends Participant {
  private static final long LEASE_MILLIS = 15 * 60_000L;

  RealReader(Host host) {
    super(host);
  }

  @Override
  void turn() throws IOException {
    ShardState state = refresh();
    long asOf = Holder.timeWithin(state, host.chance());
    if (asOf < 0) {
      return;
    }
    HeldReader.Terms terms = new HeldReader.Terms("simulation", host.name(), LEASE_MILLIS);
    try (HeldReader reader = HeldReader.open(log, new Holds(log), terms, AsOf.at(asOf))) {
      follow(reader, asOf);
    } catch (ReadRefusedException e) {
      host.tell(() -> "is refused: " + e.getMessage());
    }
  }

  private void follow(HeldReader reader, long asOf) throws IOException {
    String key = "hold/" + reader.hold().id() + ".json";
    try {
      SortedMap<String, Long> counts = Rows.at(asOf, Parquet.drain(reader.snapshot(0)));
      Snapshooter.check(host, asOf, counts);
      Listen listen = reader.listen();
      int rounds = host.chance().below(8);
      for (int round = 0; round < rounds && !listen.ended(); round++) {
        host.await(host.chance().between(1_000, 300_000));
        reader.tick();
        Optional<Listen.Stretch> stretch = listen.next();
        if (stretch.isPresent()) {
          List<Update> updates = Parquet.drain(stretch.get().updates());
          long last = stretch.get().upto().time() - 1;
          Rows.add(counts, last, updates);
          Snapshooter.check(host, last, counts);
        }
      }
    } catch (HoldLostException e) {
      host.tell(() -> "lost its hold: " + e.getMessage());
      host.world().count("holds lost");
      if (!reader.hold().lost() && host.truth().holds().protects(key, reader.state().seqno())) {
        throw new ViolationError("I6", host.name() + " lost its live " + key, e);
      }
    }
  }
}
