package dev.tidemark.read;

import dev.tidemark.log.Author;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.ShardLog;
import dev.tidemark.part.PartStore;
import dev.tidemark.part.RowBlock;
import dev.tidemark.row.InvalidRowException;
import dev.tidemark.row.MergeCursor;
import dev.tidemark.row.RowBuffer;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.MergePlan;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.SpinePlanner;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A shard with real parts, appended to and merged by hand, for tests of reading. */
public final class TestShard {
  /** Key and value. */
  public static final Schema SCHEMA =
      Schema.parse("id BIGINT NOT NULL, v STRING, PRIMARY KEY (id) NOT ENFORCED", 1);

  private static final WriterAttempt ATTEMPT =
      new WriterAttempt("test", "2026-11-30T00:00:00Z", "1", "here");
  private static final Author AUTHOR = new Author(ATTEMPT, "append");

  /** An update of a row. */
  public record Update(long id, @Nullable String value, long time, long diff) {}

  private final ShardLog log;
  private final PartStore parts;
  private final RowCodec codec = new RowCodec(SCHEMA);
  private int named;

  /** Makes a shard. */
  public TestShard(ObjectStore store, SpineSpec spec, long partBytes) throws IOException {
    this(new ShardLog(store), spec, partBytes);
  }

  /** Makes a shard through a handle with its own time. */
  public TestShard(ShardLog log, SpineSpec spec, long partBytes) throws IOException {
    this.log = log;
    commit(new Command.Create("shard-of-test", SCHEMA, spec));
    parts = new PartStore(log.store(), "shard-of-test", partBytes, this::key);
  }

  private TestShard(ShardLog log, long partBytes, int named) {
    this.log = log;
    this.named = named;
    parts = new PartStore(log.store(), log.known().shard(), partBytes, this::key);
  }

  /** A shard that is there; what is written to it is numbered from {@code named} on. */
  public static TestShard open(ShardLog log, long partBytes, int named) throws IOException {
    log.refresh();
    return new TestShard(log, partBytes, named);
  }

  private String key() {
    return String.format("part/2026-11-30/%06d.parquet", ++named);
  }

  /** Its log. */
  public ShardLog log() {
    return log;
  }

  /** Its known state. */
  public ShardState state() {
    return log.known();
  }

  /** Commits what must be committed. */
  public void commit(Command command) throws IOException {
    CommitResult result = log.commit(command, AUTHOR);
    if (!(result instanceof CommitResult.Committed)) {
      throw new AssertionError(command + ": " + result);
    }
  }

  /** The rows sorted and consolidated. */
  private UpdateCursor sorted(List<Update> updates) {
    RowBuffer buffer = new RowBuffer();
    for (Update update : updates) {
      try {
        byte[] row = codec.encode(new Object[] {update.id, update.value});
        buffer.add(row, 0, row.length, update.time, update.diff);
      } catch (InvalidRowException e) {
        throw new AssertionError(e);
      }
    }
    return buffer.sorted();
  }

  /** Rows as a run of stored parts. */
  public List<Part> storedRun(List<Update> updates) throws IOException {
    return parts.writeRun(sorted(updates), SCHEMA);
  }

  /** Rows as a run of one inline part. */
  public List<Part> inlineRun(List<Update> updates) throws IOException {
    Part part = PartStore.inline(RowBlock.encode(sorted(updates)), SCHEMA);
    return part.rows() == 0 ? List.of() : List.of(part);
  }

  /** A batch of runs from the shard's upper on. */
  public Batch batch(long upper, List<List<Part>> runs, List<Part> errors, boolean cut) {
    BatchDescription bounds = new BatchDescription(state().upper(), Frontier.of(upper));
    return batch(bounds, Frontier.MINIMUM, 0, runs, errors, cut);
  }

  private Batch batch(
      BatchDescription bounds,
      Frontier since,
      int level,
      List<List<Part>> runs,
      List<Part> errors,
      boolean cut) {
    List<List<Part>> nonEmpty = runs.stream().filter(run -> !run.isEmpty()).toList();
    List<Part> all = nonEmpty.stream().flatMap(List::stream).toList();
    return new Batch(
        "b" + ++named,
        bounds,
        since,
        level,
        nonEmpty,
        errors,
        all.stream().mapToLong(Part::rows).sum(),
        all.stream().mapToLong(Part::bytes).sum(),
        all.stream().mapToLong(Part::retracted).sum(),
        cut ? OptionalLong.empty() : OptionalLong.of(all.stream().mapToLong(Part::sum).sum()),
        all.stream().mapToLong(Part::maxTime).max().orElse(Long.MIN_VALUE),
        cut,
        1,
        Map.of());
  }

  /** Appends a batch. */
  public void append(Batch batch) throws IOException {
    commit(new Command.Append(ATTEMPT, List.of(batch)));
  }

  /** Appends rows as one stored run, up to {@code upper}. */
  public void append(long upper, Update... updates) throws IOException {
    append(batch(upper, List.of(storedRun(List.of(updates))), List.of(), false));
  }

  /** Does the most urgent thing that the spine wants; false when it wants nothing. */
  public boolean compactOnce() throws IOException {
    ShardState state = log.refresh();
    List<MergePlan> plans =
        SpinePlanner.plan(
            state.spec(), state.batches(), state.since(), state.consolidating(), Set.of());
    if (plans.isEmpty()) {
      return false;
    }
    MergePlan plan = plans.get(0);
    if (plan instanceof MergePlan.Promote promote) {
      commit(new Command.PromoteLevel(promote.batch(), promote.fromLevel()));
    } else if (plan instanceof MergePlan.Merge merge) {
      install(merge.level(), merge.inputs(), merge.since());
    } else if (plan instanceof MergePlan.Consolidate consolidate) {
      if (state.consolidating() == null) {
        commit(new Command.BeginConsolidation(consolidate.upper()));
      }
      install(-1, consolidate.inputs(), consolidate.since());
    }
    return true;
  }

  private void install(int level, List<String> ids, Frontier since) throws IOException {
    Set<String> wanted = new HashSet<>(ids);
    List<Batch> inputs =
        state().batches().stream().filter(batch -> wanted.contains(batch.id())).toList();
    List<UpdateCursor> runs = new ArrayList<>();
    List<Part> errors = new ArrayList<>();
    for (Batch input : inputs) {
      for (List<Part> run : input.runs()) {
        runs.add(
            TimeFilter.of(
                parts.readRun(run, SCHEMA, SCHEMA), input, Long.MAX_VALUE, Long.MAX_VALUE - 1));
      }
      errors.addAll(input.errors());
    }
    List<Part> output;
    try (UpdateCursor merged = new MergeCursor(runs, since.time())) {
      output = parts.writeRun(merged, SCHEMA);
    }
    BatchDescription bounds =
        new BatchDescription(
            inputs.get(0).bounds().lower(), inputs.get(inputs.size() - 1).bounds().upper());
    Batch batch = batch(bounds, since, level + 1, List.of(output), errors, false);
    commit(new Command.InstallMerge(level, ids, batch));
  }

  /** What a cursor gives, in order; closes it. */
  public List<Update> drain(UpdateCursor cursor) throws IOException {
    List<Update> all = new ArrayList<>();
    try (cursor) {
      while (cursor.next()) {
        @Nullable Object[] row = codec.decode(cursor.row(), cursor.rowOffset(), cursor.rowLength());
        all.add(new Update((Long) row[0], (String) row[1], cursor.time(), cursor.diff()));
      }
    }
    return all;
  }
}
