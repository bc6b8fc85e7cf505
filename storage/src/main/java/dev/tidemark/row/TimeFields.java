package dev.tidemark.row;

import dev.tidemark.schema.ColumnType;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;

/** Dates and times. A value finer than the declared precision is refused, never cut. */
final class TimeFields {
  private static final int[] POWERS = {
    1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000
  };

  private TimeFields() {}

  /** Whether a number of nanoseconds has no digit behind the declared precision. */
  private static boolean exact(long nanos, int precision) {
    return nanos % POWERS[9 - precision] == 0;
  }

  /** Days since 1970-01-01, in 32 bits. */
  static final class DateField extends FieldCodec {
    DateField(String path, ColumnType type) {
      super(path, type);
    }

    @Override
    void encodeValue(Object value, RowEncoder out) throws InvalidRowException {
      if (!(value instanceof LocalDate date)) {
        throw wrongClass(value);
      }
      long days = date.toEpochDay();
      if (days != (int) days) {
        throw misfit(value, "it is out of range");
      }
      out.addInt((int) days);
    }

    @Override
    Object decodeValue(RowInput in) {
      return LocalDate.ofEpochDay(Memcomparable.intAt(in.bytes, in.take(4)));
    }

    @Override
    int countValue(RowInput in) {
      in.take(4);
      return 4;
    }
  }

  /** Milliseconds of the day. */
  static final class TimeField extends FieldCodec {
    TimeField(String path, ColumnType type) {
      super(path, type);
    }

    @Override
    void encodeValue(Object value, RowEncoder out) throws InvalidRowException {
      if (!(value instanceof LocalTime time)) {
        throw wrongClass(value);
      }
      if (!exact(time.toNanoOfDay(), Math.min(3, type().precision()))) {
        throw misfit(value, "it is finer than the precision");
      }
      out.addInt((int) (time.toNanoOfDay() / 1_000_000));
    }

    @Override
    Object decodeValue(RowInput in) {
      return LocalTime.ofNanoOfDay(Memcomparable.intAt(in.bytes, in.take(4)) * 1_000_000L);
    }

    @Override
    int countValue(RowInput in) {
      in.take(4);
      return 4;
    }
  }

  /** Milliseconds (precision up to 3) or microseconds since 1970, local or UTC. */
  static final class TimestampField extends FieldCodec {
    private final boolean instant;
    private final int unitsPerSecond;

    TimestampField(String path, ColumnType type, boolean instant) {
      super(path, type);
      this.instant = instant;
      this.unitsPerSecond = type.precision() <= 3 ? 1_000 : 1_000_000;
    }

    @Override
    void encodeValue(Object value, RowEncoder out) throws InvalidRowException {
      Instant time;
      if (instant && value instanceof Instant i) {
        time = i;
      } else if (!instant && value instanceof LocalDateTime local) {
        time = local.toInstant(ZoneOffset.UTC);
      } else {
        throw wrongClass(value);
      }
      if (!exact(time.getNano(), Math.min(6, type().precision()))) {
        throw misfit(value, "it is finer than the precision");
      }
      try {
        long units = Math.multiplyExact(time.getEpochSecond(), (long) unitsPerSecond);
        out.addLong(Math.addExact(units, time.getNano() / (1_000_000_000 / unitsPerSecond)));
      } catch (ArithmeticException e) {
        throw misfit(value, "it is out of range");
      }
    }

    @Override
    Object decodeValue(RowInput in) {
      long units = Memcomparable.longAt(in.bytes, in.take(8));
      long seconds = Math.floorDiv(units, (long) unitsPerSecond);
      int nanos =
          (int) Math.floorMod(units, (long) unitsPerSecond) * (1_000_000_000 / unitsPerSecond);
      return instant
          ? Instant.ofEpochSecond(seconds, nanos)
          : LocalDateTime.ofEpochSecond(seconds, nanos, ZoneOffset.UTC);
    }

    @Override
    int countValue(RowInput in) {
      in.take(8);
      return 8;
    }
  }
}
