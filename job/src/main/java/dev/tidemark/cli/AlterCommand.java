package dev.tidemark.cli;

import dev.tidemark.job.Amounts;
import dev.tidemark.shard.Command.AlterSpec;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Spine;
import dev.tidemark.spine.SpineSpec;
import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code tidemark alter}: changes a shard's spec. */
@Command(
    name = "alter",
    description =
        "Changes knobs of a shard's spec, the others stay: fan-in, queue, rest, base-bytes, space; merging on or off. The spine goes on from what is there.")
final class AlterCommand implements Callable<Integer> {
  private final Context context;

  @Mixin private final ReaderOptions reader = new ReaderOptions();

  @Parameters(paramLabel = "SHARD", description = "A URL or a path.")
  private String url = "";

  @Option(
      names = "--spec",
      paramLabel = "KNOB=VALUE",
      split = ",",
      description = "Such as queue=32,space=1.6.")
  private Map<String, String> spec = Map.of();

  @Option(names = "--merging", paramLabel = "on|off", description = "Whether merges are planned.")
  private @Nullable String merging;

  AlterCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    AlterSpec command = command();
    try (ReaderOptions.Shard shard = reader.shard(context, url)) {
      boolean off = Boolean.FALSE.equals(command.merging());
      int code =
          Admin.commit(
              context,
              reader.json,
              url,
              shard.log(),
              command,
              (node, state) -> {
                if (off) {
                  Left left = Left.of(state);
                  node.put("appendsLeft", left.appends()).put("runsAnAppend", left.runs());
                }
              });
      if (off && !reader.json) {
        context.out().line(url + ": " + Left.of(shard.log().refresh()).text());
      }
      return code;
    }
  }

  /**
   * How far appends go on without merges.
   *
   * @param appends about how many more there is room for in level 0
   * @param runs the usual runs of one
   * @param counted the runs in level 0
   * @param queue how many there may be
   */
  private record Left(long appends, long runs, int counted, int queue) {
    static Left of(ShardState state) {
      Spine spine = state.spine();
      int counted = spine.count(0);
      int queue = state.spec().queue();
      long batches = Math.max(1, spine.level(0).stream().filter(b -> Spine.weight(b) > 0).count());
      long usual = Math.max(1, Math.round((double) counted / batches));
      return new Left(Math.max(0, queue - counted) / usual, usual, counted, queue);
    }

    String text() {
      return "about "
          + Amounts.count(appends, "append")
          + (appends == 1 ? " is" : " are")
          + " left at "
          + Amounts.count(runs, "run")
          + " each (level 0 counts "
          + counted
          + " of at most "
          + queue
          + " runs); then they wait until merging is on";
    }
  }

  private AlterSpec command() {
    if (spec.isEmpty() && merging == null) {
      throw new CommandException(Exit.USAGE, "alter what? Write --spec KNOB=VALUE or --merging");
    }
    return knobs(spec, merging());
  }

  /** A spec with the knobs that a command names; an IllegalArgumentException says what is wrong. */
  static SpineSpec spec(AlterSpec knobs, SpineSpec otherwise) {
    return new SpineSpec(
        Objects.requireNonNullElse(knobs.fanIn(), otherwise.fanIn()),
        Objects.requireNonNullElse(knobs.queue(), otherwise.queue()),
        Objects.requireNonNullElse(knobs.rest(), otherwise.rest()),
        Objects.requireNonNullElse(knobs.baseBytes(), otherwise.baseBytes()),
        Objects.requireNonNullElse(knobs.space(), otherwise.space()),
        Objects.requireNonNullElse(knobs.merging(), otherwise.merging()));
  }

  /** The knobs as they are written on the command line. */
  static AlterSpec knobs(Map<String, String> spec, @Nullable Boolean merging) {
    Integer fanIn = null;
    Integer queue = null;
    Integer rest = null;
    Long baseBytes = null;
    Double space = null;
    for (Map.Entry<String, String> knob : spec.entrySet()) {
      String value = knob.getValue();
      try {
        switch (knob.getKey()) {
          case "fan-in", "fanIn" -> fanIn = Integer.valueOf(value);
          case "queue" -> queue = Integer.valueOf(value);
          case "rest" -> rest = Integer.valueOf(value);
          case "base-bytes", "baseBytes" -> baseBytes = Amounts.bytes(value);
          case "space" -> space = Double.valueOf(value);
          default ->
              throw new CommandException(
                  Exit.USAGE,
                  "no knob "
                      + knob.getKey()
                      + "; there are fan-in, queue, rest, base-bytes, space");
        }
      } catch (IllegalArgumentException e) {
        throw new CommandException(
            Exit.USAGE, knob.getKey() + "=" + value + ": " + value + " is no such number", e);
      }
    }
    return new AlterSpec(fanIn, queue, rest, baseBytes, space, merging);
  }

  private @Nullable Boolean merging() {
    String wanted = merging;
    if (wanted == null) {
      return null;
    }
    if (!wanted.equals("on") && !wanted.equals("off")) {
      throw new CommandException(Exit.USAGE, "--merging " + wanted + ": write on or off");
    }
    return wanted.equals("on");
  }
}
