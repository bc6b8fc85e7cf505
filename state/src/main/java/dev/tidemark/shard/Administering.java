package dev.tidemark.shard;

import dev.tidemark.schema.Schema;
import dev.tidemark.schema.SchemaChange;
import dev.tidemark.shard.Command.AlterSpec;
import dev.tidemark.shard.Command.Discard;
import dev.tidemark.shard.Command.EvolveSchema;
import dev.tidemark.shard.Command.ForgetErrors;
import dev.tidemark.shard.Command.HandOver;
import dev.tidemark.shard.Command.Retire;
import dev.tidemark.shard.Command.Seal;
import dev.tidemark.shard.Command.Sweep;
import dev.tidemark.shard.Decision.Nothing;
import dev.tidemark.shard.Decision.Refusal.Invalid;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * How the commands of operators and of garbage collection are decided. Each may be given again and
 * again: what is so already is nothing to do.
 *
 * <p>A shard's life ends in two steps, neither of which goes back: <em>sealed</em> when its upper
 * is the end (reading, merging and collecting go on), <em>retired</em> when its since is the end
 * too (nothing of it can be read; it is emptied step by step).
 */
final class Administering {
  /** The start of an attempt that never was: older than any that is. */
  private static final String NEVER = "1970-01-01T00:00:00Z";

  private Administering() {}

  static Decision decide(ShardState state, Command command) {
    if (command instanceof Sweep sweep) {
      return sweep(state, sweep);
    }
    if (command instanceof Seal seal) {
      return seal(state, seal);
    }
    if (command instanceof Retire retire) {
      return retire(state, retire);
    }
    if (command instanceof Discard discard) {
      return discard(state, discard);
    }
    if (state.retired()) {
      return new Invalid("the shard is retired: nothing about it can be changed any more");
    }
    if (command instanceof AlterSpec alter) {
      return alter(state, alter);
    }
    if (command instanceof EvolveSchema evolve) {
      return evolve(state, evolve);
    }
    if (command instanceof HandOver handOver) {
      return handOver(state, handOver);
    }
    return forget(state, (ForgetErrors) command);
  }

  // ---- Evolve

  private static Decision evolve(ShardState state, EvolveSchema command) {
    SchemaChange change = SchemaChange.of(state.schemas(), command.declared());
    Schema next = change.next();
    if (next == null) {
      return new Invalid(String.valueOf(change.refusal()));
    }
    return next.id() == state.schema().id()
        ? new Nothing("the schema is that already")
        : ShardMachine.commit(List.of(), List.of(new Fact.SchemaFact(next)));
  }

  // ---- Sweep

  private static Decision sweep(ShardState state, Sweep command) {
    String day = command.day();
    try {
      if (!LocalDate.parse(day).toString().equals(day)) {
        return new Invalid(day + " is no day: write 2026-11-30");
      }
    } catch (DateTimeParseException e) {
      return new Invalid(day + " is no day: write 2026-11-30");
    }
    String swept = state.swept();
    if (swept != null && day.compareTo(swept) <= 0) {
      return new Nothing("swept up to " + swept + " already");
    }
    return ShardMachine.commit(
        swept == null ? List.of() : List.of(new Fact.SweptFact(swept)),
        List.of(new Fact.SweptFact(day)));
  }

  // ---- Spec

  private static Decision alter(ShardState state, AlterSpec command) {
    SpineSpec old = state.spec();
    SpineSpec altered;
    try {
      altered =
          new SpineSpec(
              orElse(command.fanIn(), old.fanIn()),
              orElse(command.queue(), old.queue()),
              orElse(command.rest(), old.rest()),
              orElse(command.baseBytes(), old.baseBytes()),
              orElse(command.space(), old.space()),
              orElse(command.merging(), old.merging()));
    } catch (IllegalArgumentException e) {
      return new Invalid(String.valueOf(e.getMessage()));
    }
    Fact.SpecFact fact = state.single("spec", Fact.SpecFact.class);
    if (altered.equals(old) || fact == null) {
      return new Nothing("the spec is that already");
    }
    List<Fact> remove = new ArrayList<>(List.of(fact));
    List<Fact> add = new ArrayList<>(List.of(new Fact.SpecFact(altered, fact.extra())));
    state.recount(written -> written.leave(old), remove, add);
    return ShardMachine.commit(remove, add);
  }

  private static <T> T orElse(@Nullable T value, T otherwise) {
    return value == null ? otherwise : value;
  }

  // ---- Writers

  private static Decision handOver(ShardState state, HandOver command) {
    if (command.writer().isEmpty()) {
      return new Invalid("hand over to whom? A writer has an id");
    }
    List<Fact> remove = new ArrayList<>();
    List<Fact> add = new ArrayList<>();
    for (Fact.WriterFact writer : state.writers().values()) {
      boolean readOnly = !writer.id().equals(command.writer());
      if (writer.readOnly() != readOnly) {
        remove.add(writer);
        add.add(new Fact.WriterFact(writer.by(), writer.upto(), readOnly, writer.extra()));
      }
    }
    if (!state.writers().containsKey(command.writer())) {
      WriterAttempt none = new WriterAttempt(command.writer(), NEVER, "", "");
      add.add(new Fact.WriterFact(none, Frontier.MINIMUM, false));
    }
    return add.isEmpty()
        ? new Nothing("writer " + command.writer() + " is the only one that may write already")
        : ShardMachine.commit(remove, add);
  }

  // ---- Errors

  /**
   * A batch that loses error parts gets another id: a merge under way still has them, and must not
   * bring them back.
   */
  private static Decision forget(ShardState state, ForgetErrors command) {
    List<Fact> remove = new ArrayList<>();
    List<Fact> add = new ArrayList<>();
    for (Batch batch : state.batches()) {
      List<Part> kept =
          batch.errors().stream()
              .filter(part -> !command.before().hasPassed(part.maxTime()))
              .toList();
      if (kept.size() < batch.errors().size()) {
        remove.add(new Fact.BatchFact(batch));
        add.add(new Fact.BatchFact(withErrors(batch, state.seqno(), kept)));
      }
    }
    return add.isEmpty()
        ? new Nothing("there are no error parts that lie before " + command.before() + " whole")
        : ShardMachine.commit(remove, add);
  }

  private static Batch withErrors(Batch batch, SeqNo at, List<Part> errors) {
    return new Batch(
        batch.id() + "~" + at,
        batch.bounds(),
        batch.since(),
        batch.level(),
        batch.runs(),
        errors,
        batch.rows(),
        batch.bytes(),
        batch.retracted(),
        batch.sum(),
        batch.maxTime(),
        batch.cut(),
        batch.schema(),
        batch.extra());
  }

  // ---- The end

  private static Decision seal(ShardState state, Seal command) {
    if (state.sealed()) {
      return new Nothing("the shard is sealed already");
    }
    List<Fact> remove = new ArrayList<>();
    List<Fact> add = new ArrayList<>();
    String fault = close(state, command.batch(), remove, add);
    return fault == null ? ShardMachine.commit(remove, add) : new Invalid(fault);
  }

  private static Decision retire(ShardState state, Retire command) {
    if (state.retired()) {
      return new Nothing("the shard is retired already");
    }
    List<Fact> remove = new ArrayList<>();
    List<Fact> add = new ArrayList<>();
    String fault = state.sealed() ? null : close(state, command.batch(), remove, add);
    if (fault != null) {
      return new Invalid(fault);
    }
    remove.add(new Fact.SinceFact(state.since()));
    add.add(new Fact.SinceFact(Frontier.END));
    return ShardMachine.commit(remove, add);
  }

  /** An empty batch up to the end; what is wrong with it, null when nothing is. */
  private static @Nullable String close(
      ShardState state, String id, List<Fact> remove, List<Fact> add) {
    List<Batch> batches = state.batches();
    if (batches.stream().anyMatch(batch -> batch.id().equals(id))) {
      return "the shard has a batch " + id;
    }
    remove.add(new Fact.UpperFact(state.upper()));
    add.add(new Fact.UpperFact(Frontier.END));
    Batch newest = batches.isEmpty() ? null : batches.get(batches.size() - 1);
    if (newest != null && Appending.mayExtend(newest)) {
      remove.add(new Fact.BatchFact(newest));
      add.add(new Fact.BatchFact(Appending.extended(newest, Frontier.END)));
    } else {
      BatchDescription rest = new BatchDescription(state.upper(), Frontier.END);
      add.add(new Fact.BatchFact(empty(id, rest, Frontier.MINIMUM, 0, state.schema().id())));
    }
    return null;
  }

  private static Batch empty(
      String id, BatchDescription bounds, Frontier since, int level, int schema) {
    return new Batch(
        id,
        bounds,
        since,
        level,
        List.of(),
        List.of(),
        0,
        0,
        0,
        OptionalLong.of(0),
        Long.MIN_VALUE,
        false,
        schema,
        Map.of());
  }

  /**
   * The oldest batches make way for one that is empty, at the level of the oldest: those behind it
   * have no higher one, or it stands in for a consolidation that they count behind. The
   * announcement of that goes with the last batch.
   */
  private static Decision discard(ShardState state, Discard command) {
    if (!state.retired()) {
      return new Invalid("the shard isn't retired: retire it first");
    }
    List<Batch> batches = state.batches();
    Batch first = batches.get(0);
    boolean emptied = first.runs().isEmpty() && first.errors().isEmpty();
    if (batches.size() == 1 && emptied && state.consolidating() == null) {
      return new Nothing("the shard is empty already");
    }
    if (batches.stream().anyMatch(batch -> batch.id().equals(command.batch()))) {
      return new Invalid("the shard has a batch " + command.batch());
    }
    List<Batch> going = batches.subList(0, Math.min(command.most(), batches.size()));
    Batch last = going.get(going.size() - 1);
    List<Fact> remove = new ArrayList<>();
    going.forEach(batch -> remove.add(new Fact.BatchFact(batch)));
    if (going.size() == batches.size() && state.consolidating() != null) {
      remove.add(new Fact.ConsolidatingFact(state.consolidating(), state.consolidationForced()));
    }
    BatchDescription bounds = new BatchDescription(first.bounds().lower(), last.bounds().upper());
    return ShardMachine.commit(
        remove,
        List.of(
            new Fact.BatchFact(
                empty(command.batch(), bounds, Frontier.END, first.level(), last.schema()))));
  }
}
