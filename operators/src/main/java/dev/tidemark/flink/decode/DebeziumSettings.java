package dev.tidemark.flink.decode;

import java.io.Serializable;

/** How a Debezium connector was set: nothing in its messages says so when schemas are off. */
public record DebeziumSettings(
    Lines lines, Shape shape, Decimals decimal, Times time, Binary binary) implements Serializable {
  /** What a connector does unless told otherwise. */
  public static final DebeziumSettings DEFAULT =
      new DebeziumSettings(
          Lines.KEY_VALUE, Shape.ENVELOPE, Decimals.PRECISE, Times.ADAPTIVE, Binary.BASE64);

  /** What a line of a file holds. */
  public enum Lines {
    VALUE,
    KEY_VALUE
  }

  /** Whether a value is before/after/op, or the row itself. */
  public enum Shape {
    ENVELOPE,
    UNWRAPPED
  }

  /** decimal.handling.mode. */
  public enum Decimals {
    PRECISE,
    STRING,
    DOUBLE
  }

  /** time.precision.mode. */
  public enum Times {
    ADAPTIVE,
    ADAPTIVE_MICROSECONDS,
    CONNECT,
    ISOSTRING
  }

  /** binary.handling.mode. */
  public enum Binary {
    BASE64,
    HEX
  }
}
