package dev.tidemark.shard;

/** All rules of a shard, in one place, for everybody: state and command in, decision out. Pure. */
public final class ShardMachine {
  private ShardMachine() {}

  /** Decides a command on a state. */
  public static Decision decide(ShardState state, Command command) {
    throw new UnsupportedOperationException();
  }
}
