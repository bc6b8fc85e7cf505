package dev.tidemark.flink.append;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tidemark.flink.ShardCommit;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SinkSettings;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.TestShards;
import dev.tidemark.flink.message.MergeTask;
import dev.tidemark.flink.message.WrittenBatch;
import dev.tidemark.flink.spine.SpineOperator;
import dev.tidemark.flink.spine.SpineOptions;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.StoreException;
import dev.tidemark.store.Stores;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.StreamTaskActionExecutor;
import org.apache.flink.streaming.runtime.tasks.mailbox.MailboxExecutorImpl;
import org.apache.flink.streaming.runtime.tasks.mailbox.TaskMailbox;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A shard without merges takes very many batches, or very many wait for it. {@code
 * -Dtidemark.batches=20000} has it be so many.
 */
@Timeout(3_600)
final class ManyBatchesTest {
  private static final Logger LOG = LoggerFactory.getLogger(ManyBatchesTest.class);
  private static final int BATCHES = Integer.getInteger("tidemark.batches", 2_000);

  /** Batches of a commit. */
  private static final int EACH = 25;

  /** The commit that later ones are compared with. */
  private static final int EARLY = 10;

  private static final long BEGIN = 1_700_000_000_000L;

  private final SinkSettings settings = TestShards.settings(1, 1 << 20, 64);
  private final SlotKeys slots = new SlotKeys(1, 1, AppendHarness.KEY_GROUPS);
  private ShardTarget shard;
  private AppendHarness append;

  /** Keeps the newest rollup only, as garbage collection would: all of them don't fit in memory. */
  private static final class NewestRollup extends ForwardingStore {
    private String newest = "";

    NewestRollup(String name) {
      super(new MemoryStore(name));
    }

    @Override
    public Created putIfAbsent(String key, byte[] body) throws StoreException {
      Created created = super.putIfAbsent(key, body);
      if (key.contains("/rollup/")) {
        if (!newest.isEmpty()) {
          super.delete(List.of(newest));
        }
        newest = key;
      }
      return created;
    }
  }

  /** A subtask of spine. */
  private static final class Spine
      extends OneInputStreamOperatorTestHarness<ShardCommit, MergeTask> {
    Spine(ShardTarget shard, SinkSettings settings) throws Exception {
      super(new SpineOperator(new SpineOptions(List.of(shard), settings)));
      setup(MergeTask.Serializer.INSTANCE);
      ((SpineOperator) operator)
          .setMailboxExecutor(
              new MailboxExecutorImpl(getTaskMailbox(), 0, StreamTaskActionExecutor.IMMEDIATE));
      initializeEmptyState();
      open();
    }

    @Override
    public void close() {
      try {
        operator.close();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }

    /** Looks at a version. */
    void look(ShardState state) throws Exception {
      processElement(
          new StreamRecord<>(new ShardCommit(0, "a", state.seqno(), state.upper(), EACH)));
      getTaskMailbox().take(TaskMailbox.MIN_PRIORITY).run();
    }
  }

  private void start(int queue) throws Exception {
    TestShards shards = new TestShards(new SpineSpec(2, queue, 4, 1 << 20, 2.0, false));
    Stores.putMemory(shards.store, new NewestRollup(shards.store));
    shard = shards.shard("a");
    append = AppendHarness.start(List.of(shard), settings, slots, null);
  }

  @AfterEach
  void stop() {
    append.close();
  }

  /** A checkpoint that brings some batches, and is complete at once. */
  private void commit(int number) throws Exception {
    add(number);
    append.snapshot(number, 0);
    complete(number);
  }

  private void complete(int number) throws Exception {
    append.notifyOfCompletedCheckpoint(number);
    append.getOutput().clear();
  }

  /** The bytes that a savepoint has of what is live: a checkpoint has RocksDB's files. */
  private long savepointBytes(int number) throws Exception {
    return append
        .snapshotWithLocalState(number, 0, SavepointType.savepoint(SavepointFormatType.CANONICAL))
        .getJobManagerOwnedState()
        .getStateSize();
  }

  private void add(int number) throws Exception {
    long lower = BEGIN + (number - 1L) * EACH;
    List<WrittenBatch> batches = new ArrayList<>();
    for (long at = lower; at < lower + EACH; at++) {
      long from = at == BEGIN ? Long.MIN_VALUE : at;
      batches.add(TestBatches.named(1, from, at + 1, "part/2026-11-30/" + at + ".parquet"));
    }
    append.add(batches);
    append.processWatermark(lower + EACH - 1);
  }

  private List<Long> entrySizes() throws Exception {
    return TestShards.open(shard).list("log/0", "", Integer.MAX_VALUE).stream()
        .map(ObjectInfo::sizeBytes)
        .toList();
  }

  @Test
  @DisplayName("P-ST-05: of very many batches in a shard none is in state, or in a later entry")
  void batchesOfTheShardAreNotInState() throws Exception {
    start(BATCHES + 1);
    Spine spine = new Spine(shard, settings);
    int commits = BATCHES / EACH;
    long early = 0;
    long late = 0;
    long begin = System.nanoTime();
    for (int number = 1; number <= commits; number++) {
      if (number == EARLY || number == commits) {
        add(number);
        early = late;
        late = savepointBytes(number);
        complete(number);
      } else {
        commit(number);
      }
    }
    long tookMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
    ShardState state = TestShards.state(shard);
    assertThat(state.batches()).hasSize(commits * EACH);
    assertThat(early).isPositive();
    assertThat(late).as("append's state").isCloseTo(early, within(64L));
    assertThat(savepointBytes(commits + 1)).as("nothing waits").isLessThan(early / 2);

    spine.look(state);
    assertThat(spine.snapshot(1, 0).hasState()).as("spine's state").isFalse();
    assertThat(spine.extractOutputValues()).as("merging is off").isEmpty();
    spine.close();

    List<Long> sizes = entrySizes();
    assertThat(sizes).hasSize(commits + 1);
    assertThat(sizes.get(commits)).as("the entry").isCloseTo(sizes.get(EARLY), within(64L));
    LOG.warn( // so that a long run tells its figures
        "{} batches in {} commits: {} ms; savepoint {} bytes, then {}; entry {} bytes, then {}",
        state.batches().size(),
        commits,
        tookMillis,
        early,
        late,
        sizes.get(EARLY),
        sizes.get(commits));
  }

  @Test
  @DisplayName("P-ST-05: of very many batches that wait each is a value of its own in state")
  void batchesThatWaitAreValuesOfTheirOwn() throws Exception {
    int room = 5;
    start(room);
    int commits = BATCHES / EACH;
    long early = 0;
    for (int number = 1; number <= commits; number++) {
      commit(number);
      early = number == EARLY ? largestValue(EARLY * EACH - room) : early;
    }
    assertThat(largestValue(commits * EACH - room)).isEqualTo(early).isPositive();
    assertThat(TestShards.state(shard).batches()).hasSize(room);

    OperatorSubtaskState waiting = append.snapshot(commits + 1, 0);
    append.close();
    append = AppendHarness.start(List.of(shard), settings, slots, waiting);
    assertThat(largestValue(commits * EACH - room)).as("restored").isEqualTo(early);
    TestShards.change(
        shard,
        new Command.AlterSpec(null, BATCHES, null, null, null, null),
        TestShards.author("admin", "2026-01-01T00:00:00.000Z"));
    append.setProcessingTime(1_000);
    assertThat(largestValue(0)).isZero();
    assertThat(TestShards.state(shard).batches()).hasSize(commits * EACH);
  }

  /** The bytes of the largest of the values that wait, after a look at how many they are. */
  private long largestValue(int expected) throws Exception {
    MapStateDescriptor<PendingKey, WrittenBatch> pending =
        new MapStateDescriptor<>("pending-1", PendingKey.TYPE, WrittenBatch.TYPE);
    KeyedStateBackend<Integer> backend = append.getOperator().getKeyedStateBackend();
    backend.setCurrentKey(slots.shardKey(0));
    MapState<PendingKey, WrittenBatch> state =
        backend.getPartitionedState(
            VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, pending);
    TypeSerializer<WrittenBatch> serializer =
        WrittenBatch.TYPE.createSerializer(new SerializerConfigImpl());
    int count = 0;
    long largest = 0;
    for (Map.Entry<PendingKey, WrittenBatch> entry : state.entries()) {
      DataOutputSerializer bytes = new DataOutputSerializer(256);
      serializer.serialize(entry.getValue(), bytes);
      largest = Math.max(largest, bytes.length());
      count++;
    }
    assertThat(count).as("values in state").isEqualTo(expected);
    return largest;
  }
}
