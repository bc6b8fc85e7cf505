package dev.tidemark.flink.message;

import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/**
 * The type of a message that has a serializer of its own.
 *
 * @param <T> the message
 */
public final class WireType<T> extends TypeInformation<T> {
  /** {@link RawRecord}. */
  public static final TypeInformation<RawRecord> RAW_RECORD =
      new WireType<>(RawRecord.class, RawRecordSerializer.INSTANCE);

  /** {@link KeyedRow}. */
  public static final TypeInformation<KeyedRow> KEYED_ROW =
      new WireType<>(KeyedRow.class, KeyedRowSerializer.INSTANCE);

  private static final long serialVersionUID = 1L;

  private final Class<T> type;
  private final TypeSerializer<T> serializer;

  private WireType(Class<T> type, TypeSerializer<T> serializer) {
    this.type = type;
    this.serializer = serializer;
  }

  @Override
  public boolean isBasicType() {
    return false;
  }

  @Override
  public boolean isTupleType() {
    return false;
  }

  @Override
  public int getArity() {
    return 1;
  }

  @Override
  public int getTotalFields() {
    return 1;
  }

  @Override
  public Class<T> getTypeClass() {
    return type;
  }

  @Override
  public boolean isKeyType() {
    return false;
  }

  @Override
  public TypeSerializer<T> createSerializer(SerializerConfig config) {
    return serializer;
  }

  @Override
  public String toString() {
    return type.getSimpleName();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof WireType<?> wire && type.equals(wire.type);
  }

  @Override
  public int hashCode() {
    return type.hashCode();
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof WireType;
  }
}
