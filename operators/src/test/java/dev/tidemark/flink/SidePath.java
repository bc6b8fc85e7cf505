package dev.tidemark.flink;

import dev.tidemark.flink.install.InstallOperator;
import dev.tidemark.flink.install.InstallOptions;
import dev.tidemark.flink.merge.MergeOperator;
import dev.tidemark.flink.merge.MergeOptions;
import dev.tidemark.flink.message.MergeTask;
import dev.tidemark.flink.message.MergedChunk;
import dev.tidemark.flink.message.SpineChange;
import dev.tidemark.flink.spine.SpineOperator;
import dev.tidemark.flink.spine.SpineOptions;
import dev.tidemark.shard.ShardState;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.accumulators.Accumulator;
import org.apache.flink.api.common.typeutils.base.VoidSerializer;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.StreamTaskActionExecutor;
import org.apache.flink.streaming.runtime.tasks.mailbox.Mail;
import org.apache.flink.streaming.runtime.tasks.mailbox.MailboxExecutorImpl;
import org.apache.flink.streaming.runtime.tasks.mailbox.TaskMailbox;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.streaming.util.TwoInputStreamOperatorTestHarness;

/**
 * Spine, merge and install of one shard, joined by hand as a job joins them: one task's thread for
 * all three, and a clock that the test moves.
 */
final class SidePath {
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final OneInputStreamOperatorTestHarness<ShardCommit, MergeTask> spine;
  private final OneInputStreamOperatorTestHarness<MergeTask, MergedChunk> merge;
  private final TwoInputStreamOperatorTestHarness<SpineChange, MergedChunk, Void> install;
  private final List<AbstractStreamOperator<?>> operators;
  private final String name;
  private int asked;
  private int changed;
  private int merged;
  private long now;

  interface Condition {
    boolean holds() throws Exception;
  }

  SidePath(ShardTarget shard, SinkSettings settings) throws Exception {
    name = shard.name();
    List<ShardTarget> shards = List.of(shard);
    SpineOperator spineOperator = new SpineOperator(new SpineOptions(shards, settings));
    spine = new OneInputStreamOperatorTestHarness<>(spineOperator);
    spine.setup(MergeTask.Serializer.INSTANCE);
    spineOperator.setMailboxExecutor(mailbox(spine));
    MergeOperator mergeOperator = new MergeOperator(new MergeOptions(shards, settings));
    merge = new OneInputStreamOperatorTestHarness<>(mergeOperator);
    merge.setup(MergedChunk.Serializer.INSTANCE);
    mergeOperator.setMailboxExecutor(mailbox(merge));
    InstallOperator installOperator = new InstallOperator(new InstallOptions(shards, settings));
    install = new TwoInputStreamOperatorTestHarness<>(installOperator);
    install.setup(VoidSerializer.INSTANCE);
    installOperator.setMailboxExecutor(mailbox(install));
    operators = List.of(spineOperator, mergeOperator, installOperator);
    for (AbstractStreamOperatorTestHarness<?> part : parts()) {
      part.initializeEmptyState();
      part.open();
    }
  }

  private static MailboxExecutorImpl mailbox(AbstractStreamOperatorTestHarness<?> harness) {
    return new MailboxExecutorImpl(harness.getTaskMailbox(), 0, StreamTaskActionExecutor.IMMEDIATE);
  }

  private List<AbstractStreamOperatorTestHarness<?>> parts() {
    return List.of(spine, merge, install);
  }

  /** The chunks that spine has asked for so far. */
  List<MergeTask> asked() {
    return spine.extractOutputValues();
  }

  /** The plans that merge has failed for good. */
  long failures() {
    Accumulator<Long, Long> counter =
        operators.get(1).getRuntimeContext().getAccumulator("tidemark." + name + ".mergesFailed");
    return counter.getLocalValue();
  }

  /** Moves the clock on. */
  void pass(long millis) throws Exception {
    now += millis;
    for (AbstractStreamOperatorTestHarness<?> part : parts()) {
      part.setProcessingTime(now);
    }
  }

  /** Waits until something holds, and does what comes up meanwhile. */
  void await(Condition condition) throws Exception {
    do {
      while (step()) {
        forward();
      }
      if (!condition.holds()) {
        LockSupport.parkNanos(LOOK_NANOS);
      }
    } while (!condition.holds());
  }

  /** Tells spine of a commit. */
  void committed(ShardState state) throws Exception {
    spine.processElement(
        new StreamRecord<>(new ShardCommit(0, name, state.seqno(), state.upper(), 1)));
  }

  /** Waits until spine has read the log, as it was just told to. */
  void look() throws Exception {
    spine.getTaskMailbox().take(TaskMailbox.MIN_PRIORITY).run();
    forward();
  }

  private boolean step() throws Exception {
    for (AbstractStreamOperatorTestHarness<?> part : parts()) {
      Optional<Mail> mail = part.getTaskMailbox().tryTake(TaskMailbox.MIN_PRIORITY);
      if (mail.isPresent()) {
        mail.get().run();
        return true;
      }
    }
    return false;
  }

  private void forward() throws Exception {
    List<MergeTask> tasks = spine.extractOutputValues();
    while (asked < tasks.size()) {
      merge.processElement(new StreamRecord<>(tasks.get(asked++)));
    }
    var changes = spine.getSideOutput(SpineOperator.CHANGES);
    if (changes != null) {
      List<StreamRecord<SpineChange>> all = List.copyOf(changes);
      while (changed < all.size()) {
        install.processElement1(all.get(changed++));
      }
    }
    List<MergedChunk> chunks = merge.extractOutputValues();
    while (merged < chunks.size()) {
      install.processElement2(new StreamRecord<>(chunks.get(merged++)));
    }
  }

  void close() throws Exception {
    for (AbstractStreamOperator<?> operator : operators) {
      operator.close();
    }
  }
}
