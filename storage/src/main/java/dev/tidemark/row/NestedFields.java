package dev.tidemark.row;

import dev.tidemark.schema.ColumnType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** ARRAY, MAP, ROW. */
final class NestedFields {
  private static final int HEADER_BYTES = 4;

  private NestedFields() {}

  static final class ArrayField extends FieldCodec {
    private final FieldCodec element;

    ArrayField(String path, ColumnType type) {
      super(path, type);
      this.element = FieldCodec.of(path + "[]", type.children().get(0));
    }

    @Override
    void encodeValue(Object value, RowEncoder out) throws InvalidRowException {
      if (!(value instanceof List<?> list)) {
        throw wrongClass(value);
      }
      out.addRaw(Memcomparable.VALUE);
      for (Object item : list) {
        out.addRaw(Memcomparable.MORE);
        element.encode(item, out);
      }
      out.addRaw(Memcomparable.END);
    }

    @Override
    Object decodeValue(RowInput in) {
      List<@Nullable Object> list = new ArrayList<>();
      while (in.take() != Memcomparable.END) {
        list.add(element.decode(in));
      }
      return Collections.unmodifiableList(list);
    }

    @Override
    int countValue(RowInput in) {
      int counted = HEADER_BYTES;
      while (in.take() != Memcomparable.END) {
        counted += element.count(in);
      }
      return counted;
    }
  }

  /** Keys are never NULL, whatever is declared: Parquet has no such keys. */
  static final class MapField extends FieldCodec {
    private final FieldCodec key;
    private final FieldCodec item;

    private static final class Entry {
      final byte[] bytes;
      final int keyLength;

      Entry(byte[] bytes, int keyLength) {
        this.bytes = bytes;
        this.keyLength = keyLength;
      }
    }

    MapField(String path, ColumnType type) {
      super(path, type);
      this.key = FieldCodec.of(path + "{key}", type.children().get(0).withNullable(false));
      this.item = FieldCodec.of(path + "{}", type.children().get(1));
    }

    @Override
    void encodeValue(Object value, RowEncoder out) throws InvalidRowException {
      if (!(value instanceof Map<?, ?> map)) {
        throw wrongClass(value);
      }
      List<Entry> entries = new ArrayList<>(map.size());
      RowEncoder one = new RowEncoder();
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        one.reset();
        key.encode(entry.getKey(), one);
        int keyLength = one.length();
        item.encode(entry.getValue(), one);
        entries.add(new Entry(one.toRow(), keyLength));
      }
      // No encoded key is the beginning of another, so whole entries sort as their keys do.
      entries.sort((a, b) -> Arrays.compareUnsigned(a.bytes, b.bytes));
      out.addRaw(Memcomparable.VALUE);
      Entry last = null;
      for (Entry entry : entries) {
        if (last != null
            && Memcomparable.equal(
                last.bytes, 0, last.keyLength, entry.bytes, 0, entry.keyLength)) {
          throw misfit(value, "two of its keys are equal");
        }
        out.addRaw(Memcomparable.MORE).addEncoded(entry.bytes, 0, entry.bytes.length);
        last = entry;
      }
      out.addRaw(Memcomparable.END);
    }

    @Override
    Object decodeValue(RowInput in) {
      Map<@Nullable Object, @Nullable Object> map = new LinkedHashMap<>();
      while (in.take() != Memcomparable.END) {
        Object k = key.decode(in);
        map.put(k, item.decode(in));
      }
      return Collections.unmodifiableMap(map);
    }

    @Override
    int countValue(RowInput in) {
      int counted = HEADER_BYTES;
      while (in.take() != Memcomparable.END) {
        counted += key.count(in);
        counted += item.count(in);
      }
      return counted;
    }
  }

  static final class RowField extends FieldCodec {
    private final FieldCodec[] fields;

    RowField(String path, ColumnType type) {
      super(path, type);
      this.fields = new FieldCodec[type.children().size()];
      for (int i = 0; i < fields.length; i++) {
        fields[i] = FieldCodec.of(path + "." + type.fieldNames().get(i), type.children().get(i));
      }
    }

    @Override
    void encodeValue(Object value, RowEncoder out) throws InvalidRowException {
      if (!(value instanceof List<?> list)) {
        throw wrongClass(value);
      }
      if (list.size() != fields.length) {
        throw misfit(value, "it has " + list.size() + " fields, not " + fields.length);
      }
      out.addRaw(Memcomparable.VALUE);
      for (int i = 0; i < fields.length; i++) {
        fields[i].encode(list.get(i), out);
      }
    }

    @Override
    Object decodeValue(RowInput in) {
      List<@Nullable Object> list = new ArrayList<>(fields.length);
      for (FieldCodec field : fields) {
        list.add(field.decode(in));
      }
      return Collections.unmodifiableList(list);
    }

    @Override
    int countValue(RowInput in) {
      int counted = HEADER_BYTES;
      for (FieldCodec field : fields) {
        counted += field.count(in);
      }
      return counted;
    }
  }
}
