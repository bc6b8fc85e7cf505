package dev.tidemark.flink.message;

import java.lang.reflect.Type;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.TypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInfoFactory;
import org.apache.flink.api.common.typeinfo.TypeInformation;

/**
 * One update on its way from the source to write: an encoded row (see {@link
 * dev.tidemark.row.RowCodec}), its time and diff, and the key of the slot it goes to. Mutable so
 * that Flink's object reuse can spare allocations; travels by a serializer of its own.
 */
@TypeInfo(Update.TypeFactory.class)
public final class Update {
  /** How Flink treats updates. */
  public static final TypeInformation<Update> TYPE =
      new MessageType<>(Update.class, UpdateSerializer.INSTANCE);

  /** The index of the shard in the job's list. */
  public int shard;

  /** The key of the slot: an int whose key group is the slot's (see SlotKeys). */
  public int slotKey;

  /** Whether this is an error row: then {@code row} is encoded by {@code ErrorRows.SCHEMA}. */
  public boolean error;

  /**
   * Whether another update stands for the same record of the input and is counted in its place: of
   * all updates of one record exactly one counts.
   */
  public boolean companion;

  /** The encoded row, from 0 on, whole. */
  public byte[] row = new byte[0];

  /**
   * The time in milliseconds; {@code Long.MIN_VALUE}: none of its own, it takes the lower of its
   * description.
   */
  public long time;

  /** +1 or -1, or a multiplicity. */
  public long diff;

  /** An empty update, to be filled. */
  public Update() {}

  /** An update. */
  public Update(int shard, int slotKey, boolean error, byte[] row, long time, long diff) {
    this.shard = shard;
    this.slotKey = slotKey;
    this.error = error;
    this.row = row;
    this.time = time;
    this.diff = diff;
  }

  /** Tells Flink's type extraction of {@link #TYPE}. */
  public static final class TypeFactory extends TypeInfoFactory<Update> {
    @Override
    public TypeInformation<Update> createTypeInfo(
        Type type, Map<String, TypeInformation<?>> parameters) {
      return TYPE;
    }
  }
}
