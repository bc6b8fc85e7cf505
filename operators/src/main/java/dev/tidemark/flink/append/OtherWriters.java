package dev.tidemark.flink.append;

import dev.tidemark.shard.Fact;
import dev.tidemark.shard.ShardState;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.List;

/** What a shard's log says of who else writes it. Pure. */
final class OtherWriters {
  private OtherWriters() {}

  /**
   * The other writers that have appended past what this one knows of and may go on doing so. Who
   * has handed the shard over has appended, too, but is no concurrent writer any more.
   *
   * @param known what this writer has appended up to, or seen while it was read-only
   */
  static List<Fact.WriterFact> concurrent(ShardState state, String writer, Frontier known) {
    List<Fact.WriterFact> others = new ArrayList<>();
    for (Fact.WriterFact other : state.writers().values()) {
      if (!other.id().equals(writer) && !other.readOnly() && other.upto().isAfter(known)) {
        others.add(other);
      }
    }
    return others;
  }

  /** Whether the shard was handed over to another writer, and this attempt isn't outdated. */
  static boolean isHandedOver(ShardState state, WriterAttempt by) {
    Fact.WriterFact own = state.writers().get(by.writer());
    return own != null && own.readOnly() && !by.isOlderThan(own.by());
  }
}
