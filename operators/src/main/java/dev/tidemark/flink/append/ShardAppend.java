package dev.tidemark.flink.append;

import dev.tidemark.flink.ShardHandle;
import dev.tidemark.flink.ShardStart;
import dev.tidemark.flink.StopForGoodException;
import dev.tidemark.flink.message.WrittenBatch;
import dev.tidemark.log.Author;
import dev.tidemark.log.CommitResult;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.Decision;
import dev.tidemark.shard.Fact;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One shard's share of a commit: plans the append on the shard's state, makes its batches, puts it
 * into the log, and says what became of each written batch. Runs in an executor.
 */
final class ShardAppend {
  /** How often batches are cut anew: nobody alters a spec twice while an append is under way. */
  private static final int MOST_CUTS = 10;

  /**
   * What became of it.
   *
   * @param state the shard afterwards
   * @param done the written batches that are in the shard now
   * @param committed what this append brought; null when it brought nothing
   * @param full what the spine said when it had no room for all of it; null when it had
   */
  record Outcome(
      ShardState state,
      List<WrittenBatch> done,
      @Nullable Committed committed,
      @Nullable String full) {}

  /** A version that the append made. */
  record Committed(SeqNo seqno, Frontier upper, long rows, long bytes) {}

  private final ShardHandle handle;
  private final Author by;
  private final Frontier start;
  private final List<WrittenBatch> due;
  private final Promise promise;
  private final int inlineBytes;

  ShardAppend(
      ShardHandle handle,
      Author by,
      Frontier start,
      List<WrittenBatch> due,
      Promise promise,
      int inlineBytes) {
    this.handle = handle;
    this.by = by;
    this.start = start;
    this.due = due;
    this.promise = promise;
    this.inlineBytes = inlineBytes;
  }

  /**
   * Appends. Where the spec was altered since it was looked at, the batches are cut by it anew.
   *
   * @throws IOException also when the spec changes all the time
   */
  Outcome run() throws IOException {
    for (int cuts = 0; cuts < MOST_CUTS; cuts++) {
      Outcome outcome = cutAndAppend();
      if (outcome != null) {
        return outcome;
      }
    }
    throw new IOException(
        "shard "
            + handle.target().url()
            + ": its spec was altered "
            + MOST_CUTS
            + " times while batches were appended; leave it alone for a while");
  }

  /** Null when the spec has fewer runs in a batch than it had a moment ago. */
  private @Nullable Outcome cutAndAppend() throws IOException {
    ShardState state = handle.log().known();
    int freshRuns = state.spec().freshRuns();
    AppendPlan plan = plan(state, freshRuns);
    if (plan.groups().isEmpty()) {
      return new Outcome(state, plan.done(), null, null);
    }
    int groups = fitting(state, plan);
    if (groups < plan.groups().size()) {
      state = handle.log().refresh();
      groups = fitting(state, plan);
      if (groups == 0) {
        return new Outcome(state, plan.done(), null, full(state, plan));
      }
    }
    BatchBuilder builder = new BatchBuilder(handle.parts(by), state, inlineBytes, freshRuns);
    List<Batch> batches = new ArrayList<>();
    for (AppendPlan.Group group : plan.groups().subList(0, groups)) {
      batches.add(builder.build(group));
    }
    CommitResult result = handle.log().commit(new Command.Append(by.attempt(), batches), by);
    if (result instanceof CommitResult.Committed committed) {
      return committed(plan, batches, committed);
    }
    if (result instanceof CommitResult.Nothing nothing) {
      return done(plan, nothing.state(), batches.size());
    }
    CommitResult.Refused refused = (CommitResult.Refused) result;
    return refused.refusal() instanceof Decision.Refusal.TooManyRuns
        ? null
        : refused(plan, refused);
  }

  private AppendPlan plan(ShardState state, int freshRuns) {
    try {
      return AppendPlan.of(state.upper(), upto(state, by), start, due, promise, freshRuns);
    } catch (AppendPlan.ForeignWriteException e) {
      throw foreign(state, e.what());
    }
  }

  /** How many batches would be admitted: the parts of the others need not be written yet. */
  private static int fitting(ShardState state, AppendPlan plan) {
    int runs = state.spine().count(0);
    int fitting = 0;
    for (AppendPlan.Group group : plan.groups()) {
      // What has more runs than a batch may is made into fewer.
      runs += Math.min(AppendPlan.weight(group.batches()), state.spec().freshRuns());
      if (runs > state.spec().queue()) {
        break;
      }
      fitting++;
    }
    return fitting;
  }

  private static String full(ShardState state, AppendPlan plan) {
    return "level 0 counts "
        + state.spine().count(0)
        + " of at most "
        + state.spec().queue()
        + " runs, "
        + plan.groups().size()
        + " batches up to "
        + plan.upto()
        + " wait, and "
        + (state.spec().merging() ? "its merges don't come" : "merging is off in its spec");
  }

  /** What this writer has appended up to. */
  static Frontier upto(ShardState state, Author by) {
    Fact.WriterFact writer = state.writers().get(by.attempt().writer());
    return writer == null ? Frontier.MINIMUM : writer.upto();
  }

  private Outcome committed(
      AppendPlan plan, List<Batch> batches, CommitResult.Committed committed) {
    Outcome done = done(plan, committed.state(), committed.admitted());
    long rows = 0;
    long bytes = 0;
    for (Batch batch : batches.subList(0, committed.admitted())) {
      rows += batch.rows();
      bytes += batch.bytes();
    }
    Frontier upper = batches.get(committed.admitted() - 1).bounds().upper();
    int wanted = plan.groups().size();
    String full =
        committed.admitted() == wanted
            ? null
            : "level 0 had room for " + committed.admitted() + " of " + wanted + " batches";
    return new Outcome(
        done.state(), done.done(), new Committed(committed.seqno(), upper, rows, bytes), full);
  }

  private static Outcome done(AppendPlan plan, ShardState state, int groups) {
    List<WrittenBatch> done = new ArrayList<>(plan.done());
    for (AppendPlan.Group group : plan.groups().subList(0, groups)) {
      done.addAll(group.batches());
    }
    return new Outcome(state, done, null, null);
  }

  private Outcome refused(AppendPlan plan, CommitResult.Refused refused) {
    Decision.Refusal refusal = refused.refusal();
    if (refusal instanceof Decision.Refusal.SpineFull) {
      return new Outcome(refused.state(), plan.done(), null, refusal.message());
    }
    if (refusal instanceof Decision.Refusal.Invalid) {
      throw new IllegalStateException(
          "append to shard " + handle.target().url() + ": " + refusal.message());
    }
    throw foreign(refused.state(), refusal.message());
  }

  private StopForGoodException foreign(ShardState state, String what) {
    return foreign(handle, by, state, what);
  }

  /** Another writer is at work on the shard. */
  static StopForGoodException foreign(
      ShardHandle handle, Author by, ShardState state, String what) {
    String mend =
        state.upper().isEnd()
            ? ". The shard is sealed for good: write to another one"
            : ". Only one job may write a shard: stop the other, or restore the newest checkpoint"
                + " of this one";
    return new StopForGoodException(
        "shard "
            + handle.target().url()
            + ", writer "
            + by.attempt().writer()
            + ", attempt "
            + by.attempt().attempt()
            + ": "
            + what
            + "; "
            + ShardStart.writers(state)
            + mend);
  }
}
