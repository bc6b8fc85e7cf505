package dev.tidemark.flink.decode;

import dev.tidemark.flink.InputCounts;
import dev.tidemark.flink.KeyBuckets;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.StartSettings;
import dev.tidemark.flink.message.KeyedRow;
import dev.tidemark.flink.message.RawRecord;
import dev.tidemark.flink.message.Update;
import dev.tidemark.flink.upsert.UpsertOperator;
import dev.tidemark.flink.upsert.UpsertSettings;
import dev.tidemark.row.ErrorRows;
import dev.tidemark.row.RowCodec;
import dev.tidemark.schema.Schema;
import dev.tidemark.spine.SpineSpec;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import org.apache.flink.api.common.accumulators.Accumulator;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;

/** Runs records through decode and upsert, and adds up what comes out. */
final class Replay implements AutoCloseable {
  final List<ShardTarget> shards;
  final List<Update> updates = new ArrayList<>();
  final List<Error> errors = new ArrayList<>();

  private final OneInputStreamOperatorTestHarness<RawRecord, Update> decode;
  private final KeyedOneInputStreamOperatorTestHarness<Integer, KeyedRow, Update> upsert;
  private int decodedSeen;
  private int keyedSeen;
  private int upsertSeen;
  private long line;

  /** An error row. */
  record Error(int shard, String reason, byte[] raw, String origin, String table, long time) {}

  Replay(DecodeSettings settings, List<ShardTarget> shards) throws Exception {
    this.shards = shards;
    SlotKeys slots = new SlotKeys(shards.size(), 2, 128);
    WatermarkSettings watermarks = new WatermarkSettings(Duration.ZERO, null, false);
    KeyBuckets buckets = new KeyBuckets(shards.size(), slots.maxParallelism());
    decode =
        new OneInputStreamOperatorTestHarness<>(
            new DecodeOperator(settings, shards, slots, watermarks, StartSettings.REFUSE));
    upsert =
        new KeyedOneInputStreamOperatorTestHarness<>(
            new UpsertOperator(
                new UpsertSettings(
                    shards,
                    List.of(),
                    slots,
                    buckets,
                    StartSettings.REFUSE,
                    settings.errorsFail())),
            buckets,
            Types.INT);
    decode.open();
    upsert.open();
  }

  static ShardTarget shard(String name, String schema) {
    return new ShardTarget(
        "memory:test/" + name, name, Schema.parse(schema, 1), SpineSpec.DEFAULT, null);
  }

  /** One table, all records are its. */
  static Replay of(
      DecodeSettings.Format format,
      DebeziumSettings debezium,
      String schema,
      Envelope envelope,
      String timeColumn)
      throws Exception {
    TableMapping mapping = new TableMapping(0, null, envelope, timeColumn);
    return new Replay(settings(format, debezium, List.of(mapping)), List.of(shard("t", schema)));
  }

  static DecodeSettings settings(
      DecodeSettings.Format format, DebeziumSettings debezium, List<TableMapping> tables) {
    return new DecodeSettings(
        format, debezium, tables, true, false, Long.MAX_VALUE - 1, Long.MAX_VALUE);
  }

  Replay line(String text) throws Exception {
    return line(text.getBytes(StandardCharsets.UTF_8));
  }

  Replay line(byte[] text) throws Exception {
    return record(raw(text));
  }

  /** A line that begins at a byte of its file. */
  Replay line(String text, long byteOffset) throws Exception {
    RawRecord record = raw(text.getBytes(StandardCharsets.UTF_8));
    record.byteOffset = byteOffset;
    return record(record);
  }

  private RawRecord raw(byte[] text) {
    RawRecord record = new RawRecord();
    record.place = "test";
    record.partition = "files";
    record.number = ++line;
    record.value = text;
    return record;
  }

  /** As Kafka hands it over. */
  Replay keyed(String key, String value) throws Exception {
    RawRecord record = new RawRecord();
    record.place = "topic-0";
    record.partition = "topic-0";
    record.topic = "topic";
    record.number = line++;
    record.timestampMillis = 1_000 + line;
    record.key = key == null ? null : key.getBytes(StandardCharsets.UTF_8);
    record.value = value == null ? null : value.getBytes(StandardCharsets.UTF_8);
    return record(record);
  }

  Replay record(RawRecord record) throws Exception {
    decode.processElement(new StreamRecord<>(record));
    Object[] out = decode.getOutput().toArray();
    for (; decodedSeen < out.length; decodedSeen++) {
      take(out[decodedSeen]);
    }
    if (decode.getSideOutput(DecodeOperator.KEYED) != null) {
      Object[] keyed = decode.getSideOutput(DecodeOperator.KEYED).toArray();
      for (; keyedSeen < keyed.length; keyedSeen++) {
        @SuppressWarnings("unchecked")
        StreamRecord<KeyedRow> row = (StreamRecord<KeyedRow>) keyed[keyedSeen];
        upsert.processElement(row);
      }
      Object[] upserted = upsert.getOutput().toArray();
      for (; upsertSeen < upserted.length; upsertSeen++) {
        take(upserted[upsertSeen]);
      }
    }
    // The queues are walked from their start each time: keep them short.
    decode.getOutput().clear();
    upsert.getOutput().clear();
    if (decode.getSideOutput(DecodeOperator.KEYED) != null) {
      decode.getSideOutput(DecodeOperator.KEYED).clear();
    }
    decodedSeen = 0;
    upsertSeen = 0;
    keyedSeen = 0;
    return this;
  }

  private void take(Object element) {
    if (!(element instanceof StreamRecord<?> record)) {
      return;
    }
    Update update = (Update) record.getValue();
    if (update.error) {
      Object[] row = new RowCodec(ErrorRows.SCHEMA).decode(update.row, 0, update.row.length);
      errors.add(
          new Error(
              update.shard,
              (String) row[0],
              (byte[]) row[1],
              (String) row[2],
              (String) row[3],
              update.time));
    } else {
      updates.add(update);
    }
  }

  /** Every line of a resource, or of a file of the demo, plain or .gz. */
  Replay lines(String name) throws Exception {
    try (BufferedReader reader = open(name)) {
      String text;
      while ((text = reader.readLine()) != null) {
        line(text);
      }
    }
    return this;
  }

  static BufferedReader open(String name) throws IOException {
    InputStream in =
        name.startsWith("demo/")
            ? Files.newInputStream(Path.of(System.getProperty("tidemark.root"), name))
            : Objects.requireNonNull(Replay.class.getResourceAsStream("/" + name), name);
    return new BufferedReader(
        new InputStreamReader(
            name.endsWith(".gz") ? new GZIPInputStream(in) : in, StandardCharsets.UTF_8));
  }

  /** What a shard holds at the end: rows and how often, as texts. */
  Map<String, Long> contents(int shard) {
    return contents(shard, Long.MAX_VALUE);
  }

  /** What a shard held at a time. */
  Map<String, Long> contents(int shard, long asOfMillis) {
    RowCodec codec = new RowCodec(shards.get(shard).schema());
    Map<String, Long> contents = new TreeMap<>();
    sums(shard, asOfMillis)
        .forEach(
            (row, count) ->
                contents.put(text(codec.decode(row.array(), 0, row.array().length)), count));
    return contents;
  }

  /** What a shard held at a time, encoded. */
  Map<java.nio.ByteBuffer, Long> sums(int shard, long asOfMillis) {
    Map<java.nio.ByteBuffer, Long> sums = new HashMap<>();
    for (Update update : updates) {
      if (update.shard == shard && update.time <= asOfMillis) {
        sums.merge(java.nio.ByteBuffer.wrap(update.row), update.diff, Long::sum);
      }
    }
    sums.values().removeIf(count -> count == 0);
    return sums;
  }

  static String text(Object[] row) {
    Object[] shown = row.clone();
    for (int i = 0; i < shown.length; i++) {
      if (shown[i] instanceof byte[] bytes) {
        shown[i] = java.util.HexFormat.of().formatHex(bytes);
      } else if ("null".equals(shown[i])) {
        shown[i] = "'null'";
      }
    }
    return Arrays.deepToString(shown);
  }

  /** The rows of the first shard as they came, decoded. */
  List<String> rows() {
    RowCodec codec = new RowCodec(shards.get(0).schema());
    return updates.stream().map(u -> text(codec.decode(u.row, 0, u.row.length))).toList();
  }

  List<String> reasons() {
    return errors.stream().map(Error::reason).toList();
  }

  long count(String name) {
    return count(decode, name) + count(upsert, name);
  }

  private static long count(AbstractStreamOperatorTestHarness<?> harness, String name) {
    Accumulator<?, ?> found =
        harness.getEnvironment().getAccumulatorRegistry().getUserMap().get(name);
    return found == null ? 0 : (Long) found.getLocalValue();
  }

  /** read = stored + error + late + replayed + ignored. */
  boolean addsUp() {
    long sum = count(InputCounts.IGNORED);
    for (ShardTarget shard : shards) {
      for (InputCounts.Fate fate : InputCounts.Fate.values()) {
        sum += count(InputCounts.name(shard.name(), fate));
      }
    }
    return sum == count(InputCounts.READ);
  }

  long stored() {
    return count(InputCounts.name(shards.get(0).name(), InputCounts.Fate.STORED));
  }

  long rejected() {
    return count(InputCounts.name(shards.get(0).name(), InputCounts.Fate.ERROR));
  }

  /** The last watermark that the decoder has emitted; the clock must be moved for it. */
  long watermark() {
    long last = Long.MIN_VALUE;
    for (Object element : decode.getOutput()) {
      if (element instanceof Watermark mark) {
        last = mark.getTimestamp();
      }
    }
    return last;
  }

  OneInputStreamOperatorTestHarness<RawRecord, Update> decodeHarness() {
    return decode;
  }

  @Override
  public void close() {
    try {
      decode.close();
      upsert.close();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
