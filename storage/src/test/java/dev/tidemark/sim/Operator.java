package dev.tidemark.sim;

import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import java.io.IOException;

/** Somebody at a terminal: alters the spec, hands the shard over, seals it, retires it. */
final class Operator extends Participant {
  private static final int FIRST_END = 2;

  private int turns;

  Operator(Host host) {
    super(host);
  }

  @Override
  void rest() {
    for (int i = 0; i < 2; i++) {
      host.rest();
    }
  }

  @Override
  void turn() throws IOException {
    ShardState state = refresh();
    if (!state.exists()) {
      return;
    }
    Chance chance = host.chance();
    Settings settings = host.world().settings();
    turns++;
    if (turns > FIRST_END && settings.retires() && chance.happens(0.3)) {
      commit(new Command.Retire(host.freshName()), "cli");
    } else if (turns > FIRST_END && settings.seals() && chance.happens(0.2)) {
      commit(new Command.Seal(host.freshName()), "cli");
    } else if (chance.happens(0.5)) {
      int fanIn = Math.max(2, state.spec().fanIn() - 2 + chance.below(5));
      commit(
          new Command.AlterSpec(
              fanIn, 2 * fanIn + chance.below(3), 2 * fanIn + chance.below(3), null, null, true),
          "cli");
    } else {
      commit(new Command.HandOver("w" + (1 + chance.below(settings.writers()))), "cli");
    }
  }
}
