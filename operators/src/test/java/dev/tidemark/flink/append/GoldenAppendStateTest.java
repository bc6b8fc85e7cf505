package dev.tidemark.flink.append;

import dev.tidemark.flink.GoldenBytes;
import dev.tidemark.time.Frontier;
import org.junit.jupiter.api.Test;

/** What append keeps beside the batches. */
final class GoldenAppendStateTest {
  @Test
  void pendingKey() {
    GoldenBytes.check(
        "pending-key-1",
        PendingKey.Serializer.INSTANCE,
        new PendingKey(17, Frontier.of(2000), 1026));
  }

  @Test
  void seenShard() {
    GoldenBytes.check(
        "seen-shard-1",
        SeenShard.Serializer.INSTANCE,
        new SeenShard("01J00000000000000000000000", Frontier.of(2000)));
  }
}
