package dev.tidemark.job;

import static dev.tidemark.job.OptionKey.fixed;
import static dev.tidemark.job.OptionKey.workedOut;

import dev.tidemark.flink.StartMode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The keys that say how the job writes, merges, checkpoints and starts. */
final class RunKeys {
  static final OptionKey<Integer> PARALLELISM =
      workedOut(
          "parallelism",
          OptionType.wholeNumber(1, 32_768),
          "the number of processors",
          "as fast as the machine is",
          "Subtasks of the source and of write.");
  static final OptionKey<Integer> WRITE_PARALLELISM =
      workedOut(
          "write.parallelism",
          OptionType.wholeNumber(1, 32_768),
          "parallelism",
          "sorting is what takes time",
          "Subtasks of write.");
  static final OptionKey<Integer> WRITE_RUNS =
      fixed(
          "write.runs",
          OptionType.numberOrAuto(512),
          "auto",
          "the job's write parallelism spread over its shards, at most N/2",
          "The most runs that a batch of one shard leaves with.");
  static final OptionKey<Long> BUFFER =
      fixed(
          "write.buffer-bytes",
          OptionType.SIZE,
          "64 MiB",
          "some hundred thousand rows; more go to disk until the next checkpoint",
          "What one subtask of write holds in memory.");
  static final OptionKey<Long> PART =
      fixed(
          "part.target-bytes",
          OptionType.SIZE,
          "128 MiB",
          "large enough that requests don't count, small enough to read in one go",
          "The size at which a part is full.");
  static final OptionKey<Integer> INLINE =
      fixed(
          "inline.bytes",
          OptionType.smallSize(1 << 20),
          "64 KiB",
          "a request costs as much as storing some MiB for a month",
          "A batch up to this size travels in the log entry.");
  static final OptionKey<Integer> MERGE_PARALLELISM =
      fixed(
          "merge.parallelism",
          OptionType.wholeNumber(1, 32_768),
          "1",
          "merges must not starve the rows",
          "Subtasks of merge, in slots of their own.");
  static final OptionKey<Long> MERGE_MEMORY =
      fixed(
          "merge.memory",
          OptionType.SIZE,
          "256 MiB",
          "8 MiB of each run where eight are merged, in two merges",
          "What one subtask of merge holds of what it reads; each of its two merges has one part of its output beside that.");
  static final OptionKey<Long> MERGE_CHUNK =
      fixed(
          "merge.chunk-bytes",
          OptionType.SIZE,
          "256 MiB",
          "some seconds of work, so that nothing small waits long",
          "Merges are cut by key into chunks of about this many row bytes.");
  static final OptionKey<Boolean> SETTLE =
      workedOut(
          "settle",
          OptionType.BOOLEAN,
          "true with merge = here",
          "a loaded shard should be cheap to read at once",
          "Once the embedded job has ended by itself, all wanted merges are finished before the process exits; on a cluster only where it is set, by whoever waits.");
  static final OptionKey<Boolean> SEAL =
      fixed(
          "seal",
          OptionType.BOOLEAN,
          "false",
          "a later job may go on",
          "Once the job has ended by itself, its shards are sealed: their upper is the end, and nothing can be appended any more. Refused for input that never ends.");
  static final OptionKey<Duration> MAX_STALL =
      fixed(
          "spine.max-stall",
          OptionType.DURATION,
          "10 min",
          "longer is a fault, not a burst",
          "How long appends may wait for merges before the job fails.");
  static final OptionKey<Duration> MINT_INTERVAL =
      fixed(
          "mint.interval",
          OptionType.DURATION,
          "1 s",
          "fresh enough to act on; half of it costs twice as many requests",
          "With `commit = frontier`: how often what the watermark has passed becomes durable.");
  static final OptionKey<Optional<Duration>> CHECKPOINT_INTERVAL =
      fixed(
          "checkpoint.interval",
          OptionType.DURATION_OR_OFF,
          "10 s",
          "fresh enough to watch, and 260,000 commits a month a shard",
          "How often the job is checkpointed, and so, with `commit = checkpoint`, how often rows become durable. `off` with `commit = frontier` only: after a failure all of the input is read again.");
  static final OptionKey<Duration> CHECKPOINT_TIMEOUT =
      fixed(
          "checkpoint.timeout",
          OptionType.DURATION,
          "10 min",
          "Flink's own",
          "After how long a checkpoint is given up.");
  static final OptionKey<String> CHECKPOINT_DIR =
      workedOut(
          "checkpoint.dir",
          OptionType.TEXT,
          "`.checkpoints` in a file warehouse; else `./tidemark-checkpoints`",
          "embedded jobs should survive a restart without being told how; required on a cluster",
          "Where checkpoints and savepoints lie, each writer in its own folder.");
  static final OptionKey<String> RESTORE =
      fixed(
          "restore",
          OptionType.TEXT,
          "latest",
          "going on is what a restart is for",
          "`latest`: the newest complete checkpoint or savepoint of this writer, if there is one; `none`; or a path.");
  static final OptionKey<StartMode> START =
      fixed(
          "start",
          OptionType.choice(
              OptionType.table(
                  "refuse", StartMode.REFUSE,
                  "append", StartMode.APPEND,
                  "resume-by-time", StartMode.RESUME_BY_TIME),
              List.of()),
          "refuse",
          "reading the same rows twice would double them",
          "What a job without state does when a shard has data already. `append`: its rows are new and come at the shard's upper at the earliest; `resume-by-time`: they are the same again, and those below the shard's upper are left out (replayed).");
  static final OptionKey<Integer> UI_PORT =
      fixed(
          "ui.port",
          OptionType.wholeNumber(0, 65_535),
          "8081",
          "Flink's own; busy: the next free one, printed",
          "The port of the embedded web UI on 127.0.0.1; refused with `--target`.");

  static final List<OptionKey<?>> ALL =
      List.of(
          PARALLELISM,
          WRITE_PARALLELISM,
          WRITE_RUNS,
          BUFFER,
          PART,
          INLINE,
          MERGE_PARALLELISM,
          MERGE_MEMORY,
          MERGE_CHUNK,
          SETTLE,
          SEAL,
          MAX_STALL,
          MINT_INTERVAL,
          CHECKPOINT_INTERVAL,
          CHECKPOINT_TIMEOUT,
          CHECKPOINT_DIR,
          RESTORE,
          START,
          UI_PORT);

  private RunKeys() {}
}
