package dev.tidemark.row;

import dev.tidemark.schema.ColumnType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;

/** BOOLEAN, integers, floating point, DECIMAL. */
final class NumberFields {
  private NumberFields() {}

  static final class BooleanField extends FieldCodec {
    BooleanField(String path, ColumnType type) {
      super(path, type);
    }

    @Override
    void encodeValue(Object value, RowEncoder out) throws InvalidRowException {
      if (!(value instanceof Boolean b)) {
        throw wrongClass(value);
      }
      out.addBoolean(b);
    }

    @Override
    Object decodeValue(RowInput in) {
      return in.take() != 0;
    }

    @Override
    int countValue(RowInput in) {
      in.take(1);
      return 1;
    }
  }

  /** Takes any of Byte, Short, Integer, Long that is in range. */
  static final class IntegerField extends FieldCodec {
    private final int width;
    private final long max;

    IntegerField(String path, ColumnType type, int width) {
      super(path, type);
      this.width = width;
      this.max = Long.MAX_VALUE >>> (64 - 8 * width);
    }

    @Override
    void encodeValue(Object value, RowEncoder out) throws InvalidRowException {
      if (!(value instanceof Long
          || value instanceof Integer
          || value instanceof Short
          || value instanceof Byte)) {
        throw wrongClass(value);
      }
      long number = ((Number) value).longValue();
      if (number > max || number < -max - 1) {
        throw misfit(value, "it is out of range");
      }
      switch (width) {
        case 1 -> out.addTinyint((byte) number);
        case 2 -> out.addSmallint((short) number);
        case 4 -> out.addInt((int) number);
        default -> out.addLong(number);
      }
    }

    @Override
    Object decodeValue(RowInput in) {
      int at = in.take(width);
      return switch (width) {
        case 1 -> (Object) (byte) (in.bytes[at] ^ 0x80);
        case 2 -> (Object) Memcomparable.shortAt(in.bytes, at);
        case 4 -> (Object) Memcomparable.intAt(in.bytes, at);
        default -> (Object) Memcomparable.longAt(in.bytes, at);
      };
    }

    @Override
    int countValue(RowInput in) {
      in.take(width);
      return Math.max(4, width);
    }
  }

  static final class FloatField extends FieldCodec {
    FloatField(String path, ColumnType type) {
      super(path, type);
    }

    @Override
    void encodeValue(Object value, RowEncoder out) throws InvalidRowException {
      if (!(value instanceof Float f)) {
        throw wrongClass(value);
      }
      out.addFloat(f);
    }

    @Override
    Object decodeValue(RowInput in) {
      return Float.intBitsToFloat(Memcomparable.floatBitsAt(in.bytes, in.take(4)));
    }

    @Override
    int countValue(RowInput in) {
      in.take(4);
      return 4;
    }
  }

  static final class DoubleField extends FieldCodec {
    DoubleField(String path, ColumnType type) {
      super(path, type);
    }

    @Override
    void encodeValue(Object value, RowEncoder out) throws InvalidRowException {
      if (!(value instanceof Double || value instanceof Float)) {
        throw wrongClass(value);
      }
      out.addDouble(((Number) value).doubleValue());
    }

    @Override
    Object decodeValue(RowInput in) {
      return Double.longBitsToDouble(Memcomparable.doubleBitsAt(in.bytes, in.take(8)));
    }

    @Override
    int countValue(RowInput in) {
      in.take(8);
      return 8;
    }
  }

  /** Stored at the declared scale; a value that would need rounding is refused. */
  static final class DecimalField extends FieldCodec {
    private static final int LONG_DIGITS = 18;
    private final int precision;
    private final int scale;

    DecimalField(String path, ColumnType type) {
      super(path, type);
      this.precision = type.precision();
      this.scale = type.scale();
    }

    @Override
    void encodeValue(Object value, RowEncoder out) throws InvalidRowException {
      if (!(value instanceof BigDecimal decimal)) {
        throw wrongClass(value);
      }
      BigInteger unscaled = unscaled(decimal);
      if (precision <= LONG_DIGITS) {
        out.addLong(unscaled.longValue());
      } else {
        out.addDecimal(unscaled.shiftRight(64).longValue(), unscaled.longValue());
      }
    }

    private BigInteger unscaled(BigDecimal decimal) throws InvalidRowException {
      // Digits before the point, told from precision and scale alone: setScale on 1E+999999999
      // would build the number.
      if (decimal.signum() == 0) {
        return BigInteger.ZERO;
      }
      if ((long) decimal.precision() - decimal.scale() > precision - scale) {
        throw misfit(decimal, "it has too many digits");
      }
      try {
        BigDecimal scaled =
            decimal.scale() == scale ? decimal : decimal.setScale(scale, RoundingMode.UNNECESSARY);
        if (scaled.precision() > precision) {
          throw misfit(decimal, "it has too many digits");
        }
        return scaled.unscaledValue();
      } catch (ArithmeticException e) {
        throw misfit(decimal, "it would be rounded");
      }
    }

    @Override
    Object decodeValue(RowInput in) {
      if (precision <= LONG_DIGITS) {
        return BigDecimal.valueOf(Memcomparable.longAt(in.bytes, in.take(8)), scale);
      }
      byte[] twos = new byte[16];
      System.arraycopy(in.bytes, in.take(16), twos, 0, 16);
      twos[0] ^= (byte) 0x80;
      return new BigDecimal(new BigInteger(twos), scale);
    }

    @Override
    int countValue(RowInput in) {
      in.take(precision <= LONG_DIGITS ? 8 : 16);
      return precision <= 9 ? 4 : precision <= LONG_DIGITS ? 8 : 16;
    }
  }
}
