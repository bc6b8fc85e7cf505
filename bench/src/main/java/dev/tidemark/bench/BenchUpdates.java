package dev.tidemark.bench;

import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.message.Update;
import dev.tidemark.row.RowCodec;
import dev.tidemark.schema.Schema;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.RowKind;

/** The generator's rows as updates: encoded once, behind the source, in the same task. */
final class BenchUpdates {
  private BenchUpdates() {}

  static DataStream<Update> of(
      DataStream<RowData> rows, Workload workload, Schema schema, SlotKeys slots) {
    return rows.map(new Encode(schema, slots)).returns(Update.TYPE).name("encode").uid("encode");
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
      Object[] values = {row.getString(0).toString(), row.getLong(1), row.getString(2).toString()};
      byte[] encoded = codec.encode(values);
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
