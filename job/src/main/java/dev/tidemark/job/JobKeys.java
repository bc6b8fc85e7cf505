package dev.tidemark.job;

import static dev.tidemark.job.OptionKey.fixed;
import static dev.tidemark.job.OptionKey.none;
import static dev.tidemark.job.OptionKey.workedOut;

import dev.tidemark.flink.CommitMode;
import dev.tidemark.flink.LateRows;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The keys that say who writes, where to, and how the job as a whole behaves. */
final class JobKeys {
  static final OptionKey<String> NAME =
      fixed(
          "job.name",
          OptionType.TEXT,
          "tidemark",
          "one job is the common case",
          "The job's name in Flink's web UI.");
  static final OptionKey<String> WRITER =
      workedOut(
          "writer.id",
          OptionType.TEXT,
          "job.name",
          "a name that stays the same over restarts",
          "Who writes: the same over restarts, another for each job on the same shard.");
  static final OptionKey<String> WAREHOUSE =
      none(
          "shard.warehouse",
          OptionType.TEXT,
          "nobody can guess it",
          "The folder that holds the shards: `s3://bucket/path`, `file:///path` or a path. Required.");
  static final OptionKey<String> SHARD =
      none(
          "shard.name",
          OptionType.TEXT,
          "nobody can guess it",
          "The shard's name under the warehouse. Required without `tables`.");
  static final OptionKey<Integer> FAN_IN =
      fixed(
          "shard.spec.fan-in",
          OptionType.wholeNumber(2, 1024),
          "8",
          "few writes a row at a bounded number of runs",
          "N: runs merged at a time.");
  static final OptionKey<Integer> QUEUE =
      fixed(
          "shard.spec.queue",
          OptionType.wholeNumber(3, 65_536),
          "16",
          "twice the fan-in lets a burst in while a merge runs",
          "K: the most runs a level may count; at least 2N - 1.");
  static final OptionKey<Integer> REST =
      fixed(
          "shard.spec.rest",
          OptionType.wholeNumber(4, 65_536),
          "24",
          "three times the fan-in",
          "R: runs in all above which a quiet shard merges on; at least 2N.");
  static final OptionKey<Long> BASE_BYTES =
      fixed(
          "shard.spec.base-bytes",
          OptionType.SIZE,
          "1 MiB",
          "below it a request costs more than its bytes",
          "w0: the size at which a batch stops being small.");
  static final OptionKey<Double> SPACE =
      fixed(
          "shard.spec.space",
          OptionType.number(1.01, 1000),
          "2.0",
          "at most as much garbage as rows",
          "sigma: the most space amplification.");
  static final OptionKey<Boolean> MERGING =
      fixed(
          "shard.spec.merging",
          OptionType.BOOLEAN,
          "true",
          "a shard that nobody merges fills up",
          "Whether merges are planned at all.");
  static final OptionKey<Optional<Duration>> RETAIN =
      fixed(
          "retain",
          OptionType.DURATION_OR_FOREVER,
          "1 h",
          "long enough to look back at an incident, short enough to let updates cancel",
          "How far back in event time the shard can be read; `forever` keeps every time.");
  static final OptionKey<Boolean> SCHEMA_EVOLVES =
      fixed(
          "schema.change",
          OptionType.choice(OptionType.table("fail", false, "evolve", true), List.of()),
          "fail",
          "columns that change unasked are a fault more often than a wish",
          "When the job's columns are not those of its shard: `fail`, or `evolve`: the shard's follow the job's where they can (docs/operations.md).");
  static final OptionKey<CommitMode> COMMIT =
      fixed(
          "commit",
          OptionType.choice(
              OptionType.table(
                  "checkpoint", CommitMode.CHECKPOINT, "frontier", CommitMode.FRONTIER),
              List.of()),
          "checkpoint",
          "exactly once for every row, late ones included",
          "When batches become durable: with the checkpoint that holds them, or each `mint.interval`, as the watermark passes them (docs/operations.md has when to take which, and what goes together).");
  static final OptionKey<LateRows> LATE =
      workedOut(
          "late",
          OptionType.choice(
              OptionType.table(
                  "retime", LateRows.RETIME, "fail", LateRows.FAIL, "drop", LateRows.DROP),
              List.of()),
          "retime with commit = checkpoint, fail with frontier",
          "no row is lost without a word",
          "What happens to a row whose time is closed already: it gets the next open time; the job stops for good and names it; it is dropped and counted. `retime` is for `commit = checkpoint`, the others for `frontier`.");
  static final OptionKey<Boolean> ERRORS_FAIL =
      fixed(
          "errors",
          OptionType.choice(OptionType.table("persist", false, "fail", true), List.of()),
          "persist",
          "one bad row must not stop the others, nor vanish",
          "What happens to a row that can't be read: kept as an error row, or the job fails.");
  static final OptionKey<Boolean> LENIENT =
      fixed(
          "on-concurrent-writer",
          OptionType.choice(OptionType.table("fail", false, "lenient", true), List.of()),
          "fail",
          "two writers of one shard are nearly always a mistake",
          "What happens when another writer has appended: the job stops for good and names it; or, with `commit = frontier`, it goes on behind that (two jobs that write the same).");
  static final OptionKey<Boolean> READ_ONLY =
      fixed(
          "read-only",
          OptionType.BOOLEAN,
          "false",
          "a job is there to write",
          "With `commit = frontier`: prepare everything and append nothing, while another job writes the same rows; what that has appended is dropped here.");
  static final OptionKey<String> MERGE =
      fixed(
          "merge",
          OptionType.choice(OptionType.table("here", "here", "elsewhere", "elsewhere"), List.of()),
          "here",
          "one job is all that is needed",
          "Where merges run. With `elsewhere` this job only appends: since, garbage and merges are left to a job of `role = compact` beside it.");
  static final OptionKey<Boolean> COMPACTS =
      fixed(
          "role",
          OptionType.choice(OptionType.table("all", false, "compact", true), List.of()),
          "all",
          "one job is all that is needed",
          "What the job does. With `compact` it reads no source and appends nothing: it merges the shards of `shard.name` or `tables`, else all of the warehouse, moves their since by `retain` (which must be set then) and collects their garbage. Its writer id is `writer.id` and `-compact`.");
  static final OptionKey<Duration> FIND_INTERVAL =
      fixed(
          "find.interval",
          OptionType.DURATION,
          "1 min",
          "a new shard has room for its first commits",
          "How often an embedded job of `role = compact` looks for new shards in the warehouse.");
  static final OptionKey<Boolean> UNMATCHED_FAILS =
      fixed(
          "unmatched",
          OptionType.choice(OptionType.table("fail", true, "ignore", false), List.of()),
          "fail",
          "a table that nobody listed is nearly always forgotten",
          "What happens to a record that belongs to none of `tables`.");
  static final OptionKey<Duration> IDLE_INTERVAL =
      fixed(
          "idle.interval",
          OptionType.DURATION,
          "1 min",
          "readers of a quiet shard wait at most this long; each costs one request",
          "How often a shard without rows is committed.");
  static final OptionKey<Optional<Duration>> MAX_AHEAD =
      workedOut(
          "time.max-ahead",
          OptionType.DURATION_OR_OFF,
          "1 day; off for bounded input",
          "one wrong clock would take the shard's upper with it; a recording may be of any time",
          "Rows later than the clock by more than this are error rows, and take no part in event time.");
  static final OptionKey<String> MAX_TIME =
      none(
          "time.max",
          OptionType.TEXT,
          "a recording may be of any time",
          "Rows later than this are error rows: milliseconds, or ISO-8601 with zone.");

  static final List<OptionKey<?>> ALL =
      List.of(
          NAME,
          WRITER,
          WAREHOUSE,
          SHARD,
          FAN_IN,
          QUEUE,
          REST,
          BASE_BYTES,
          SPACE,
          MERGING,
          RETAIN,
          SCHEMA_EVOLVES,
          COMMIT,
          LATE,
          ERRORS_FAIL,
          LENIENT,
          READ_ONLY,
          MERGE,
          COMPACTS,
          FIND_INTERVAL,
          UNMATCHED_FAILS,
          IDLE_INTERVAL,
          MAX_AHEAD,
          MAX_TIME);

  private JobKeys() {}
}
