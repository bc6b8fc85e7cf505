package dev.tidemark.sim;

import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import dev.tidemark.time.Frontier;
import java.io.IOException;

/** Somebody at a terminal: alters the spec, forgets errors, hands the shard over, ends it. */
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
    } else if (settings.errors() && chance.happens(0.3)) {
      forgetErrors(state);
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

  private void forgetErrors(ShardState state) throws IOException {
    long upper = state.upper().isEnd() ? 1_000 : Math.max(0, state.upper().time());
    Frontier before = Frontier.of(host.chance().between(0, upper));
    host.truth().errors().mayForget(before);
    commit(new Command.ForgetErrors(before), "cli");
  }
}
