package dev.tidemark.row;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.schema.Column;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.ColumnType.Kind;
import dev.tidemark.schema.Schema;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RowCodecTest {
  private static byte[] encode(ColumnType type, Object value) throws InvalidRowException {
    return new RowCodec(Schemas.of(List.of(type))).encode(new Object[] {value});
  }

  private static Object roundTrip(ColumnType type, Object value) throws InvalidRowException {
    byte[] row = encode(type, value);
    return new RowCodec(Schemas.of(List.of(type))).decode(row, 0, row.length)[0];
  }

  private static String hex(ColumnType type, Object value) throws InvalidRowException {
    return HexFormat.of().formatHex(encode(type, value));
  }

  private static void refused(ColumnType type, Object value, String reason) {
    assertThatThrownBy(() -> encode(type, value))
        .isInstanceOf(InvalidRowException.class)
        .hasMessageContaining("column c1")
        .hasMessageContaining(reason);
  }

  @Test
  void eachTypeHasItsBytes() throws Exception {
    assertThat(hex(ColumnType.of(Kind.INT, true), null)).isEqualTo("00");
    assertThat(hex(ColumnType.of(Kind.BOOLEAN, true), true)).isEqualTo("0101");
    assertThat(hex(ColumnType.of(Kind.TINYINT, false), (byte) -1)).isEqualTo("017f");
    assertThat(hex(ColumnType.of(Kind.SMALLINT, false), (short) 1)).isEqualTo("018001");
    assertThat(hex(ColumnType.of(Kind.INT, false), 1)).isEqualTo("0180000001");
    assertThat(hex(ColumnType.of(Kind.BIGINT, false), -1L)).isEqualTo("017fffffffffffffff");
    assertThat(hex(ColumnType.of(Kind.FLOAT, false), -0.0f)).isEqualTo("0180000000");
    assertThat(hex(ColumnType.of(Kind.DOUBLE, false), Double.NaN)).isEqualTo("01fff8000000000000");
    assertThat(hex(ColumnType.of(Kind.DOUBLE, false), -2d)).isEqualTo("013fffffffffffffff");
    assertThat(hex(Schemas.type(Kind.DECIMAL, false, 5, 2), new BigDecimal("1.5")))
        .isEqualTo("018000000000000096");
    assertThat(hex(Schemas.type(Kind.DECIMAL, false, 38, 0), new BigDecimal("-1")))
        .isEqualTo("017fffffffffffffffffffffffffffffff");
    assertThat(hex(Schemas.text(false), "")).isEqualTo("010000");
    assertThat(hex(Schemas.text(false), "a\0b")).isEqualTo("016100ff620000");
    assertThat(hex(ColumnType.of(Kind.DATE, false), LocalDate.EPOCH)).isEqualTo("0180000000");
    assertThat(
            hex(Schemas.type(Kind.TIMESTAMP, false, 6, 0), LocalDateTime.of(1970, 1, 1, 0, 0, 1)))
        .isEqualTo("0180000000000f4240");
    assertThat(hex(Schemas.array(false, ColumnType.of(Kind.TINYINT, true)), Arrays.asList(1, null)))
        .isEqualTo("01" + "010181" + "0100" + "00");
    assertThat(
            hex(
                Schemas.map(false, Schemas.text(false), ColumnType.of(Kind.TINYINT, false)),
                Map.of("b", 2, "a", 1)))
        .isEqualTo("01" + "010161" + "0000" + "0181" + "010162" + "0000" + "0182" + "00");
    assertThat(hex(Schemas.row(true, ColumnType.of(Kind.TINYINT, true)), List.of(0)))
        .isEqualTo("010180");
  }

  @Test
  void droppingNotNullChangesNoByte() throws Exception {
    for (ColumnType type : Schemas.flat(false)) {
      Object value = Schemas.value(type, new java.util.Random(1));
      assertThat(encode(type, value)).isEqualTo(encode(type.withNullable(true), value));
    }
  }

  @Test
  void zerosAndNotANumbersAreOneEach() throws Exception {
    ColumnType type = ColumnType.of(Kind.DOUBLE, false);
    assertThat(encode(type, -0.0)).isEqualTo(encode(type, 0.0));
    assertThat(encode(type, Double.longBitsToDouble(0xfff8000000000001L)))
        .isEqualTo(encode(type, Double.NaN));
    ColumnType single = ColumnType.of(Kind.FLOAT, false);
    assertThat(encode(single, Float.intBitsToFloat(0xffc00001)))
        .isEqualTo(encode(single, Float.NaN));
    assertThat(roundTrip(type, -0.0)).isEqualTo(0.0);
  }

  @Test
  void whatDoesNotFitIsRefusedByName() {
    refused(ColumnType.of(Kind.INT, false), null, "NOT NULL");
    refused(ColumnType.of(Kind.TINYINT, false), 128, "out of range");
    refused(ColumnType.of(Kind.INT, false), 1L << 31, "out of range");
    refused(ColumnType.of(Kind.INT, false), "1", "String");
    refused(Schemas.type(Kind.DECIMAL, true, 5, 2), new BigDecimal("1.005"), "rounded");
    refused(Schemas.type(Kind.DECIMAL, true, 5, 2), new BigDecimal("1000"), "too many digits");
    refused(Schemas.type(Kind.DECIMAL, true, 38, 2), new BigDecimal("1E+999999999"), "digits");
    refused(Schemas.type(Kind.DECIMAL, true, 38, 2), new BigDecimal("1E-999999999"), "rounded");
    refused(Schemas.type(Kind.VARCHAR, true, 2, 0), "abc", "VARCHAR(2)");
    refused(Schemas.type(Kind.BINARY, true, 2, 0), new byte[3], "3 bytes");
    refused(Schemas.text(true), "a\ud83d", "surrogate");
    refused(Schemas.text(true), "\ude00a", "surrogate");
    refused(Schemas.text(true), "\ude00\ud83d", "surrogate");
    refused(ColumnType.of(Kind.DATE, true), LocalDate.MAX, "out of range");
    refused(Schemas.type(Kind.TIME, true, 0, 0), LocalTime.of(1, 2, 3, 1_000_000), "finer");
    refused(
        Schemas.type(Kind.TIMESTAMP, true, 3, 0), LocalDateTime.of(1, 1, 1, 1, 1, 1, 1), "finer");
    refused(Schemas.type(Kind.TIMESTAMP_LTZ, true, 6, 0), Instant.MAX, "finer");
    refused(
        Schemas.type(Kind.TIMESTAMP_LTZ, true, 6, 0),
        Instant.ofEpochSecond(Instant.MAX.getEpochSecond()),
        "out of range");
    refused(
        Schemas.map(true, ColumnType.of(Kind.DOUBLE, false), Schemas.text(true)),
        Map.of(0.0, "a", -0.0, "b"),
        "equal");
    refused(Schemas.array(true, ColumnType.of(Kind.INT, false)), Arrays.asList(1, null), "c1[]");
    refused(Schemas.row(true, ColumnType.of(Kind.INT, false)), List.of("x"), "c1.a");
    refused(Schemas.row(true, ColumnType.of(Kind.INT, false)), List.of(1, 2), "fields");
    assertThatThrownBy(() -> encode(Schemas.type(Kind.VARCHAR, true, 2, 0), "x".repeat(5000)))
        .satisfies(e -> assertThat(e.getMessage().length()).isLessThan(160));
  }

  @Test
  void lengthsCountCharactersNotUnits() throws Exception {
    assertThat(roundTrip(Schemas.type(Kind.VARCHAR, true, 2, 0), "\ud83d\ude00?"))
        .isEqualTo("\ud83d\ude00?");
  }

  @Test
  void bigValuesFit() throws Exception {
    byte[] zeros = new byte[20 << 20];
    byte[] row = encode(Schemas.bytes(true), zeros);
    assertThat(row).hasSize(2 * zeros.length + 3);
    RowCodec codec = new RowCodec(Schemas.of(List.of(Schemas.bytes(true))));
    assertThat((byte[]) codec.decode(row, 0, row.length)[0]).isEqualTo(zeros);
    assertThat(codec.countedBytes(row, 0, row.length)).isEqualTo(zeros.length + 4 + 16);
  }

  @Test
  void countsByTheTable() throws Exception {
    Schema schema =
        Schemas.of(
            List.of(
                Schemas.text(false),
                ColumnType.of(Kind.TINYINT, false),
                ColumnType.of(Kind.BIGINT, true),
                ColumnType.of(Kind.BIGINT, true),
                Schemas.type(Kind.DECIMAL, false, 9, 0),
                Schemas.type(Kind.DECIMAL, false, 19, 0),
                Schemas.array(false, ColumnType.of(Kind.BOOLEAN, true))));
    RowCodec codec = new RowCodec(schema);
    byte[] row =
        codec.encode(
            new Object[] {
              "a\0é", 1, 2, null, BigDecimal.ONE, BigDecimal.ONE, Arrays.asList(true, null)
            });
    assertThat(codec.countedBytes(row, 0, row.length))
        .isEqualTo((4 + 4) + 4 + 8 + 1 + 4 + 16 + (4 + 1 + 1) + 16);
  }

  @Test
  void theKeyComesFirst() throws Exception {
    Schema schema =
        new Schema(
            1,
            List.of(
                new Column(1, "v", Schemas.text(true)),
                new Column(2, "b", ColumnType.of(Kind.INT, false)),
                new Column(3, "a", Schemas.text(false))),
            List.of("a", "b"));
    RowCodec codec = new RowCodec(schema);
    byte[] row = codec.encode(new Object[] {"value", 7, "k\0"});
    assertThat(row)
        .isEqualTo(
            new RowEncoder()
                .addBytes("k\0".getBytes(StandardCharsets.UTF_8), 0, 2)
                .addInt(7)
                .addBytes("value".getBytes(StandardCharsets.UTF_8), 0, 5)
                .toRow());
    assertThat(codec.keyLength(row, 0, row.length)).isEqualTo(6 + 5);
    assertThat(codec.decode(row, 0, row.length)).containsExactly("value", 7, "k\0");
    assertThatThrownBy(() -> codec.decode(row, 0, row.length - 1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void everyRowComesBackAndBytesOrderAsValuesDo() {
    Schema schema = Schemas.everything();
    RowCodec codec = new RowCodec(schema);
    RowOrder order = new RowOrder(schema);
    Seeds.each(
        20,
        random -> {
          List<Object[]> rows = new ArrayList<>();
          for (int i = 0; i < 60; i++) {
            Object[] row = Schemas.row(schema, random);
            if (i % 2 == 1) {
              // Close to the one before it, so that late columns decide.
              Object[] near = rows.get(i - 1).clone();
              int at = random.nextInt(near.length);
              near[at] = row[at];
              row = near;
            }
            rows.add(row);
          }
          for (Object[] a : rows) {
            byte[] x = codec.encode(a);
            Object[] back = codec.decode(x, 0, x.length);
            assertThat(order.compare(back, a)).isZero();
            assertThat(codec.encode(back)).isEqualTo(x);
            for (int c = 0; c < back.length; c++) {
              if (a[c] instanceof Comparable<?>) {
                assertThat(back[c]).isEqualTo(a[c]);
              }
            }
            for (Object[] b : rows) {
              byte[] y = codec.encode(b);
              assertThat(Integer.signum(Arrays.compareUnsigned(x, y)))
                  .isEqualTo(Integer.signum(order.compare(a, b)));
            }
          }
        });
  }

  @Test
  void eachTypeOrdersAlone() {
    List<ColumnType> types = new ArrayList<>(Schemas.flat(true));
    Schemas.everything().columns().forEach(column -> types.add(column.type()));
    Seeds.each(
        3,
        random -> {
          for (ColumnType type : types) {
            for (int i = 0; i < 200; i++) {
              Object a = Schemas.value(type, random);
              Object b = Schemas.value(type, random);
              assertThat(Integer.signum(Arrays.compareUnsigned(encode(type, a), encode(type, b))))
                  .as("%s: %s, %s", type, a, b)
                  .isEqualTo(Integer.signum(RowOrder.compare(type, a, b)));
            }
          }
        });
  }
}
