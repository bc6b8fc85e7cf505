package dev.tidemark.row;

import dev.tidemark.schema.ColumnType;
import java.nio.charset.StandardCharsets;

/** Strings and binaries. Shorter ones than declared are taken as they are, never padded. */
final class BytesFields {
  private BytesFields() {}

  static final class TextField extends FieldCodec {
    private final int maxLength;

    TextField(String path, ColumnType type) {
      super(path, type);
      this.maxLength = type.precision();
    }

    @Override
    void encodeValue(Object value, RowEncoder out) throws InvalidRowException {
      if (!(value instanceof String text)) {
        throw wrongClass(value);
      }
      if (text.length() > maxLength && text.codePointCount(0, text.length()) > maxLength) {
        throw misfit(text, "it is too long");
      }
      byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
      // An unpaired surrogate came out as '?': look closer only if there is one.
      if (Memcomparable.questionMarkAt(utf8) < utf8.length && hasUnpairedSurrogate(text)) {
        throw misfit(text, "it has half a surrogate pair, which UTF-8 can't say");
      }
      out.addBytes(utf8, 0, utf8.length);
    }

    private static boolean hasUnpairedSurrogate(String text) {
      for (int i = 0; i < text.length(); i++) {
        char c = text.charAt(i);
        if (Character.isSurrogate(c)) {
          if (Character.isLowSurrogate(c)
              || i + 1 == text.length()
              || !Character.isLowSurrogate(text.charAt(i + 1))) {
            return true;
          }
          i++;
        }
      }
      return false;
    }

    @Override
    Object decodeValue(RowInput in) {
      return new String(in.takeBytes(), StandardCharsets.UTF_8);
    }

    @Override
    int countValue(RowInput in) {
      return 4 + in.skipBytes();
    }
  }

  static final class BinaryField extends FieldCodec {
    private final int maxLength;

    BinaryField(String path, ColumnType type) {
      super(path, type);
      this.maxLength = type.precision();
    }

    @Override
    void encodeValue(Object value, RowEncoder out) throws InvalidRowException {
      if (!(value instanceof byte[] bytes)) {
        throw wrongClass(value);
      }
      if (bytes.length > maxLength) {
        throw misfit(bytes, "it is too long");
      }
      out.addBytes(bytes, 0, bytes.length);
    }

    @Override
    Object decodeValue(RowInput in) {
      return in.takeBytes();
    }

    @Override
    int countValue(RowInput in) {
      return 4 + in.skipBytes();
    }
  }
}
