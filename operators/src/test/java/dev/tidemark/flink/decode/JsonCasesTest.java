package dev.tidemark.flink.decode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.flink.decode.DecodeSettings.Format;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Plain JSON: by declared type, exact or refused. Tests named P-… are cases of the catalogue. */
class JsonCasesTest {
  private static Replay json(String columns) throws Exception {
    return Replay.of(
        Format.JSON,
        DebeziumSettings.DEFAULT,
        columns + ", ts BIGINT NOT NULL",
        Envelope.APPEND,
        "ts");
  }

  /** One column c of a type, one value; what is stored, or why not. */
  private static String one(String type, String value) throws Exception {
    try (Replay replay = json("c " + type)) {
      replay.line("{\"c\":" + value + ",\"ts\":1}");
      assertThat(replay.addsUp()).isTrue();
      if (!replay.errors.isEmpty()) {
        return "error: " + replay.reasons().get(0);
      }
      String row = replay.rows().get(0);
      return row.substring(1, row.length() - ", 1]".length());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "BOOLEAN | true | true",
        "TINYINT | -128 | -128",
        "SMALLINT | 32767 | 32767",
        "INT | -2147483648 | -2147483648",
        "BIGINT | 9223372036854775807 | 9223372036854775807",
        "FLOAT | 0.1 | 0.1",
        "DOUBLE | 1e308 | 1.0E308",
        "DOUBLE | \"NaN\" | NaN",
        "DOUBLE | \"-Infinity\" | -Infinity",
        "FLOAT | \"Infinity\" | Infinity",
        "DECIMAL(5, 2) | 1.5 | 1.50",
        "DECIMAL(5, 2) | \"-0.07\" | -0.07",
        "DECIMAL(5, 2) | 1.500 | 1.50",
        "STRING | \"é\" | é",
        "STRING | \"\" | ``",
        "STRING | \"null\" | 'null'",
        "BYTES | \"AP8=\" | 00ff",
        "DATE | \"2026-11-29\" | 2026-11-29",
        "TIME(3) | \"23:47:20.760\" | 23:47:20.760",
        "TIMESTAMP(6) | \"2026-11-29T23:47:20.760746\" | 2026-11-29T23:47:20.760746",
        "TIMESTAMP(6) | \"2026-11-29 23:47:20.760746\" | 2026-11-29T23:47:20.760746",
        "TIMESTAMP_LTZ(6) | \"2026-11-29T23:47:20.760746Z\" | 2026-11-29T23:47:20.760746Z",
        "TIMESTAMP_LTZ(6) | \"2026-11-30 01:47:20+02\" | 2026-11-29T23:47:20Z",
        "ARRAY<INT> | [1,null,2] | [1, null, 2]",
        "MAP<STRING, INT> | {\"a\":1} | {a=1}",
        "MAP<INT, STRING> | [[1,\"a\"]] | {1=a}",
        "ROW<a INT, b STRING> | {\"b\":\"x\",\"a\":1} | [1, x]",
        "INT | null | null"
      })
  void valuesByType(String type, String value, String stored) throws Exception {
    assertThat(one(type, value)).isEqualTo(stored);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "BOOLEAN | 1 | a number, not BOOLEAN",
        "INT | 2147483648 | out of the range of INT",
        "TINYINT | 128 | out of the range of TINYINT",
        "INT | 1.0 | a number with a fraction, not INT",
        "INT | \"1\" | a string, not INT",
        "BIGINT | 9223372036854775808 | out of the range of BIGINT",
        "FLOAT | 1e39 | out of the range of FLOAT",
        "DOUBLE | 1e309 | out of the range of DOUBLE",
        "DOUBLE | \"nan\" | a string, not DOUBLE",
        "STRING | 1 | a number, not text",
        "STRING | \"\\ud834\" | half a surrogate pair",
        "BYTES | \"AP8\" | no base64",
        "DATE | \"2026-02-30\" | not a date",
        "DATE | 20000 | a number, not ISO text",
        "TIME(3) | \"23:47:20.7601\" | column c",
        "TIMESTAMP(3) | \"2026-11-29T23:47:20.7607\" | column c",
        "TIMESTAMP(6) | \"2026-11-29T23:47:20Z\" | not a time without zone",
        "TIMESTAMP(6) | 1764460040000 | a number, not ISO text",
        "TIMESTAMP_LTZ(6) | \"2026-11-29T23:47:20\" | not a time with zone",
        "ARRAY<INT> | [1,\"2\"] | a string, not INT",
        "ARRAY<INT NOT NULL> | [null] | NOT NULL",
        "ROW<a INT NOT NULL> | {} | field a missing",
        "INT NOT NULL | null | NULL, but",
        "VARCHAR(2) | \"abc\" | c"
      })
  void whatDoesNotFitIsAnErrorThatNamesItsColumn(String type, String value, String reason)
      throws Exception {
    assertThat(one(type, value)).startsWith("error: ").contains(reason).contains("c");
  }

  @Test
  void unknownColumnsAreCountedAndMissingOnesNull() throws Exception {
    try (Replay replay = json("a INT, b INT NOT NULL")) {
      replay.line("{\"b\":1,\"z\":[{}],\"ts\":1}").line("{\"a\":1,\"ts\":2}").line(" ");
      assertThat(replay.rows()).containsExactly("[null, 1, 1]");
      assertThat(replay.reasons())
          .containsExactly("column b of t: missing, but the column is NOT NULL");
      assertThat(replay.count("tidemark.unknownColumns")).isEqualTo(1);
      assertThat(replay.count("tidemark.ignored")).isEqualTo(1);
      assertThat(replay.addsUp()).isTrue();
    }
  }

  @Test
  @DisplayName("P-IN-06: integers beyond doubles and beyond sixty four bits")
  void integersBeyondDoublesAndBeyondSixtyFourBits() throws Exception {
    try (Replay replay = json("id DECIMAL(20, 0), n BIGINT")) {
      replay
          .line("{\"id\":9007199254740993,\"n\":-9223372036854775808,\"ts\":1}")
          .line("{\"id\":9007199254740992,\"n\":9223372036854775807,\"ts\":1}")
          .line("{\"id\":18446744073709551616,\"n\":1,\"ts\":1}")
          .line("{\"id\":3,\"n\":18446744073709551616,\"ts\":1}");
      assertThat(replay.rows())
          .containsExactly(
              "[9007199254740993, -9223372036854775808, 1]",
              "[9007199254740992, 9223372036854775807, 1]",
              "[18446744073709551616, 1, 1]");
      assertThat(replay.reasons())
          .containsExactly("column n of t: number out of the range of BIGINT");
    }
  }

  @Test
  @DisplayName("P-IN-08: nul and astral characters and two spellings of one glyph are five keys")
  void nulAndAstralCharactersAndTwoSpellingsOfOneGlyphAreFiveKeys() throws Exception {
    try (Replay replay =
        Replay.of(
            Format.JSON,
            DebeziumSettings.DEFAULT,
            "k STRING NOT NULL, v BIGINT NOT NULL, PRIMARY KEY (k) NOT ENFORCED",
            Envelope.UPSERT,
            "v")) {
      replay
          .line("{\"k\":\"a\\u0000b\",\"v\":1}")
          .line("{\"k\":\"a\",\"v\":2}")
          .line("{\"k\":\"\\uD834\\uDD1E\",\"v\":3}")
          .line("{\"k\":\"\\u00e9\",\"v\":4}")
          .line("{\"k\":\"e\\u0301\",\"v\":5}");
      assertThat(replay.contents(0))
          .containsOnlyKeys(
              "[a\u0000b, 1]", "[a, 2]", "[\uD834\uDD1E, 3]", "[\u00e9, 4]", "[e\u0301, 5]");
    }
  }

  @Test
  @DisplayName("P-IN-09: broken messages among good ones cost no good one")
  void brokenMessagesAmongGoodOnesCostNoGoodOne() throws Exception {
    try (Replay replay = json("k INT")) {
      for (int i = 0; i < 10; i++) {
        replay.line("{\"k\":" + i + ",\"ts\":1}");
      }
      replay.line("{\"k\":11,\"v\":", 1_000);
      replay.line(new byte[] {(byte) 0xC3, 0x28});
      replay.line(utf8("{\"k\":11,\"ts\":1,\"v\":\"", (byte) 0xC3, (byte) 0x28, "\"}"));
      replay.line("[1,2]").line("null").line("{\"k\":1,\"ts\":1} {}").line("{\"k\":1,\"k\":2}");
      for (int i = 10; i < 20; i++) {
        replay.line("{\"k\":" + i + ",\"ts\":1}");
      }
      assertThat(replay.stored()).isEqualTo(20);
      assertThat(replay.rejected()).isEqualTo(7);
      assertThat(replay.addsUp()).isTrue();
      assertThat(replay.errors.get(0).origin()).isEqualTo("test:11");
      assertThat(replay.errors.get(0).reason()).startsWith("not JSON at byte 1012:");
      assertThat(replay.errors.get(1).raw()).containsExactly(0xC3, 0x28);
      assertThat(replay.reasons())
          .allSatisfy(reason -> assertThat(reason).doesNotContain("\"").doesNotContain("\n"));
      assertThat(replay.errors).allMatch(error -> error.time() == Long.MIN_VALUE);
    }
  }

  private static byte[] utf8(String before, byte one, byte other, String after) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(before.getBytes(StandardCharsets.UTF_8));
    out.write(one);
    out.write(other);
    out.writeBytes(after.getBytes(StandardCharsets.UTF_8));
    return out.toByteArray();
  }

  @Test
  @DisplayName("P-IN-09: a job that is told to fail names the origin and is not restarted")
  void aJobThatIsToldToFailNamesTheOriginAndIsNotRestarted() throws Exception {
    TableMapping mapping = new TableMapping(0, null, Envelope.APPEND, "ts");
    DecodeSettings settings =
        new DecodeSettings(
            Format.JSON,
            DebeziumSettings.DEFAULT,
            List.of(mapping),
            true,
            true,
            Long.MAX_VALUE - 1,
            Long.MAX_VALUE);
    try (Replay replay =
        new Replay(settings, List.of(Replay.shard("t", "ts BIGINT NOT NULL, v STRING")))) {
      replay.line("{\"ts\":1}");
      assertThatThrownBy(() -> replay.line("{\"ts\":1,\"v\":\"secret\"} trailing"))
          .isInstanceOf(BadRecordException.class)
          .hasMessageContaining("test:2")
          .hasMessageNotContaining("secret");
      assertThat(
              org.apache.flink.runtime.throwable.ThrowableClassifier.getThrowableType(
                  new BadRecordException("x")))
          .isEqualTo(org.apache.flink.runtime.throwable.ThrowableType.NonRecoverableError);
    }
  }

  @ParameterizedTest
  @CsvSource({"-0.0", "0.0", "-0", "0"})
  @DisplayName("P-TY-01: zero and minus zero are one key")
  void zeroAndMinusZeroAreOneKey(String zero) throws Exception {
    try (Replay replay =
        Replay.of(
            Format.JSON,
            DebeziumSettings.DEFAULT,
            "k DOUBLE NOT NULL, v BIGINT NOT NULL, PRIMARY KEY (k) NOT ENFORCED",
            Envelope.UPSERT,
            "v")) {
      replay.line("{\"k\":0.0,\"v\":1}").line("{\"k\":" + zero + ",\"v\":2}");
      assertThat(replay.contents(0)).hasSize(1).containsValue(1L);
    }
  }

  @Test
  @DisplayName("P-TY-02: decimals too wide for their column")
  void decimalsTooWideForTheirColumn() throws Exception {
    assertThat(one("DECIMAL(5, 2)", "123456.78")).contains("out of the range of DECIMAL(5, 2)");
    assertThat(one("DECIMAL(5, 2)", "999.995")).contains("more decimal places");
    assertThat(one("DECIMAL(5, 2)", "-0.004")).contains("more decimal places");
    assertThat(one("DECIMAL(5, 2)", "\"1E+3\"")).contains("out of the range");
    assertThat(one("DECIMAL(5, 2)", "\"1E+2\"")).isEqualTo("100.00");
    String digits = "1234567890123456789012345678.9012345678";
    assertThat(one("DECIMAL(38, 10)", digits)).isEqualTo(digits);
  }

  @Test
  @DisplayName("P-TY-03: null keys equal each other and nothing else")
  void nullKeysEqualEachOtherAndNothingElse() throws Exception {
    try (Replay replay =
        Replay.of(
            Format.JSON,
            DebeziumSettings.DEFAULT,
            "a INT, b STRING, ts BIGINT NOT NULL",
            Envelope.CHANGELOG,
            "ts")) {
      replay
          .line("{\"a\":1,\"b\":null,\"ts\":1}")
          .line("{\"a\":1,\"ts\":1}")
          .line("{\"a\":1,\"b\":\"null\",\"ts\":1}")
          .line("{\"a\":1,\"b\":\"\",\"ts\":1}")
          .line("{\"a\":1,\"b\":null,\"ts\":1,\"__diff\":-1}");
      assertThat(replay.updates).hasSize(5);
      assertThat(replay.contents(0)).hasSize(3).containsValue(1L);
      assertThat(replay.contents(0).values()).containsOnly(1L);
    }
    assertThat(one("INT NOT NULL", "null")).contains("NOT NULL");
  }

  @Test
  @DisplayName("P-TY-05, P-TW-06: far and early times are exact")
  void farAndEarlyTimesAreExact() throws Exception {
    assertThat(one("TIMESTAMP_LTZ(3)", "\"9999-12-31T23:59:59.999Z\""))
        .isEqualTo("9999-12-31T23:59:59.999Z");
    assertThat(one("TIMESTAMP_LTZ(6)", "\"0001-01-01T00:00:00Z\""))
        .isEqualTo("0001-01-01T00:00:00Z");
    assertThat(one("TIMESTAMP(6)", "\"1969-12-31T23:59:59.999999\""))
        .isEqualTo("1969-12-31T23:59:59.999999");
    assertThat(one("TIMESTAMP(6)", "\"+999999-01-01T00:00:00\"")).contains("column c");
  }

  @Test
  @DisplayName("P-TY-06: all digits of decimals")
  void allDigitsOfDecimals() throws Exception {
    assertThat(one("DECIMAL(30, 18)", "799.929496989092949698"))
        .isEqualTo("799.929496989092949698");
    assertThat(one("DECIMAL(30, 18)", "1e400")).contains("out of the range");
    assertThat(one("DECIMAL(30, 18)", "1e1000000000")).contains("out of the range");
    assertThat(one("DECIMAL(30, 18)", "1e-1000000000")).contains("more decimal places");
    assertThat(one("DECIMAL(30, 18)", "0e-1000000000")).isEqualTo("0E-18");
    assertThat(one("DECIMAL(30, 18)", "NaN")).contains("not JSON");
    assertThat(one("DECIMAL(30, 18)", "1".repeat(1001))).startsWith("error: ");
  }

  @Test
  @DisplayName("P-TW-04: a row from the year 2262 is an error and moves no watermark")
  void aRowFromTheYear2262IsAnErrorAndMovesNoWatermark() throws Exception {
    TableMapping mapping = new TableMapping(0, null, Envelope.APPEND, "ts");
    DecodeSettings settings =
        new DecodeSettings(
            Format.JSON,
            DebeziumSettings.DEFAULT,
            List.of(mapping),
            true,
            false,
            1_800_000_000_000L,
            Long.MAX_VALUE);
    try (Replay replay =
        new Replay(settings, List.of(Replay.shard("t", "k INT, ts BIGINT NOT NULL")))) {
      replay
          .line("{\"k\":1,\"ts\":1714521600000}")
          .line("{\"k\":2,\"ts\":9223372036854}")
          .line("{\"k\":2,\"ts\":9223372036854775807}")
          .line("{\"k\":3,\"ts\":1714521610000}");
      assertThat(replay.stored()).isEqualTo(2);
      assertThat(replay.rejected()).isEqualTo(2);
      assertThat(replay.errors).allMatch(error -> error.time() == Long.MIN_VALUE);
      replay.decodeHarness().setProcessingTime(1_000);
      assertThat(replay.watermark()).isEqualTo(1714521610000L - 1);
    }
  }

  @Test
  void rowsTooFarAheadOfTheClockAreErrors() throws Exception {
    TableMapping mapping = new TableMapping(0, null, Envelope.APPEND, "ts");
    DecodeSettings settings =
        new DecodeSettings(
            Format.JSON,
            DebeziumSettings.DEFAULT,
            List.of(mapping),
            true,
            false,
            Long.MAX_VALUE - 1,
            1_000);
    try (Replay replay = new Replay(settings, List.of(Replay.shard("t", "ts BIGINT NOT NULL")))) {
      replay.decodeHarness().setProcessingTime(10_000);
      replay.line("{\"ts\":11000}").line("{\"ts\":11001}");
      assertThat(replay.stored()).isEqualTo(1);
      assertThat(replay.reasons())
          .containsExactly("time 11001 is too far ahead of the clock (time.max-ahead)");
    }
  }

  @Test
  void recordsFindTheirShardByAColumn() throws Exception {
    List<TableMapping> tables =
        List.of(
            new TableMapping(0, match("order"), Envelope.APPEND, "ts"),
            new TableMapping(1, match("item"), Envelope.APPEND, "ts"));
    DecodeSettings settings =
        new DecodeSettings(
            Format.JSON,
            DebeziumSettings.DEFAULT,
            tables,
            false,
            false,
            Long.MAX_VALUE - 1,
            Long.MAX_VALUE);
    try (Replay replay =
        new Replay(
            settings,
            List.of(
                Replay.shard("orders", "id INT, ts BIGINT"),
                Replay.shard("items", "name STRING, ts BIGINT")))) {
      replay
          .line("{\"type\":\"order\",\"id\":1,\"ts\":1}")
          .line("{\"type\":\"item\",\"name\":\"x\",\"ts\":2}")
          .line("{\"type\":\"user\",\"ts\":2}")
          .line("{\"ts\":2}");
      assertThat(replay.contents(0)).containsOnlyKeys("[1, 1]");
      assertThat(replay.contents(1)).containsOnlyKeys("[x, 2]");
      assertThat(replay.count("tidemark.unmatched.user")).isEqualTo(1);
      assertThat(replay.reasons()).containsExactly("a record that names no table");
      assertThat(replay.addsUp()).isTrue();
    }
  }

  @Test
  void exactlyAHundredTablesThatNobodyAsksForAreNamed() throws Exception {
    DecodeSettings settings =
        new DecodeSettings(
            Format.JSON,
            DebeziumSettings.DEFAULT,
            List.of(new TableMapping(0, match("order"), Envelope.APPEND, "ts")),
            false,
            false,
            Long.MAX_VALUE - 1,
            Long.MAX_VALUE);
    try (Replay replay = new Replay(settings, List.of(Replay.shard("orders", "ts BIGINT")))) {
      for (int table = 0; table < 102; table++) {
        replay.line("{\"type\":\"t" + table + "\",\"ts\":2}");
      }
      assertThat(replay.count("tidemark.unmatched.t99")).isEqualTo(1);
      assertThat(replay.count("tidemark.unmatched.t100")).isZero();
      assertThat(replay.count("tidemark.ignored")).isEqualTo(102);
    }
  }

  private static TableMapping.Match match(String value) {
    return new TableMapping.Match(TableMapping.MatchKind.COLUMN, "type", value);
  }

  @Test
  void anUnmatchedRecordStopsAJobThatWasNotToldToIgnoreIt() throws Exception {
    DecodeSettings settings =
        Replay.settings(
            Format.JSON,
            DebeziumSettings.DEFAULT,
            List.of(new TableMapping(0, match("order"), Envelope.APPEND, "ts")));
    try (Replay replay = new Replay(settings, List.of(Replay.shard("orders", "ts BIGINT")))) {
      assertThatThrownBy(() -> replay.line("{\"type\":\"user\",\"ts\":2}"))
          .isInstanceOf(BadRecordException.class)
          .hasMessageContaining("no shard matches user");
    }
  }
}
