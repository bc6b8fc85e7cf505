package dev.tidemark.flink.append;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.flink.ShardHandle;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SinkSettings;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.StartMode;
import dev.tidemark.flink.StopForGoodException;
import dev.tidemark.flink.TestShards;
import dev.tidemark.flink.message.Update;
import dev.tidemark.log.Author;
import dev.tidemark.log.CommitResult;
import dev.tidemark.schema.Column;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.Stores;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.throwable.ThrowableClassifier;
import org.apache.flink.runtime.throwable.ThrowableType;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a job must not go on after, each with what it says. */
@Timeout(60)
final class StopForGoodTest {
  private static final long MIN = Long.MIN_VALUE;

  private final TestShards shards = new TestShards();
  private final ShardTarget shard = shards.shard("a");
  private final SlotKeys slots = new SlotKeys(1, 1, AppendHarness.KEY_GROUPS);
  private final SinkSettings settings = TestShards.settings(1, 1 << 20, 4 << 10);
  private AppendHarness append;

  private AppendHarness start(ShardTarget target, OperatorSubtaskState state) throws Exception {
    stop();
    append = AppendHarness.start(List.of(target), settings, slots, state);
    return append;
  }

  @AfterEach
  void stop() throws Exception {
    if (append != null) {
      append.close();
      append = null;
    }
  }

  private Update row(long id, long time) {
    return TestShards.row(slots, 0, id, "x", time, 1);
  }

  /** Commits rows up to 100 and returns a state that knows of it. */
  private OperatorSubtaskState written() throws Exception {
    start(shard, null);
    commit(1, MIN, 100);
    return append.snapshot(2, 0);
  }

  private void commit(long checkpoint, long lower, long upper) throws Exception {
    append.add(TestBatches.inline(lower, upper, row(checkpoint, upper - 1)));
    append.processWatermark(upper - 1);
    append.snapshot(checkpoint, 0);
    append.notifyOfCompletedCheckpoint(checkpoint);
  }

  private void foreign(String writer, String started, long lower, long upper) throws Exception {
    Author by = TestShards.author(writer, started);
    Batch empty =
        new Batch(
            ShardHandle.newId(),
            new BatchDescription(Frontier.of(lower), Frontier.of(upper)),
            Frontier.MINIMUM,
            0,
            List.of(),
            List.of(),
            0,
            0,
            0,
            OptionalLong.of(0),
            MIN,
            false,
            1,
            Map.of());
    CommitResult result =
        TestShards.change(shard, new Command.Append(by.attempt(), List.of(empty)), by);
    assertThat(result).isInstanceOf(CommitResult.Committed.class);
  }

  private static void assertStops(ThrowingCallable what, String... says) {
    assertThatThrownBy(what)
        .isInstanceOf(StopForGoodException.class)
        .hasMessageContainingAll(says)
        .satisfies(
            stop ->
                assertThat(
                        ThrowableClassifier.findThrowableOfThrowableType(
                            new RuntimeException(stop), ThrowableType.NonRecoverableError))
                    .as("Flink doesn't restart after it")
                    .isPresent());
  }

  @Test
  void aJobWithoutStateDoesNotWriteAShardWithData() throws Exception {
    written();
    assertStops(
        () -> start(shard, null),
        shard.url(),
        "data up to 100",
        "start = refuse",
        "test (attempt ",
        " since 20",
        ", up to 100)",
        "--restore");
  }

  @Test
  void aJobWithAnotherSchemaDoesNotWriteTheShard() throws Exception {
    OperatorSubtaskState state = written();
    Schema other =
        new Schema(
            1,
            List.of(new Column(1, "id", ColumnType.of(ColumnType.Kind.INT, false))),
            List.of("id"));
    ShardTarget changed =
        new ShardTarget(shard.url(), shard.name(), other, SpineSpec.DEFAULT, null);
    assertStops(
        () -> start(changed, state),
        shard.url(),
        "id BIGINT NOT NULL",
        "id INT NOT NULL",
        "test (attempt ",
        ", up to 100)",
        "give the job the shard's schema");
  }

  @Test
  void aForeignWriterStopsTheNextAppend() throws Exception {
    written();
    foreign("other", "2026-01-01T00:00:00.000Z", 100, 150);
    assertStops(
        () -> commit(3, 100, 200),
        shard.url(),
        "writer test",
        "150",
        "100",
        "other (attempt attempt-1 on elsewhere since 2026-01-01T00:00:00.000Z, up to 150)",
        "stop the other");
  }

  @Test
  void aForeignWriterIsFoundOnRestore() throws Exception {
    OperatorSubtaskState state = written();
    foreign("other", "2026-01-01T00:00:00.000Z", 100, 150);
    assertStops(
        () -> start(shard, state),
        shard.url(),
        "upper is 150",
        "up to 100",
        "other (attempt attempt-1 on elsewhere since 2026-01-01T00:00:00.000Z, up to 150)");
  }

  @Test
  void anOlderCheckpointThanTheShardIsRefused() throws Exception {
    OperatorSubtaskState state = written();
    commit(3, 100, 200);
    assertStops(
        () -> start(shard, state),
        shard.url(),
        "writer test",
        "up to 200",
        "only to 100",
        "newer checkpoint");
  }

  @Test
  void aLogThatWentBackIsRefused() throws Exception {
    written();
    commit(3, 100, 200);
    OperatorSubtaskState state = append.snapshot(4, 0);
    stop();
    List<String> entries = new ArrayList<>();
    ObjectStore store = TestShards.open(shard);
    for (ObjectInfo entry : store.list("log/", "", 100)) {
      entries.add(entry.key());
    }
    assertThat(TestShards.state(shard).seqno()).isEqualTo(new SeqNo(entries.size()));
    store.delete(List.of(entries.get(entries.size() - 1)));
    assertStops(
        () -> start(shard, state),
        shard.url(),
        "went back",
        "upper is 100",
        "writer test has seen 200",
        "test (attempt ",
        "bring the lost versions back");
  }

  @Test
  void anotherShardInItsPlaceIsRefused() throws Exception {
    OperatorSubtaskState state = written();
    String before = TestShards.state(shard).shard();
    Stores.putMemory(shards.store, new MemoryStore("another"));
    start(shard, null);
    String after = TestShards.state(shard).shard();
    assertStops(
        () -> start(shard, state), shard.url(), before, after, "up to 100", "bring that one back");
  }

  @Test
  void aShardThatIsGoneIsNotMadeAnew() throws Exception {
    OperatorSubtaskState state = written();
    String before = TestShards.state(shard).shard();
    Stores.putMemory(shards.store, new MemoryStore("empty"));
    assertStops(() -> start(shard, state), shard.url(), "there is no shard", before, "up to 100");
    assertThat(TestShards.state(shard).exists()).isFalse();
  }

  @Test
  void aSealedShardIsRefusedOnRestore() throws Exception {
    OperatorSubtaskState state = written();
    seal();
    assertStops(() -> start(shard, state), shard.url(), "upper is end", "sealed", "another");
  }

  @Test
  void aSealStopsTheNextAppend() throws Exception {
    written();
    seal();
    assertStops(
        () -> commit(3, 100, 200),
        shard.url(),
        "writer test",
        "upper, which is end",
        "100",
        "sealed");
  }

  private void seal() throws Exception {
    CommitResult result =
        TestShards.change(
            shard,
            new Command.Seal(ShardHandle.newId()),
            TestShards.author("cli", "2026-01-01T00:00:00.000Z"));
    assertThat(result).isInstanceOf(CommitResult.Committed.class);
  }

  @Test
  void aYoungerAttemptFencesTheOlderOne() throws Exception {
    written();
    ShardState state = TestShards.state(shard);
    assertThat(state.upper()).isEqualTo(Frontier.of(100));
    foreign("test", "2099-01-01T00:00:00.000Z", 100, 150);
    assertStops(
        () -> commit(3, 150, 200),
        shard.url(),
        "writer test",
        "attempt-1 on elsewhere of 2099-01-01T00:00:00.000Z",
        "stop");
  }

  @Test
  void aJobThatBeganOnDataGoesOnFromStateBelowIt() throws Exception {
    TestShards.append(shard, MIN, 100, row(0, 99));
    SinkSettings resume = settings.withStart(StartMode.RESUME_BY_TIME);
    append = AppendHarness.start(List.of(shard), resume, slots, null);
    append.processWatermark(49); // what is read again is there already
    OperatorSubtaskState below = append.snapshot(1, 0);
    append.notifyOfCompletedCheckpoint(1);
    assertThat(TestShards.state(shard).upper()).isEqualTo(Frontier.of(100));
    start(shard, below);
    append.add(TestBatches.inline(50, 150, row(1, 120)));
    append.processWatermark(149);
    OperatorSubtaskState covered = append.snapshot(2, 0);
    start(shard, covered);
    assertThat(TestShards.state(shard).upper()).isEqualTo(Frontier.of(150));
    assertStops(() -> start(shard, below), "up to 150", "reaches only to 50", "resume-by-time");
  }
}
