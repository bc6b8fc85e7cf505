package dev.tidemark.shard;

import dev.tidemark.spine.Batch;
import dev.tidemark.spine.MergePlan;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.Spine;
import dev.tidemark.spine.SpinePlanner;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.testing.Batches;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;

/**
 * A shard driven by words.
 *
 * <pre>
 * spec N K R w0 sigma [off]              makes the shard, or changes its spec
 * append [by=W] [started=S] [attempt=A] BATCH...
 *     BATCH = id:[lower-]upper:runs[:bytes[:retracted]][:errors][:cut]   100 bytes a run;
 *     cut: its rows lie past its upper
 * since T · promote ID LEVEL · consolidate UPPER · force UPPER
 * plan [ID...]                           the ids are in a merge
 * install LEVEL ID... -> ID [bytes=B] [retracted=B] [since=T] [rows=N] [sum=N]
 * sweep DAY · alter [fanIn=N] [queue=N] [merging=B] · hand-over W · forget T
 * seal ID · retire ID · discard ID MOST
 * print · writers
 * </pre>
 */
final class ShardScript {
  private ShardState state = ShardState.EMPTY;

  String run(String line) {
    List<String> words = new ArrayList<>(List.of(line.trim().split("\\s+")));
    String verb = words.remove(0);
    return switch (verb) {
      case "spec" -> spec(words);
      case "append" -> append(words);
      case "since" -> decide(new Command.DowngradeSince(frontier(words.get(0))));
      case "promote" ->
          decide(new Command.PromoteLevel(words.get(0), Integer.parseInt(words.get(1))));
      case "consolidate" -> decide(new Command.BeginConsolidation(frontier(words.get(0))));
      case "force" -> decide(new Command.ForceConsolidation(frontier(words.get(0))));
      case "plan" -> plan(Set.copyOf(words));
      case "install" -> install(words);
      case "sweep" -> decide(new Command.Sweep(words.get(0)));
      case "alter" -> alter(options(words));
      case "seal" -> decide(new Command.Seal(words.get(0)));
      case "retire" -> decide(new Command.Retire(words.get(0)));
      case "discard" -> decide(new Command.Discard(words.get(0), Integer.parseInt(words.get(1))));
      case "hand-over" -> decide(new Command.HandOver(words.get(0)));
      case "forget" -> decide(new Command.ForgetErrors(frontier(words.get(0))));
      case "writers" -> writers();
      case "print" -> print();
      default -> throw new IllegalArgumentException("no such command: " + line);
    };
  }

  private String spec(List<String> words) {
    SpineSpec spec =
        new SpineSpec(
            Integer.parseInt(words.get(0)),
            Integer.parseInt(words.get(1)),
            Integer.parseInt(words.get(2)),
            Long.parseLong(words.get(3)),
            Double.parseDouble(words.get(4)),
            !words.contains("off"));
    if (!state.exists()) {
      return decide(new Command.Create("shard-1", Shards.SCHEMA, spec));
    }
    state =
        state.apply(
            new Diff(List.of(new Fact.SpecFact(state.spec())), List.of(new Fact.SpecFact(spec))));
    return "version " + state.seqno();
  }

  private String alter(Map<String, String> options) {
    String fanIn = options.get("fanIn");
    String queue = options.get("queue");
    String merging = options.get("merging");
    return decide(
        new Command.AlterSpec(
            fanIn == null ? null : Integer.valueOf(fanIn),
            queue == null ? null : Integer.valueOf(queue),
            null,
            null,
            null,
            merging == null ? null : Boolean.valueOf(merging)));
  }

  private String writers() {
    List<String> lines = new ArrayList<>();
    for (Fact.WriterFact writer : state.writers().values()) {
      lines.add(writer.id() + " upto " + writer.upto() + (writer.readOnly() ? " read-only" : ""));
    }
    return String.join("\n", lines);
  }

  private String append(List<String> words) {
    Map<String, String> options = options(words);
    WriterAttempt by =
        new WriterAttempt(
            options.getOrDefault("by", "w"),
            options.getOrDefault("started", "2026-11-30T00:00:00Z"),
            options.getOrDefault("attempt", "1"),
            "host");
    List<Batch> batches = new ArrayList<>();
    Frontier lower = state.exists() ? state.upper() : Frontier.MINIMUM;
    for (String word : words) {
      Batch batch = batch(word, lower);
      lower = batch.bounds().upper();
      batches.add(batch);
    }
    return decide(new Command.Append(by, batches));
  }

  private static Batch batch(String word, Frontier defaultLower) {
    List<String> fields = new ArrayList<>(List.of(word.split(":", -1)));
    boolean cut = fields.remove("cut");
    boolean errors = fields.remove("errors");
    String id = fields.get(0);
    String[] bounds = fields.get(1).split("-", -1);
    Frontier lower = bounds.length == 2 ? frontier(bounds[0]) : defaultLower;
    Frontier upper = frontier(bounds[bounds.length - 1]);
    int runs = Integer.parseInt(fields.get(2));
    long bytes = fields.size() > 3 ? Long.parseLong(fields.get(3)) : 100L * runs;
    long retracted = fields.size() > 4 ? Long.parseLong(fields.get(4)) : 0;
    Frontier written = cut ? Frontier.of(upper.time() + 5) : upper;
    Batch batch = Batches.fresh(id, lower, written, runs, bytes, retracted);
    if (errors) {
      batch = Batches.withErrors(batch, Batches.part(id + "-errors", 50, 0, written.time() - 1));
    }
    return cut ? Batches.cut(batch, lower, upper) : batch;
  }

  private String plan(Set<String> inMerge) {
    List<String> lines = new ArrayList<>();
    for (MergePlan plan :
        SpinePlanner.plan(
            state.spec(), state.batches(), state.since(), state.consolidating(), inMerge)) {
      if (plan instanceof MergePlan.Promote promote) {
        lines.add("promote " + promote.batch() + " from level " + promote.fromLevel());
      } else if (plan instanceof MergePlan.Merge merge) {
        lines.add(
            "merge level " + merge.level() + " " + merge.inputs() + " since " + merge.since());
      } else if (plan instanceof MergePlan.Consolidate all) {
        lines.add(
            "consolidate " + all.inputs() + " up to " + all.upper() + " since " + all.since());
      }
    }
    return lines.isEmpty() ? "nothing" : String.join("\n", lines);
  }

  private String install(List<String> words) {
    Map<String, String> options = options(words);
    int arrow = words.indexOf("->");
    List<String> ids = words.subList(1, arrow);
    String id = words.get(arrow + 1);
    List<Batch> inputs =
        state.batches().stream().filter(batch -> ids.contains(batch.id())).toList();
    Batch output = merged(id, inputs, options);
    return decide(new Command.InstallMerge(Integer.parseInt(words.get(0)), ids, output));
  }

  private Batch merged(String id, List<Batch> inputs, Map<String, String> options) {
    long bytes = number(options, "bytes", inputs.stream().mapToLong(Batch::bytes).sum());
    long retracted = number(options, "retracted", 0);
    Frontier since = options.containsKey("since") ? frontier(options.get("since")) : state.since();
    long rows = number(options, "rows", bytes / 10);
    OptionalLong known =
        inputs.stream().map(Batch::sum).allMatch(OptionalLong::isPresent)
            ? OptionalLong.of(inputs.stream().mapToLong(batch -> batch.sum().getAsLong()).sum())
            : OptionalLong.of(rows);
    long sum = number(options, "sum", known.getAsLong());
    long time = inputs.stream().mapToLong(ShardScript::lastTime).reduce(since.time(), Math::max);
    List<List<Part>> runs =
        rows == 0
            ? List.of()
            : List.of(List.of(Batches.part(id + "-0", rows, bytes, sum, retracted, time)));
    // The machine takes the bounds from the inputs: these are as outdated as can be.
    BatchDescription bounds = new BatchDescription(Frontier.MINIMUM, Frontier.of(1));
    Batch output = Batches.of(id, bounds, since, 0, runs);
    List<Part> errors = inputs.stream().flatMap(batch -> batch.errors().stream()).toList();
    return Batches.withErrors(output, errors.toArray(Part[]::new));
  }

  /** The greatest time of the rows that a merge keeps. */
  private static long lastTime(Batch batch) {
    return batch.cut()
        ? Math.min(batch.maxTime(), batch.bounds().upper().time() - 1)
        : batch.maxTime();
  }

  private String decide(Command command) {
    Decision decision = ShardMachine.decide(state, command);
    if (decision instanceof Decision.Commit commit) {
      ShardState after = state.apply(commit.diff());
      Invariants.checkTransition(state, after);
      Invariants.check(after);
      state = after;
      String admitted =
          command instanceof Command.Append append && commit.admitted() < append.batches().size()
              ? ", admitted " + commit.admitted() + " of " + append.batches().size()
              : "";
      return "version " + state.seqno() + admitted;
    }
    if (decision instanceof Decision.Nothing nothing) {
      return "nothing: " + nothing.reason();
    }
    return decision.getClass().getSimpleName() + ": " + ((Decision.Refusal) decision).message();
  }

  private String print() {
    StringBuilder text = new StringBuilder();
    text.append("since ").append(state.since()).append(" upper ").append(state.upper());
    if (state.consolidating() != null) {
      text.append(" consolidating ").append(state.consolidating());
    }
    Spine spine = Spine.of(state.batches(), state.consolidating());
    text.append(" runs ").append(spine.runs());
    for (Batch batch : state.batches()) {
      text.append("\nlevel ").append(batch.level()).append(' ').append(batch.id());
      text.append(' ').append(batch.bounds()).append(" runs ").append(batch.runCount());
      text.append(" bytes ").append(batch.bytes());
      text.append(batch.retracted() > 0 ? " retracted " + batch.retracted() : "");
      text.append(batch.since().isMinimum() ? "" : " since " + batch.since());
      text.append(batch.errors().isEmpty() ? "" : " errors " + batch.errors().size());
      text.append(batch.cut() ? " cut" : "");
    }
    return text.toString();
  }

  private static Map<String, String> options(List<String> words) {
    Map<String, String> options = new HashMap<>();
    words.removeIf(
        word -> {
          String[] pair = word.split("=", 2);
          if (pair.length == 2) {
            options.put(pair[0], pair[1]);
          }
          return pair.length == 2;
        });
    return options;
  }

  private static long number(Map<String, String> options, String name, long otherwise) {
    String text = options.get(name);
    return text == null ? otherwise : Long.parseLong(text);
  }

  private static Frontier frontier(String text) {
    return switch (text) {
      case "min" -> Frontier.MINIMUM;
      case "end" -> Frontier.END;
      default -> Frontier.of(Long.parseLong(text));
    };
  }
}
