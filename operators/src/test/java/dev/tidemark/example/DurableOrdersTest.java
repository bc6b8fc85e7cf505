package dev.tidemark.example;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.log.ShardLog;
import dev.tidemark.read.ShardReader;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.shard.ShardState;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The example does what it says. */
@Timeout(120)
final class DurableOrdersTest {
  @TempDir Path folder;

  @Test
  void eachOrderIsConfirmedOnceAndOnlyWhenItIsDurable() throws Exception {
    String url = folder.resolve("warehouse/orders").toUri().toString();
    Configuration conf = new Configuration();
    conf.set(TaskManagerOptions.NUM_TASK_SLOTS, 3);
    conf.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, folder.resolve("ckpt").toUri().toString());
    StreamExecutionEnvironment env = StreamExecutionEnvironment.createLocalEnvironment(2, conf);
    env.enableCheckpointing(200);
    List<Long> confirmed = DurableOrders.confirmed(env, url, 1_500).executeAndCollect(1_500);
    assertThat(confirmed)
        .containsExactlyInAnyOrderElementsOf(LongStream.range(0, 1_500).boxed().toList());
    try (ObjectStore store = Stores.open(url, StoreSettings.DEFAULT)) {
      ShardLog log = new ShardLog(store);
      ShardState state = log.refresh();
      assertThat(state.seqno().value()).as("versions").isGreaterThan(3);
      long rows = 0;
      try (UpdateCursor cursor = new ShardReader(log).snapshot(state, state.upper().time() - 1)) {
        while (cursor.next()) {
          rows++;
        }
      }
      assertThat(rows).isEqualTo(1_500);
    }
  }
}
