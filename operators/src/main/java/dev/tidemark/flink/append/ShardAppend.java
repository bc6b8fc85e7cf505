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
 *
 * <p>Outcomes: committed; done before by this writer; the spine is full; the job or the writer is
 * read-only, and what the shard has gone past is done; another writer has been there, which stops
 * the job for good, or, where that is put up with, cuts or does what it has reached.
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
   * @param readOnly whether nothing may be appended now
   * @param displaced how many written batches were cut, or left out, for what another writer has
   *     appended
   */
  record Outcome(
      ShardState state,
      List<WrittenBatch> done,
      @Nullable Committed committed,
      @Nullable String full,
      boolean readOnly,
      int displaced) {}

  /** A version that the append made. */
  record Committed(SeqNo seqno, Frontier upper, long rows, long bytes) {}

  private final ShardHandle handle;
  private final Author by;
  private final Due due;
  private final AppendPolicy policy;
  private final int inlineBytes;

  ShardAppend(ShardHandle handle, Author by, Due due, AppendPolicy policy, int inlineBytes) {
    this.handle = handle;
    this.by = by;
    this.due = due;
    this.policy = policy;
    this.inlineBytes = inlineBytes;
  }

  /**
   * Appends. Where the spec was altered since it was looked at, or another writer was there first,
   * the batches are cut by that anew.
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
    if (policy.lenient()) {
      // The other writer is faster: its appends are progress, too, and the next look tells.
      return new Outcome(handle.log().known(), List.of(), null, null, false, 0);
    }
    throw new IOException(
        "shard "
            + handle.target().url()
            + ": its spec was altered "
            + MOST_CUTS
            + " times while batches were appended; leave it alone for a while");
  }

  /** Null when the shard is no longer what the batches were cut for. */
  private @Nullable Outcome cutAndAppend() throws IOException {
    ShardState state = handle.log().known();
    if (mayNotAppend(state)) {
      state = handle.log().refresh();
      if (mayNotAppend(state)) {
        return waiting(state);
      }
    }
    int freshRuns = state.spec().freshRuns();
    AppendPlan plan = plan(state, freshRuns);
    if (plan.groups().isEmpty()) {
      return outcome(state, plan, 0, null, null);
    }
    int groups = fitting(state, plan);
    if (groups < plan.groups().size()) {
      state = handle.log().refresh();
      groups = fitting(state, plan);
      if (groups == 0) {
        return outcome(state, plan, 0, null, full(state, plan));
      }
    }
    BatchBuilder builder =
        new BatchBuilder(handle.parts(by), state, inlineBytes, freshRuns, policy.cuts());
    List<Batch> batches = new ArrayList<>();
    for (AppendPlan.Group group : plan.groups().subList(0, groups)) {
      batches.add(builder.build(group));
    }
    CommitResult result = handle.log().commit(new Command.Append(by.attempt(), batches), by);
    if (result instanceof CommitResult.Committed committed) {
      return committed(plan, batches, committed);
    }
    if (result instanceof CommitResult.Nothing nothing) {
      return outcome(nothing.state(), plan, batches.size(), null, null);
    }
    return refused(plan, (CommitResult.Refused) result);
  }

  private boolean mayNotAppend(ShardState state) {
    return policy.readOnly() || (policy.cuts() && OtherWriters.isHandedOver(state, by.attempt()));
  }

  /** What the shard has gone past is in it, by whoever writes it now. */
  private Outcome waiting(ShardState state) {
    return new Outcome(state, due.passedBy(state.upper()), null, null, true, 0);
  }

  private AppendPlan plan(ShardState state, int freshRuns) {
    Frontier upto = upto(state, by);
    Frontier known = upto.max(due.start()).max(due.known());
    if (policy.cuts() && state.upper().isAfter(known)) {
      boolean others = !OtherWriters.concurrent(state, by.attempt().writer(), known).isEmpty();
      if ((others && !policy.lenient()) || (state.upper().isEnd() && !due.batches().isEmpty())) {
        throw foreign(
            state, "the shard's upper is " + state.upper() + ", this writer knew of " + known);
      }
    }
    try {
      AppendPlan.Place place = new AppendPlan.Place(state.upper(), upto, freshRuns);
      return AppendPlan.of(place, due, policy.cuts());
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
    List<Batch> admitted = batches.subList(0, committed.admitted());
    long rows = admitted.stream().mapToLong(Batch::rows).sum();
    long bytes = admitted.stream().mapToLong(Batch::bytes).sum();
    Frontier upper = admitted.get(admitted.size() - 1).bounds().upper();
    int wanted = plan.groups().size();
    String full =
        admitted.size() == wanted
            ? null
            : "level 0 had room for " + admitted.size() + " of " + wanted + " batches";
    return outcome(
        committed.state(),
        plan,
        admitted.size(),
        new Committed(committed.seqno(), upper, rows, bytes),
        full);
  }

  private static List<WrittenBatch> done(AppendPlan plan, int groups) {
    List<WrittenBatch> done = new ArrayList<>(plan.done());
    for (AppendPlan.Group group : plan.groups().subList(0, groups)) {
      done.addAll(group.batches());
    }
    return done;
  }

  private @Nullable Outcome refused(AppendPlan plan, CommitResult.Refused refused) {
    Decision.Refusal refusal = refused.refusal();
    ShardState state = refused.state();
    if (refusal instanceof Decision.Refusal.TooManyRuns
        || (refusal instanceof Decision.Refusal.UpperMismatch && policy.cuts())) {
      return null;
    }
    if (refusal instanceof Decision.Refusal.SpineFull) {
      return outcome(state, plan, 0, null, refusal.message());
    }
    if (refusal instanceof Decision.Refusal.Invalid) {
      throw new IllegalStateException(
          "append to shard " + handle.target().url() + ": " + refusal.message());
    }
    if (mayNotAppend(state)) {
      return waiting(state);
    }
    throw foreign(state, refusal.message());
  }

  private static Outcome outcome(
      ShardState state,
      AppendPlan plan,
      int groups,
      @Nullable Committed committed,
      @Nullable String full) {
    return new Outcome(state, done(plan, groups), committed, full, false, plan.displaced());
  }

  private StopForGoodException foreign(ShardState state, String what) {
    return foreign(handle, by, state, what, policy.cuts());
  }

  /**
   * Another writer is at work on the shard.
   *
   * @param handOver whether this job can go on behind what another has appended
   */
  static StopForGoodException foreign(
      ShardHandle handle, Author by, ShardState state, String what, boolean handOver) {
    String mend = ". The shard is sealed for good: write to another one";
    if (!state.upper().isEnd()) {
      mend =
          ". Only one job may write a shard: stop the other, or restore the newest checkpoint of"
              + " this one";
      if (handOver) {
        mend +=
            "; where the other wrote the same rows and is stopped, tidemark hand-over "
                + handle.target().url()
                + " --writer "
                + by.attempt().writer()
                + " lets this one go on";
      }
    }
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
