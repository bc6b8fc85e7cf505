package dev.tidemark.bench;

import dev.tidemark.flink.KeyBuckets;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.StartSettings;
import dev.tidemark.flink.message.KeyedRow;
import dev.tidemark.flink.message.Update;
import dev.tidemark.flink.upsert.UpsertOperator;
import dev.tidemark.flink.upsert.UpsertSettings;
import dev.tidemark.row.InvalidRowException;
import dev.tidemark.row.RowCodec;
import dev.tidemark.schema.Schema;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.RowKind;

/** The generator's rows as updates: encoded once, behind the source, in the same task. */
final class BenchUpdates {
  private BenchUpdates() {}

  static DataStream<Update> of(
      DataStream<RowData> rows, Workload workload, ShardTarget target, SlotKeys slots) {
    Schema schema = target.schema();
    if (workload.envelope() != Workload.Kind.UPSERT) {
      return rows.map(new Encode(schema, slots)).returns(Update.TYPE).name("encode").uid("encode");
    }
    KeyBuckets buckets = new KeyBuckets(1, slots.maxParallelism());
    UpsertSettings settings =
        new UpsertSettings(
            List.of(target), List.of(0), slots, buckets, StartSettings.REFUSE, false);
    return rows.map(new Key(schema))
        .returns(KeyedRow.TYPE)
        .name("encode")
        .uid("encode")
        .keyBy(buckets, Types.INT)
        .transform("upsert", Update.TYPE, new UpsertOperator(settings))
        .uid("upsert");
  }

  private static byte[] encode(RowCodec codec, RowData row) throws InvalidRowException {
    Object[] values = {text(row, 0), row.getLong(1), text(row, 2)};
    return codec.encode(values);
  }

  private static String text(RowData row, int column) {
    return new String(row.getString(column).toBytes(), StandardCharsets.UTF_8);
  }

  private static final class Key extends RichMapFunction<RowData, KeyedRow> {
    private static final long serialVersionUID = 1L;

    private final Schema schema;
    private transient RowCodec codec;

    Key(Schema schema) {
      this.schema = schema;
    }

    @Override
    public void open(OpenContext context) {
      codec = new RowCodec(schema);
    }

    @Override
    public KeyedRow map(RowData row) throws Exception {
      byte[] encoded = encode(codec, row);
      byte[] key = Arrays.copyOf(encoded, codec.keyLength(encoded, 0, encoded.length));
      return new KeyedRow(0, key, encoded, row.getLong(1), true);
    }
  }

  private static final class Encode extends RichMapFunction<RowData, Update> {
    private static final long serialVersionUID = 1L;

    private final Schema schema;
    private final SlotKeys slots;
    private transient RowCodec codec;
    private transient Update update;

    Encode(Schema schema, SlotKeys slots) {
      this.schema = schema;
      this.slots = slots;
    }

    @Override
    public void open(OpenContext context) {
      codec = new RowCodec(schema);
      update = new Update();
    }

    @Override
    public Update map(RowData row) throws Exception {
      byte[] encoded = encode(codec, row);
      int keyLength = codec.keyLength(encoded, 0, encoded.length);
      update.shard = 0;
      update.slotKey = slots.slotKey(0, encoded, keyLength);
      update.row = encoded;
      update.time = row.getLong(1);
      update.diff = row.getRowKind() == RowKind.UPDATE_BEFORE ? -1 : 1;
      return update;
    }
  }
}
