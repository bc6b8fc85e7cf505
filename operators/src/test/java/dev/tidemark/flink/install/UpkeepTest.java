package dev.tidemark.flink.install;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SinkSettings;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.TestShards;
import dev.tidemark.flink.message.MergedChunk;
import dev.tidemark.flink.message.SpineChange;
import dev.tidemark.gc.GcSettings;
import dev.tidemark.hold.Holds;
import dev.tidemark.hold.OwnHold;
import dev.tidemark.log.Hold;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.Verifier;
import dev.tidemark.shard.Command;
import dev.tidemark.store.Body;
import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import dev.tidemark.time.Frontier;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.typeutils.base.VoidSerializer;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.StreamTaskActionExecutor;
import org.apache.flink.streaming.runtime.tasks.mailbox.MailboxExecutorImpl;
import org.apache.flink.streaming.runtime.tasks.mailbox.TaskMailbox;
import org.apache.flink.streaming.util.TwoInputStreamOperatorTestHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What install does by the clock. */
@Timeout(60)
final class UpkeepTest {
  private static final Duration INTERVAL = Duration.ofMinutes(10);

  /** Longer than interval and jitter. */
  private static final long ROUND_MILLIS = INTERVAL.toMillis() * 2;

  private final TestShards shards = new TestShards();
  private final SlotKeys slots = new SlotKeys(1, 1, 16);
  private ShardTarget shard = shards.shard("a");
  private Install install;
  private Faults store;
  private long now;

  /** The subtask. */
  private static final class Install
      extends TwoInputStreamOperatorTestHarness<SpineChange, MergedChunk, Void> {
    Install(ShardTarget shard) throws Exception {
      super(new InstallOperator(new InstallOptions(List.of(shard), settings())));
      setup(VoidSerializer.INSTANCE);
      InstallOperator install = (InstallOperator) operator;
      install.setMailboxExecutor(
          new MailboxExecutorImpl(getTaskMailbox(), 0, StreamTaskActionExecutor.IMMEDIATE));
    }

    private static SinkSettings settings() {
      return TestShards.settings(1, 1 << 20, 64).withGc(INTERVAL, GcSettings.DEFAULT);
    }

    @Override
    public void close() {
      try {
        operator.close();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }

    void runMail() throws Exception {
      getTaskMailbox().take(TaskMailbox.MIN_PRIORITY).run();
    }
  }

  /** Deletes nothing: hangs, or fails. */
  private static final class Faults extends ForwardingStore {
    final CountDownLatch deleting = new CountDownLatch(1);
    final CountDownLatch mayDelete = new CountDownLatch(1);
    volatile boolean hangs;
    volatile boolean fails;

    Faults(ObjectStore store) {
      super(store);
    }

    @Override
    public void delete(List<String> keys) throws StoreException {
      if (fails) {
        throw new StoreException(StoreException.Reason.UNAVAILABLE, true, "503 for a test", null);
      }
      if (hangs) {
        deleting.countDown();
        try {
          mayDelete.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          throw new StoreException(StoreException.Reason.OTHER, true, "cut off", e);
        }
      }
      super.delete(keys);
    }
  }

  @BeforeEach
  void fill() throws Exception {
    for (int i = 0; i < 3; i++) {
      long lower = i == 0 ? Long.MIN_VALUE : i * 100L;
      TestShards.append(
          shard, lower, i * 100L + 100, TestShards.row(slots, 0, i, "x", i * 100L + 99, 1));
    }
    store = new Faults(Stores.open("memory:" + shards.store, StoreSettings.DEFAULT));
    Stores.putMemory(shards.store, store);
    for (int i = 0; i < 5; i++) {
      TestShards.open(shard)
          .put("part/2020-01-01/orphan" + i + ".parquet", Body.of(new byte[] {1}));
    }
  }

  private void start(OperatorSubtaskState state) throws Exception {
    install = new Install(shard);
    install.setProcessingTime(now);
    if (state == null) {
      install.initializeEmptyState();
    } else {
      install.initializeState(state);
    }
    install.open();
  }

  /** Lets an interval pass, hence one round begin. */
  private void pass() throws Exception {
    now += ROUND_MILLIS;
    install.setProcessingTime(now);
  }

  @AfterEach
  void stop() {
    install.close();
  }

  private long orphans() throws Exception {
    return TestShards.open(shard).list("part/2020-01-01/", "", 100).size();
  }

  private void checkShard() throws Exception {
    assertThat(TestShards.updates(shard)).hasSize(3);
    assertThat(new Verifier(new ShardLog(TestShards.open(shard))).verify(true).findings())
        .isEmpty();
  }

  @Test
  void orphansStayUntilWhatWasRestoredMustBeCommitted() throws Exception {
    start(null);
    pass();
    install.runMail();
    assertThat(orphans()).as("no checkpoint yet").isEqualTo(5);
    install.notifyOfCompletedCheckpoint(1);
    pass(); // longer than spine.max-stall
    install.runMail();
    assertThat(orphans()).isZero();
    checkShard();
  }

  @Test
  void aFailedRoundHarmsNothingAndIsTriedAgain() throws Exception {
    store.fails = true;
    start(null);
    install.notifyOfCompletedCheckpoint(1);
    for (int round = 0; round < 3; round++) {
      pass();
      install.runMail();
    }
    assertThat(orphans()).isEqualTo(5);
    assertThat(install.getTaskMailbox().hasMail()).isFalse();
    store.fails = false;
    pass();
    install.runMail();
    assertThat(orphans()).isZero();
    checkShard();
  }

  /** Neither the barrier nor the end waits for a store that hangs; another attempt finishes. */
  @Test
  void closedInTheMiddleOfARoundAnotherAttemptGoesOn() throws Exception {
    store.hangs = true;
    start(null);
    install.notifyOfCompletedCheckpoint(1);
    pass();
    assertThat(store.deleting.await(30, TimeUnit.SECONDS)).isTrue();
    OperatorSubtaskState state = install.snapshot(2, 0);
    long begun = System.nanoTime();
    install.close();
    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(5));
    assertThat(orphans()).isEqualTo(5);
    checkShard();
    store.hangs = false;
    start(state);
    install.notifyOfCompletedCheckpoint(3);
    pass();
    install.runMail();
    assertThat(orphans()).isZero();
    checkShard();
  }

  @Test
  void sinceFollowsTheUpperThoughNothingIsWrittenAndPassesNoHold() throws Exception {
    shard = shards.shard("a", Duration.ofMillis(50));
    ShardLog log = new ShardLog(TestShards.open(shard));
    OwnHold hold =
        new Holds(log)
            .create(new Hold(log.refresh().seqno(), Frontier.of(120), 900_000, "a read", "test"));
    start(null);
    pass();
    install.runMail();
    assertThat(TestShards.state(shard).since()).isEqualTo(Frontier.of(120));
    install.processElement1(
        new StreamRecord<>(new SpineChange(0, new Command.DowngradeSince(Frontier.of(299)))));
    // Commands of a shard are done one after another: once this one is to be seen, so was that.
    install.processElement1(
        new StreamRecord<>(new SpineChange(0, new Command.Sweep("2020-01-01"))));
    while (TestShards.state(shard).swept() == null) {
      Thread.onSpinWait();
    }
    pass();
    install.runMail();
    assertThat(TestShards.state(shard).since()).as("held").isEqualTo(Frontier.of(120));
    hold.drop();
    assertThat(TestShards.open(shard).list("hold/", "", 9).stream().map(ObjectInfo::key)).isEmpty();
  }
}
