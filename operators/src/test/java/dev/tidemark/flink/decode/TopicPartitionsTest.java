package dev.tidemark.flink.decode;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.runtime.taskexecutor.GlobalAggregateManager;
import org.junit.jupiter.api.Test;

/** Whether a topic has several partitions, whoever reads them. */
class TopicPartitionsTest {
  /** As the job master keeps it. */
  private static final class Board implements GlobalAggregateManager {
    private final Map<String, Object> kept = new HashMap<>();
    private int calls;

    @Override
    @SuppressWarnings("unchecked")
    public <IN, ACC, OUT> OUT updateGlobalAggregate(
        String name, Object message, AggregateFunction<IN, ACC, OUT> function) {
      calls++;
      ACC before = (ACC) kept.computeIfAbsent(name, key -> function.createAccumulator());
      ACC after = function.add((IN) message, before);
      kept.put(name, after);
      return function.getResult(after);
    }
  }

  @Test
  void partitionsOfOtherSubtasksCount() throws Exception {
    Board board = new Board();
    TopicPartitions one = new TopicPartitions(board);
    TopicPartitions other = new TopicPartitions(board);
    for (int row = 0; row < 100; row++) {
      one.read("orders", "orders-0");
      other.read("orders-a", "orders-a-3");
    }
    assertThat(board.calls).as("one for each partition").isEqualTo(2);
    assertThat(one.besides("orders", "orders-0")).isNull();
    other.read("orders", "orders-1");
    assertThat(one.besides("orders", "orders-0")).isEqualTo("orders-1");
    assertThat(other.besides("orders", "orders-1")).isEqualTo("orders-0");
  }

  @Test
  void aPartitionOfTheSubtaskCountsWithoutRowsAndOneThatIsntTheFirstIsntAlone() throws Exception {
    TopicPartitions alone = new TopicPartitions((GlobalAggregateManager) null);
    alone.read("t", "t-0");
    assertThat(alone.besides("t", "t-0")).isNull();
    alone.assigned("t-1");
    assertThat(alone.besides("t", "t-0")).isEqualTo("t-1");
    alone.over("t-1");
    assertThat(alone.besides("t", "t-0")).isNull();
    assertThat(alone.besides("t", "t-2")).isEqualTo("t-0");
  }
}
