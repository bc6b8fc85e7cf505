package dev.tidemark.sim;

import dev.tidemark.log.CommitResult;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.Decision;
import dev.tidemark.shard.Decision.Refusal;
import dev.tidemark.shard.Diff;
import dev.tidemark.shard.Fact;
import dev.tidemark.shard.ShardMachine;
import dev.tidemark.shard.ShardState;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.store.StoreException;
import dev.tidemark.testing.Batches;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * One attempt of a job that appends. When it freezes or dies, another attempt takes up from the
 * last checkpoint; when a frozen one wakes up, it goes on beside it.
 */
final class Writer extends Participant {
  /** What outlives the attempts of one writer: its checkpoint. */
  static final class Job {
    private final World world;
    private final String id;
    private Frontier position = Frontier.MINIMUM;
    private List<Batch> pending = List.of();
    private boolean startsAtUpper;
    private boolean stopped;
    private int attempts;

    Job(World world, String id) {
      this.world = world;
      this.id = id;
    }

    /** Starts an attempt unless there were enough. */
    void start(long delayMillis) {
      if (!stopped && attempts < world.settings().attempts()) {
        String name = id + "." + attempts++;
        world.start(name, delayMillis, () -> new Writer(this, name).live());
      }
    }

    private void stop() {
      stopped = true;
    }
  }

  private final Job job;
  private final int number;
  private final WriterAttempt attempt;
  private Frontier position;
  private List<Batch> pending;
  private boolean startsAtUpper;
  private boolean done;
  private int turns;

  private Writer(Job job, String name) {
    super(new Host(job.world, name));
    this.job = job;
    this.number = job.attempts;
    this.attempt = host.attempt(job.id);
    this.position = job.position;
    this.pending = job.pending;
    this.startsAtUpper = job.startsAtUpper;
    host.whenFrozen(() -> job.start(5_000 + host.chance().below(300_000)));
  }

  @Override
  boolean goesOn() {
    return !done;
  }

  @Override
  void killed() {
    job.start(5_000 + host.chance().below(300_000));
  }

  /** Only the youngest attempt's checkpoints count. */
  private void maybeCheckpoint() {
    if (number == job.attempts && host.chance().happens(0.6)) {
      job.position = position;
      job.pending = pending;
      job.startsAtUpper = startsAtUpper;
    }
  }

  @Override
  void turn() throws IOException {
    turns++;
    if (startsAtUpper) {
      ShardState state = refresh();
      position = state.exists() ? state.upper() : Frontier.MINIMUM;
      startsAtUpper = false;
    }
    if (position.isEnd() && pending.isEmpty()) {
      done = true;
      return;
    }
    if (pending.isEmpty()) {
      pending = List.copyOf(prepare());
    }
    maybeCheckpoint();
    Command.Append append = new Command.Append(attempt, pending);
    try {
      settle(append, commit(append, "append"));
    } catch (StoreException e) {
      if (e.indeterminate() && host.world().mutant() == Mutant.UNKNOWN_IS_FAILED) {
        deleteParts(pending);
        position = pending.get(0).bounds().lower();
        pending = List.of();
      }
      throw e;
    }
    maybeCheckpoint();
  }

  private List<Batch> prepare() throws IOException {
    Chance chance = host.chance();
    List<Batch> batches = new ArrayList<>();
    Frontier lower = position;
    int runs = host.world().settings().spec().freshRuns();
    if (host.world().settings().seals() && turns > 4 && chance.happens(0.2)) {
      position = Frontier.END;
      return List.of(upload(new BatchDescription(lower, Frontier.END), runs));
    }
    int count = chance.one(1, 1, 1, 2, 3);
    for (int i = 0; i < count; i++) {
      long upper = Math.max(0, lower.time()) + chance.between(1, 3);
      BatchDescription bounds = new BatchDescription(lower, Frontier.of(upper));
      batches.add(upload(bounds, runs));
      lower = bounds.upper();
    }
    position = lower;
    return batches;
  }

  private Batch upload(BatchDescription bounds, int most) throws IOException {
    boolean isCut = host.chance().happens(0.1) && !bounds.upper().isEnd();
    BatchDescription written =
        isCut
            ? new BatchDescription(
                Frontier.of(Math.max(0, bounds.lower().time()) - 1),
                Frontier.of(bounds.upper().time() + 1 + host.chance().below(2)))
            : bounds;
    List<List<Update>> runs = new ArrayList<>();
    for (Update update : Rows.of(job.id, written)) {
      if (runs.size() < most) {
        runs.add(new ArrayList<>());
      }
      runs.get(host.chance().below(runs.size())).add(update);
    }
    List<List<Part>> uploaded = new ArrayList<>();
    for (List<Update> assigned : runs) {
      // Real runs are summed up as they are sorted, so nothing may be left; plain ones are not.
      List<Update> run =
          host.world().settings().parquet()
              ? Rows.consolidated(assigned, Frontier.MINIMUM)
              : assigned;
      if (run.isEmpty()) {
        continue;
      }
      run.sort(Rows.ORDER);
      int cut = run.size() > 1 && host.chance().happens(0.3) ? run.size() / 2 : run.size();
      List<Part> parts = new ArrayList<>(List.of(upload(run.subList(0, cut))));
      if (cut < run.size()) {
        parts.add(upload(run.subList(cut, run.size())));
      }
      uploaded.add(parts);
    }
    Batch batch = Batches.of(host.freshName(), bounds, Frontier.MINIMUM, 0, uploaded);
    List<Update> errors =
        host.world().settings().errors() ? Rows.errorsOf(job.id, written) : List.of();
    if (!errors.isEmpty()) {
      batch = Batches.withErrors(batch, upload(Rows.consolidated(errors, Frontier.MINIMUM)));
    }
    boolean empty = uploaded.isEmpty() && errors.isEmpty();
    return isCut && !empty ? Batches.cut(batch, bounds.lower(), bounds.upper()) : batch;
  }

  private void settle(Command.Append append, CommitResult result) throws IOException {
    Fact.WriterFact fact = result.state().exists() ? result.state().writers().get(job.id) : null;
    Frontier upto = fact == null ? Frontier.MINIMUM : fact.upto();
    boolean tolerant = host.world().settings().tolerant();
    if (result instanceof CommitResult.Nothing) {
      host.truth().checkDone(host.name(), append, !tolerant);
    }
    pending = pending.stream().filter(batch -> batch.bounds().upper().isAfter(upto)).toList();
    if (result instanceof CommitResult.Refused refused) {
      refused(refused.state(), refused.refusal(), upto);
    }
  }

  private void refused(ShardState result, Refusal refusal, Frontier upto) throws IOException {
    if (refusal instanceof Refusal.UpperMismatch mismatch) {
      misplaced(mismatch.shardUpper(), upto);
    } else if (refusal instanceof Refusal.Existence) {
      commit(
          new Command.Create(Parquet.SHARD, Parquet.SCHEMA, host.world().settings().spec()),
          "create");
    } else if (refusal instanceof Refusal.TooManyRuns tooMany) {
      cutAnew(tooMany.most());
    } else if (refusal instanceof Refusal.Fenced) {
      if (host.world().mutant() == Mutant.NOT_FENCED) {
        forceAppend(result);
      }
      done = true;
      if (number == job.attempts) {
        job.start(1_200_000); // its clock is slow; another host's may not be
      }
    } else if (refusal instanceof Refusal.Swept) {
      pending = List.of(); // the job stops for good, and another starts where the shard is
      startsAtUpper = true;
      maybeCheckpoint();
    } else if (refusal instanceof Refusal.Invalid && !result.retired()) {
      throw new ViolationError("I5", host.name() + " is refused: " + refusal.message());
    }
  }

  /** Appends under another's name what its own was refused. */
  private void forceAppend(ShardState state) throws IOException {
    Fact.WriterFact known = state.writers().get(job.id);
    if (known == null || known.readOnly()) {
      return;
    }
    Command.Append append = new Command.Append(known.by(), pending);
    if (ShardMachine.decide(state, append) instanceof Decision.Commit commit) {
      List<Fact> add = new ArrayList<>();
      for (Fact fact : commit.diff().add()) {
        add.add(
            fact instanceof Fact.WriterFact writer
                ? new Fact.WriterFact(attempt, writer.upto(), false, writer.extra())
                : fact);
      }
      force(state, append, new Diff(commit.diff().remove(), add));
    }
  }

  /** What was written lies about as orphans; the rows of a description are the same for ever. */
  private void cutAnew(int most) throws IOException {
    List<Batch> cut = new ArrayList<>();
    for (Batch batch : pending) {
      cut.add(batch.runCount() > most ? upload(batch.bounds(), most) : batch);
    }
    pending = List.copyOf(cut);
    maybeCheckpoint();
  }

  private void misplaced(Frontier upper, Frontier upto) {
    Frontier first = pending.get(0).bounds().lower();
    if (upper.isBefore(first)) {
      throw new ViolationError(
          "I1", host.name() + " is at " + first + ", but the shard ends at " + upper);
    }
    List<Batch> overtaken =
        pending.stream().filter(batch -> batch.bounds().lower().isBefore(upper)).toList();
    host.truth().refuse(host.name(), new Command.Append(attempt, overtaken));
    if (host.world().mutant() == Mutant.UPPER_IS_DONE && !overtaken.isEmpty()) {
      host.truth().checkDone(host.name(), new Command.Append(attempt, overtaken), true);
    }
    pending = List.of();
    position = upper;
    if (upper.isAfter(upto) && !host.world().settings().tolerant()) {
      done = true;
      job.stop();
    }
  }
}
