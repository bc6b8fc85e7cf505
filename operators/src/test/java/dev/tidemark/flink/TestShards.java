package dev.tidemark.flink;

import dev.tidemark.flink.message.Update;
import dev.tidemark.gc.GcSettings;
import dev.tidemark.log.Author;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.LogEntry;
import dev.tidemark.log.ShardLog;
import dev.tidemark.part.PartKeys;
import dev.tidemark.part.PartStore;
import dev.tidemark.read.ShardReader;
import dev.tidemark.row.ErrorRows;
import dev.tidemark.row.RowBuffer;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Column;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;

/** Shards in a memory store of a test's own: what goes in, and what their logs say then. */
public final class TestShards {
  /** A number as the key, and a text. */
  public static final Schema SCHEMA =
      new Schema(
          1,
          List.of(
              new Column(1, "id", ColumnType.of(ColumnType.Kind.BIGINT, false)),
              new Column(
                  2,
                  "text",
                  new ColumnType(
                      ColumnType.Kind.VARCHAR, true, Integer.MAX_VALUE, 0, List.of(), List.of()))),
          List.of("id"));

  private static final RowCodec ROWS = new RowCodec(SCHEMA);
  private static final RowCodec ERRORS = new RowCodec(ErrorRows.SCHEMA);

  /** The store's name. */
  public final String store = UUID.randomUUID().toString();

  private final SpineSpec spec;

  /** Shards that are made with a spec. */
  public TestShards(SpineSpec spec) {
    this.spec = spec;
  }

  /** Shards with the spec's defaults. */
  public TestShards() {
    this(SpineSpec.DEFAULT);
  }

  /** The shard of a name, kept whole. */
  public ShardTarget shard(String name) {
    return shard(name, null);
  }

  /** The shard of a name. */
  public ShardTarget shard(String name, Duration retain) {
    return new ShardTarget("memory:" + store + "/" + name, name, SCHEMA, spec, retain);
  }

  /** The settings of a writer, with short times. */
  public static SinkSettings settings(int runs, long bufferBytes, int inlineBytes) {
    return settings(runs, bufferBytes, inlineBytes, 256L << 20);
  }

  /** The settings of a writer whose merges are cut after so many bytes. */
  public static SinkSettings settings(
      int runs, long bufferBytes, int inlineBytes, long mergeChunkBytes) {
    return settings(runs, bufferBytes, inlineBytes, mergeChunkBytes, Duration.ofMinutes(1));
  }

  /** The same, of a writer whose appends wait for merges for so long. */
  public static SinkSettings settings(
      int runs, long bufferBytes, int inlineBytes, long mergeChunkBytes, Duration maxStall) {
    return new SinkSettings(
        "test",
        StoreSettings.DEFAULT,
        0,
        runs,
        bufferBytes,
        128L << 20,
        inlineBytes,
        Duration.ofSeconds(1),
        true,
        1,
        64L << 20,
        mergeChunkBytes,
        maxStall,
        Duration.ofMinutes(10),
        GcSettings.DEFAULT,
        StartMode.REFUSE,
        CommitSettings.CHECKPOINT);
  }

  /** A row. */
  public static Update row(SlotKeys slots, int shard, long id, String text, long time, long diff) {
    try {
      byte[] row = ROWS.encode(new Object[] {id, text});
      int slot = slots.slotKey(shard, row, ROWS.keyLength(row, 0, row.length));
      return new Update(shard, slot, false, row, time, diff);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** An error row. */
  public static Update error(SlotKeys slots, int shard, String reason, long time) {
    try {
      byte[] raw = reason.getBytes(StandardCharsets.UTF_8);
      byte[] row = ERRORS.encode(new Object[] {reason, raw, "file:1", "t"});
      return new Update(shard, slots.slotKey(shard, row, row.length), true, row, time, 1);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** A store of a shard. */
  public static ObjectStore open(ShardTarget shard) {
    return Stores.open(shard.url(), StoreSettings.DEFAULT);
  }

  /** The shard's state by its log. */
  public static ShardState state(ShardTarget shard) throws Exception {
    return new ShardLog(open(shard)).refresh();
  }

  /** All versions of a shard. */
  public static List<LogEntry> entries(ShardTarget shard) throws Exception {
    return new ShardLog(open(shard)).entries(SeqNo.ZERO.next(), 100_000);
  }

  /** The attempt of some writer on another machine. */
  public static Author author(String writer, String started) {
    return new Author(new WriterAttempt(writer, started, "attempt-1", "elsewhere"), "append");
  }

  /** Has somebody change a shard. */
  public static CommitResult change(ShardTarget shard, Command command, Author by)
      throws Exception {
    return new ShardLog(open(shard)).commit(command, by);
  }

  /** Parts of a shard. */
  public static PartStore parts(ShardTarget shard) throws Exception {
    PartKeys keys = new PartKeys(Clock.systemUTC(), new SecureRandom());
    return new PartStore(open(shard), state(shard).shard(), 1 << 20, keys);
  }

  /** Has a writer make the shard if need be, and append a batch of one uploaded run a row. */
  public static void append(ShardTarget shard, long lower, long upper, Update... rows)
      throws Exception {
    Author by = author("filler", "2026-01-01T00:00:00.000Z");
    if (!state(shard).exists()) {
      change(shard, new Command.Create(ShardHandle.newId(), SCHEMA, shard.spec()), by);
    }
    List<List<Part>> runs = new ArrayList<>();
    long bytes = 0;
    long maxTime = Long.MIN_VALUE;
    for (Update row : rows) {
      maxTime = Math.max(maxTime, row.time);
      RowBuffer buffer = new RowBuffer();
      buffer.add(row.row, 0, row.row.length, row.time, row.diff);
      List<Part> run = parts(shard).writeRun(buffer.sorted(), SCHEMA);
      bytes += run.get(0).bytes();
      runs.add(run);
    }
    Batch batch =
        new Batch(
            ShardHandle.newId(),
            new BatchDescription(Frontier.of(lower), Frontier.of(upper)),
            Frontier.MINIMUM,
            0,
            runs,
            List.of(),
            rows.length,
            bytes,
            0,
            OptionalLong.of(rows.length),
            maxTime,
            false,
            1,
            Map.of());
    CommitResult result = change(shard, new Command.Append(by.attempt(), List.of(batch)), by);
    if (!(result instanceof CommitResult.Committed)) {
      throw new IllegalStateException(result.toString());
    }
  }

  /** Has the writer of {@link #append} say that nothing came: the last batch gets longer. */
  public static void appendNothing(ShardTarget shard, long lower, long upper) throws Exception {
    Author by = author("filler", "2026-01-01T00:00:00.000Z");
    BatchDescription bounds = new BatchDescription(Frontier.of(lower), Frontier.of(upper));
    Batch batch =
        new Batch(
            ShardHandle.newId(),
            bounds,
            Frontier.MINIMUM,
            0,
            List.of(),
            List.of(),
            0,
            0,
            0,
            OptionalLong.of(0),
            Long.MIN_VALUE,
            false,
            1,
            Map.of());
    change(shard, new Command.Append(by.attempt(), List.of(batch)), by);
  }

  /** All updates of a shard as they are stored: {@code id text @time diff}, by batch and run. */
  public static List<String> updates(ShardTarget shard) throws Exception {
    ShardState state = state(shard);
    List<String> lines = new ArrayList<>();
    for (Batch batch : state.batches()) {
      for (List<Part> run : batch.runs()) {
        try (UpdateCursor rows = parts(shard).readRun(run, state.schema(), state.schema())) {
          lines.addAll(lines(rows));
        }
      }
    }
    return lines;
  }

  /** The updates of a cursor. */
  public static List<String> lines(UpdateCursor rows) throws Exception {
    List<String> lines = new ArrayList<>();
    while (rows.next()) {
      Object[] row = ROWS.decode(rows.row(), rows.rowOffset(), rows.rowLength());
      String sign = rows.diff() > 0 ? "+" : "";
      lines.add(row[0] + " " + row[1] + " @" + rows.time() + " " + sign + rows.diff());
    }
    return lines;
  }

  /** Who is told of rows. */
  public interface Reader {
    /** A row of a shard, and how often it is there. */
    void row(Object[] values, long times) throws Exception;
  }

  /** Reads the rows of a shard at its newest time. */
  public static void read(ShardTarget shard, Reader reader) throws Exception {
    read(shard, state(shard).upper().time() - 1, reader);
  }

  /** Reads the rows of a shard at a time. */
  public static void read(ShardTarget shard, long asOf, Reader reader) throws Exception {
    ShardLog log = new ShardLog(open(shard));
    ShardState state = log.refresh();
    RowCodec codec = new RowCodec(state.schema());
    try (UpdateCursor rows = new ShardReader(log).snapshot(state, asOf)) {
      while (rows.next()) {
        reader.row(codec.decode(rows.row(), rows.rowOffset(), rows.rowLength()), rows.diff());
      }
    }
  }

  /** The error rows of a shard at a time: {@code reason @time}. */
  public static List<String> errors(ShardTarget shard, long asOf) throws Exception {
    ShardLog log = new ShardLog(open(shard));
    List<String> lines = new ArrayList<>();
    try (UpdateCursor rows = new ShardReader(log).errors(log.refresh(), asOf)) {
      while (rows.next()) {
        lines.add(errorLine(rows));
      }
    }
    return lines;
  }

  /** The error row under a cursor. */
  public static String errorLine(UpdateCursor rows) {
    Object[] row = ERRORS.decode(rows.row(), rows.rowOffset(), rows.rowLength());
    return row[0] + " @" + rows.time();
  }
}
