package dev.tidemark.flink.decode;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.flink.InputCounts;
import dev.tidemark.flink.decode.DebeziumSettings.Binary;
import dev.tidemark.flink.decode.DebeziumSettings.Decimals;
import dev.tidemark.flink.decode.DebeziumSettings.Lines;
import dev.tidemark.flink.decode.DebeziumSettings.Shape;
import dev.tidemark.flink.decode.DebeziumSettings.Times;
import dev.tidemark.flink.decode.DecodeSettings.Format;
import dev.tidemark.flink.message.RawRecord;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.TimeZone;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Debezium's messages, the cases of the catalogue among them (P-CD-…). */
class DebeziumCasesTest {
  private static final String ID_V = "id INT NOT NULL, v STRING, PRIMARY KEY (id) NOT ENFORCED";

  private static Replay debezium(Envelope envelope, String schema) throws Exception {
    return Replay.of(Format.DEBEZIUM_JSON, DebeziumSettings.DEFAULT, schema, envelope, null);
  }

  private static DebeziumSettings with(Decimals decimal, Times time, Binary binary) {
    return new DebeziumSettings(Lines.KEY_VALUE, Shape.ENVELOPE, decimal, time, binary);
  }

  private static String change(String op, String before, String after, long micros) {
    return "{\"before\":"
        + before
        + ",\"after\":"
        + after
        + ",\"source\":{\"ts_us\":"
        + micros
        + ",\"schema\":\"public\",\"table\":\"t\"},\"op\":\""
        + op
        + "\",\"ts_ms\":99}";
  }

  private static String row(int id, String v) {
    return "{\"id\":" + id + ",\"v\":\"" + v + "\"}";
  }

  /** One column c of a type; what is stored, or why not. */
  private static String one(DebeziumSettings settings, String type, String value) throws Exception {
    return one(settings, type, value, null);
  }

  private static String one(DebeziumSettings settings, String type, String value, String hint)
      throws Exception {
    try (Replay replay =
        Replay.of(Format.DEBEZIUM_JSON, settings, "c " + type, Envelope.APPEND, null)) {
      String payload = change("c", "null", "{\"c\":" + value + "}", 1_000);
      if (hint != null) {
        payload =
            "{\"schema\":{\"type\":\"struct\",\"fields\":[{\"field\":\"after\",\"type\":\"struct\","
                + "\"fields\":[{\"field\":\"c\","
                + hint
                + "}]}]},\"payload\":"
                + payload
                + "}";
      }
      replay.keyed(null, payload);
      if (!replay.errors.isEmpty()) {
        return "error: " + replay.reasons().get(0);
      }
      String row = replay.rows().get(0);
      return row.substring(1, row.length() - 1);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"CHANGELOG", "UPSERT"})
  @DisplayName("P-CD-01: tombstones change nothing and are no errors")
  void tombstonesChangeNothingAndAreNoErrors(Envelope envelope) throws Exception {
    try (Replay replay = debezium(envelope, ID_V)) {
      replay
          .keyed("{\"id\":9}", null)
          .keyed("{\"id\":5}", change("c", "null", row(5, "Oslo"), 1_714_521_600_000_000L))
          .keyed("{\"id\":5}", change("d", row(5, "Oslo"), "null", 1_714_521_601_000_000L))
          .keyed("{\"id\":5}", null)
          .keyed(null, null);
      assertThat(replay.contents(0)).isEmpty();
      assertThat(replay.count("tidemark.ignored")).isEqualTo(3);
      assertThat(replay.rejected()).isZero();
      assertThat(replay.addsUp()).isTrue();
    }
  }

  @Test
  @DisplayName("P-CD-02: wrapped and flat even mixed")
  void wrappedAndFlatEvenMixed() throws Exception {
    try (Replay replay = debezium(Envelope.UPSERT, ID_V)) {
      replay
          .keyed(
              "{\"schema\":{\"type\":\"struct\"},\"payload\":{\"id\":1}}",
              "{\"schema\":{\"type\":\"struct\",\"fields\":[]},\"payload\":"
                  + change("c", "null", row(1, "a"), 1)
                  + "}")
          .keyed("{\"id\":2}", change("c", "null", row(2, "b"), 1));
      assertThat(replay.contents(0)).containsOnlyKeys("[1, a]", "[2, b]");
    }
    DebeziumSettings flat =
        new DebeziumSettings(
            Lines.VALUE, Shape.UNWRAPPED, Decimals.PRECISE, Times.ADAPTIVE, Binary.BASE64);
    try (Replay replay =
        Replay.of(
            Format.DEBEZIUM_JSON,
            flat,
            "payload STRING, schema STRING, ts BIGINT",
            Envelope.APPEND,
            "ts")) {
      replay.line("{\"payload\":\"p\",\"ts\":1}").line("{\"payload\":\"p\",\"schema\":\"s\"}");
      assertThat(replay.rows()).containsExactly("[p, null, 1]");
      assertThat(replay.reasons())
          .containsExactly("column ts of t: NULL, but it holds the row's time");
    }
  }

  @Test
  @DisplayName("P-CD-04: changes without before images")
  void changesWithoutBeforeImages() throws Exception {
    try (Replay replay = debezium(Envelope.UPSERT, ID_V)) {
      replay
          .keyed("{\"id\":7}", change("c", "null", row(7, "old"), 1_000))
          .keyed("{\"id\":7}", change("u", "null", row(7, "new"), 2_000));
      assertThat(replay.contents(0)).containsOnlyKeys("[7, new]").containsValue(1L);
      replay
          .keyed("{\"id\":7}", change("d", "null", "null", 3_000))
          .keyed(null, change("d", "null", "null", 4_000));
      assertThat(replay.contents(0)).isEmpty();
      assertThat(replay.reasons()).containsExactly("a delete with neither before-image nor key");
      assertThat(replay.addsUp()).isTrue();
    }
    try (Replay replay = debezium(Envelope.CHANGELOG, ID_V)) {
      replay
          .keyed("{\"id\":7}", change("u", "null", row(7, "new"), 2_000))
          .keyed("{\"id\":7}", change("d", "null", "null", 3_000));
      assertThat(replay.updates).isEmpty();
      assertThat(replay.reasons())
          .hasSize(2)
          .allMatch(reason -> reason.contains("REPLICA IDENTITY FULL"));
      assertThat(replay.errors.get(0).time()).isEqualTo(2);
      assertThat(replay.errors.get(0).table()).isEqualTo("public.t");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"BNI=\" | 12.34",
        "\"AA==\" | 0.00",
        "\"AIA=\" | 1.28",
        "\"/w==\" | -0.01",
        "12.34 | 12.34",
        "{\"scale\":1,\"value\":\"AIA=\"} | 12.80",
        "\"12.34\" | error: column c of t: text that is no base64",
        "{\"scale\":3,\"value\":\"AeJB\"} | error: column c of t: number with more decimal places than DECIMAL(10, 2)",
        "\"\" | error: column c of t: bytes that are no decimal"
      })
  @DisplayName("P-CD-06: precise decimals")
  void preciseDecimals(String value, String stored) throws Exception {
    assertThat(one(DebeziumSettings.DEFAULT, "DECIMAL(10, 2)", value)).isEqualTo(stored);
  }

  @Test
  @DisplayName("P-CD-06: decimals in other modes")
  void decimalsInOtherModes() throws Exception {
    DebeziumSettings text = with(Decimals.STRING, Times.ADAPTIVE, Binary.BASE64);
    assertThat(one(text, "DECIMAL(10, 2)", "\"12.34\"")).isEqualTo("12.34");
    assertThat(one(text, "DECIMAL(10, 2)", "\"NaN\"")).startsWith("error: column c of t");
    assertThat(one(text, "DECIMAL(10, 3)", "{\"scale\":3,\"value\":\"AeJA\"}"))
        .isEqualTo("123.456");
    assertThat(one(text, "STRING", "{\"scale\":3,\"value\":\"AeJA\"}")).isEqualTo("123.456");
    DebeziumSettings binary = with(Decimals.DOUBLE, Times.ADAPTIVE, Binary.BASE64);
    assertThat(one(binary, "DECIMAL(10, 2)", "12.340000000000001")).isEqualTo("12.34");
    String hint =
        "\"type\":\"bytes\",\"name\":\"org.apache.kafka.connect.data.Decimal\","
            + "\"parameters\":{\"scale\":\"3\"}";
    assertThat(one(text, "DECIMAL(10, 4)", "\"AeJA\"", hint)).isEqualTo("123.4560");
    assertThat(one(text, "STRING", "\"AeJA\"", hint)).isEqualTo("123.456");
    String noScale = hint.substring(0, hint.indexOf(",\"parameters"));
    assertThat(one(text, "STRING", "\"AeJA\"", noScale)).contains("scale is nowhere");
  }

  @ParameterizedTest
  @CsvSource({"UTC", "Europe/Berlin", "Asia/Shanghai"})
  @DisplayName("P-CD-07: one instant five encodings")
  void oneInstantFiveEncodings(String zone) throws Exception {
    TimeZone before = TimeZone.getDefault();
    TimeZone.setDefault(TimeZone.getTimeZone(zone));
    try {
      DebeziumSettings adaptive = DebeziumSettings.DEFAULT;
      DebeziumSettings connect = with(Decimals.PRECISE, Times.CONNECT, Binary.BASE64);
      DebeziumSettings iso = with(Decimals.PRECISE, Times.ISOSTRING, Binary.BASE64);
      String micros = "2024-03-31T01:30:00.123456";
      assertThat(one(adaptive, "TIMESTAMP(3)", "1711848600123"))
          .isEqualTo("2024-03-31T01:30:00.123");
      assertThat(one(adaptive, "TIMESTAMP(6)", "1711848600123456")).isEqualTo(micros);
      assertThat(one(connect, "TIMESTAMP(6)", "1711848600123"))
          .isEqualTo("2024-03-31T01:30:00.123");
      String nanos = "\"type\":\"int64\",\"name\":\"io.debezium.time.NanoTimestamp\"";
      assertThat(one(connect, "TIMESTAMP(6)", "1711848600123456000", nanos)).isEqualTo(micros);
      assertThat(one(iso, "TIMESTAMP(6)", "\"" + micros + "Z\"")).isEqualTo(micros);
      assertThat(one(adaptive, "TIMESTAMP_LTZ(6)", "\"" + micros + "Z\"")).isEqualTo(micros + "Z");
      assertThat(one(adaptive, "TIMESTAMP_LTZ(6)", "\"2024-03-31T03:30:00.123456+02:00\""))
          .isEqualTo(micros + "Z");
      assertThat(one(adaptive, "DATE", "19813")).isEqualTo("2024-03-31");
      assertThat(one(iso, "DATE", "\"2024-03-31Z\"")).isEqualTo("2024-03-31");
      assertThat(one(adaptive, "TIME(3)", "5400123")).isEqualTo("01:30:00.123");
      DebeziumSettings fine = with(Decimals.PRECISE, Times.ADAPTIVE_MICROSECONDS, Binary.BASE64);
      assertThat(one(fine, "TIME(3)", "5400123000")).isEqualTo("01:30:00.123");
      assertThat(one(fine, "TIME(3)", "5400123456")).contains("take BIGINT microseconds");
      assertThat(one(fine, "BIGINT", "5400123456")).isEqualTo("5400123456");
      assertThat(one(iso, "TIMESTAMP(6)", "1711848600123456")).startsWith("error: ");
    } finally {
      TimeZone.setDefault(before);
    }
  }

  @Test
  @DisplayName("P-TY-05, P-TW-06: far and early times")
  void farAndEarlyTimes() throws Exception {
    DebeziumSettings adaptive = DebeziumSettings.DEFAULT;
    assertThat(one(adaptive, "TIMESTAMP(3)", "253402300799000")).isEqualTo("9999-12-31T23:59:59");
    assertThat(one(adaptive, "TIMESTAMP(6)", "253402300799000000"))
        .isEqualTo("9999-12-31T23:59:59");
    assertThat(one(adaptive, "TIMESTAMP(6)", "-1")).isEqualTo("1969-12-31T23:59:59.999999");
    assertThat(one(adaptive, "TIMESTAMP(6)", "-500000")).isEqualTo("1969-12-31T23:59:59.500");
  }

  @Test
  void bytesAndBooleans() throws Exception {
    DebeziumSettings hex = with(Decimals.PRECISE, Times.ADAPTIVE, Binary.HEX);
    assertThat(one(hex, "BYTES", "\"00ff\"")).isEqualTo("00ff");
    assertThat(one(hex, "BYTES", "\"0\"")).startsWith("error: ");
    String bits = "\"type\":\"bytes\",\"name\":\"io.debezium.data.Bits\"";
    assertThat(one(hex, "BYTES", "\"AQ==\"", bits)).isEqualTo("01");
    assertThat(one(hex, "BOOLEAN", "1")).isEqualTo("true");
    assertThat(one(hex, "DOUBLE", "\"NaN\"")).isEqualTo("NaN");
  }

  @Test
  @DisplayName("P-CD-08: a change of key moves the row")
  void aChangeOfKeyMovesTheRow() throws Exception {
    try (Replay replay = debezium(Envelope.UPSERT, ID_V)) {
      replay
          .keyed("{\"id\":1}", change("c", "null", row(1, "x"), 1_000))
          .keyed("{\"id\":1}", change("d", row(1, "x"), "null", 2_000))
          .keyed("{\"id\":1}", null)
          .keyed("{\"id\":2}", change("c", "null", row(2, "x"), 2_000))
          .keyed("{\"id\":3}", change("u", row(2, "x"), row(3, "x"), 3_000));
      assertThat(replay.contents(0)).containsOnlyKeys("[3, x]").containsValue(1L);
      assertThat(replay.stored()).isEqualTo(4);
      assertThat(replay.addsUp()).isTrue();
    }
    try (Replay replay = debezium(Envelope.CHANGELOG, ID_V)) {
      replay
          .keyed("{\"id\":2}", change("c", "null", row(2, "x"), 1_000))
          .keyed("{\"id\":3}", change("u", row(2, "x"), row(3, "x"), 3_000));
      assertThat(replay.contents(0)).containsOnlyKeys("[3, x]").containsValue(1L);
    }
  }

  @Test
  void timesComeFromTheSourceAndNeverFall() throws Exception {
    try (Replay replay = debezium(Envelope.CHANGELOG, ID_V)) {
      replay
          .keyed(null, change("c", "null", row(1, "a"), 5_999))
          .keyed(null, change("u", row(1, "a"), row(1, "b"), 5_800))
          .keyed(null, change("c", "null", row(2, "a"), -1))
          .keyed(null, change("c", "null", row(3, "a"), 7_000).replace("ts_us", "ts_ms"));
      assertThat(replay.updates.stream().map(update -> update.time))
          .containsExactly(5L, 5L, 5L, 5L, 7_000L);
      replay.keyed(null, change("c", "null", row(3, "a"), 7_000).replace("ts_us", "ts_ns"));
      assertThat(replay.reasons())
          .containsExactly("no source.ts_us and no source.ts_ms to take the time from");
    }
  }

  @Test
  void whatIsNoRowChangeIsIgnoredAndWhatIsNoEnvelopeIsAnError() throws Exception {
    try (Replay replay = debezium(Envelope.CHANGELOG, ID_V)) {
      replay
          .keyed("{\"serverName\":\"s\"}", "{\"ts_ms\":1}")
          .keyed("{\"id\":\"1:2\"}", "{\"status\":\"BEGIN\",\"id\":\"1:2\",\"ts_ms\":1}")
          .keyed("{\"prefix\":\"p\"}", "{\"op\":\"m\",\"ts_ms\":1,\"source\":{},\"message\":{}}")
          .keyed(null, "{\"source\":{\"db\":\"d\"},\"ddl\":\"x\",\"tableChanges\":[]}");
      assertThat(replay.count("tidemark.ignored")).isEqualTo(4);
      assertThat(replay.errors).isEmpty();
      replay
          .keyed(null, row(1, "flat"))
          .keyed(null, change("t", "null", "null", 1_000))
          .keyed(null, change("x", "null", row(1, "a"), 1_000))
          .keyed(null, change("c", "null", "null", 1_000))
          .keyed(null, "\"text\"");
      assertThat(replay.reasons()).hasSize(5);
      assertThat(replay.reasons().get(0)).contains("source.debezium.shape unwrapped");
      assertThat(replay.reasons().get(1))
          .startsWith("truncate of public.t: which rows")
          .endsWith("take envelope upsert for t");
      assertThat(replay.addsUp()).isTrue();
    }
    try (Replay replay = debezium(Envelope.APPEND, ID_V)) {
      replay.keyed(null, change("u", "null", row(1, "a"), 1_000));
      assertThat(replay.reasons().get(0)).contains("envelope is append");
    }
    try (Replay replay = debezium(Envelope.APPEND, ID_V)) {
      replay.line(change("c", "null", row(1, "a"), 1_000));
      assertThat(replay.reasons().get(0)).contains("source.debezium.lines");
    }
  }

  private static String bigRow(int id, String big, int n) {
    return "{\"id\":" + id + ",\"big\":" + big + ",\"n\":" + n + "}";
  }

  private static final String BIG =
      "id INT NOT NULL, big STRING, n INT, PRIMARY KEY (id) NOT ENFORCED";
  private static final String MARKER = "\"" + DebeziumValues.PLACEHOLDER + "\"";

  @Test
  @DisplayName("P-CD-10: the marker of an unchanged large column stands for what it was")
  void theMarkerStandsForWhatItWas() throws Exception {
    String large = "x".repeat(20_000);
    try (Replay replay = debezium(Envelope.UPSERT, BIG)) {
      replay
          .keyed("{\"id\":1}", change("c", "null", bigRow(1, "\"" + large + "\"", 1), 1_000))
          .keyed("{\"id\":1}", change("u", "null", bigRow(1, MARKER, 2), 2_000));
      assertThat(replay.contents(0)).containsOnlyKeys("[1, " + large + ", 2]").containsValue(1L);
      replay
          .keyed("{\"id\":1}", change("u", "null", bigRow(1, "null", 3), 3_000))
          .keyed("{\"id\":1}", change("u", "null", bigRow(1, MARKER, 4), 4_000));
      assertThat(replay.contents(0)).containsOnlyKeys("[1, null, 4]").containsValue(1L);
      assertThat(replay.stored()).isEqualTo(4);

      String part = "\"see " + DebeziumValues.PLACEHOLDER + "\"";
      replay.keyed("{\"id\":1}", change("u", "null", bigRow(1, part, 5), 5_000));
      assertThat(replay.contents(0))
          .containsOnlyKeys("[1, see " + DebeziumValues.PLACEHOLDER + ", 5]");

      // Nobody knows what it was: the row isn't there, or its key was changed.
      replay
          .keyed("{\"id\":2}", change("u", "null", bigRow(2, MARKER, 1), 6_000))
          .keyed("{\"id\":3}", change("c", "null", bigRow(3, MARKER, 1), 7_000))
          .keyed("{\"id\":4}", change("u", bigRow(1, "null", 0), bigRow(4, MARKER, 1), 8_000));
      assertThat(replay.reasons())
          .hasSize(3)
          .allMatch(reason -> reason.startsWith("column big of t: the large value is not"))
          .allMatch(reason -> reason.endsWith("set REPLICA IDENTITY FULL on the table"));
      assertThat(replay.errors.get(0).origin()).isEqualTo("topic-0@5");
      assertThat(replay.errors.get(0).time()).isEqualTo(6);
      assertThat(replay.errors.get(0).table()).isEqualTo("public.t");
      assertThat(replay.contents(0)).as("the old key is gone").isEmpty();
      assertThat(replay.addsUp()).isTrue();
    }
    for (Envelope envelope : List.of(Envelope.APPEND, Envelope.CHANGELOG)) {
      try (Replay replay = debezium(envelope, BIG)) {
        replay.keyed("{\"id\":1}", change("c", "null", bigRow(1, MARKER, 1), 1_000));
        assertThat(replay.reasons())
            .containsExactly(
                "column big of t: the large value is not in the message"
                    + " (__debezium_unavailable_value); set REPLICA IDENTITY FULL on the table, or"
                    + " take envelope upsert for t");
        assertThat(replay.updates).isEmpty();
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "STRING NOT NULL | \"was\" | \"__debezium_unavailable_value\" | was",
        "BYTES | \"AP8=\" | \"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==\" | 00ff",
        "BYTES | \"AP8=\" | \"__debezium_unavailable_value\" | 00ff",
        "ARRAY<STRING> | [\"was\",null] | [\"__debezium_unavailable_value\"] | [was, null]",
        "ARRAY<STRING> | [\"was\"] | [\"__debezium_unavailable_value\",\"x\"] | [__debezium_unavailable_value, x]",
        "ARRAY<INT> | [1,2] | [95,95,100,101,98,101,122,105,117,109,95,117,110,97,118,97,105,108,97,98,108,101,95,118,97,108,117,101] | [1, 2]",
        "ARRAY<INT> | [1,2] | [95,95,100] | [95, 95, 100]",
        "MAP<STRING, STRING> | {\"a\":\"b\"} | {\"__debezium_unavailable_value\":\"__debezium_unavailable_value\"} | {a=b}"
      })
  @DisplayName("P-CD-10: the forms of the marker")
  void theFormsOfTheMarker(String type, String was, String now, String stored) throws Exception {
    String schema = "id INT NOT NULL, c " + type + ", PRIMARY KEY (id) NOT ENFORCED";
    try (Replay replay = debezium(Envelope.UPSERT, schema)) {
      replay
          .keyed(null, change("c", "null", "{\"id\":1,\"c\":" + was + "}", 1_000))
          .keyed(null, change("u", "null", "{\"id\":1,\"c\":" + now + "}", 2_000));
      assertThat(replay.reasons()).isEmpty();
      assertThat(replay.contents(0)).containsOnlyKeys("[1, " + stored + "]");
    }
  }

  @Test
  @DisplayName("P-CD-03: rows of the initial snapshot that arrive twice")
  void snapshotRowsTwice() throws Exception {
    String snapshot = change("r", "null", row(1, "a"), 1_000);
    String update = change("u", row(1, "a"), row(1, "b"), 2_000);
    try (Replay replay = debezium(Envelope.UPSERT, ID_V)) {
      replay.keyed("{\"id\":1}", snapshot).keyed("{\"id\":1}", snapshot).keyed(null, update);
      assertThat(replay.contents(0)).containsOnlyKeys("[1, b]").containsValue(1L);
      assertThat(replay.stored()).isEqualTo(2);
      assertThat(replay.addsUp()).isTrue();
    }
    // Changelog keeps nothing of a key: the copy stays, as docs/operations.md says.
    try (Replay replay = debezium(Envelope.CHANGELOG, ID_V)) {
      replay.keyed(null, snapshot).keyed(null, snapshot).keyed(null, update);
      assertThat(replay.contents(0)).containsOnlyKeys("[1, a]", "[1, b]");
    }
  }

  @Test
  @DisplayName("P-CD-05: a truncate takes away what was there before it, and nothing else")
  void truncates() throws Exception {
    String truncate = change("t", "null", "null", 3_000);
    try (Replay replay = debezium(Envelope.UPSERT, ID_V)) {
      replay
          .keyed("{\"id\":1}", change("c", "null", row(1, "a"), 1_000))
          .keyed("{\"id\":2}", change("c", "null", row(2, "a"), 2_000))
          .keyed(null, truncate)
          .keyed("{\"id\":3}", change("c", "null", row(3, "a"), 4_000));
      assertThat(replay.contents(0)).containsOnlyKeys("[3, a]").containsValue(1L);
      assertThat(replay.contents(0, 2)).containsOnlyKeys("[1, a]", "[2, a]");
      assertThat(replay.contents(0, 3)).isEmpty();
      assertThat(replay.stored()).isEqualTo(4);
      replay.keyed(null, truncate); // delivered again, in front of what came after it
      replay.keyed("{\"id\":3}", change("c", "null", row(3, "a"), 4_000));
      assertThat(replay.contents(0)).containsOnlyKeys("[3, a]").containsValue(1L);
      assertThat(replay.addsUp()).isTrue();
    }
    for (Envelope envelope : List.of(Envelope.APPEND, Envelope.CHANGELOG)) {
      try (Replay replay = debezium(envelope, ID_V)) {
        replay.keyed(null, truncate);
        assertThat(replay.reasons())
            .containsExactly(
                "truncate of public.t: which rows it takes away is not known; take envelope upsert"
                    + " for t");
        assertThat(replay.addsUp()).isTrue();
      }
    }
  }

  @Test
  void aPartitionThatHasSaidNothingYetIsAPartition() throws Exception {
    try (Replay replay = debezium(Envelope.UPSERT, ID_V)) {
      replay.keyed("{\"id\":1}", change("c", "null", row(1, "a"), 1_000));
      replay.record(RawRecord.mark(RawRecord.Mark.ASSIGNED, "other-7"));
      replay.keyed(null, change("t", "null", "null", 2_000));
      assertThat(replay.contents(0)).isEmpty();
      replay.record(RawRecord.mark(RawRecord.Mark.ASSIGNED, "topic-1"));
      replay.keyed(null, change("t", "null", "null", 3_000));
      assertThat(replay.reasons()).hasSize(1);
    }
  }

  @Test
  void aTruncateAmongSeveralPartitionsIsRefusedByName() throws Exception {
    try (Replay replay = debezium(Envelope.UPSERT, ID_V)) {
      replay.keyed("{\"id\":1}", change("c", "null", row(1, "a"), 1_000));
      RawRecord other = new RawRecord();
      other.topic = "topic";
      other.partition = "topic-1";
      other.place = "topic-1";
      other.value = change("t", "null", "null", 3_000).getBytes(StandardCharsets.UTF_8);
      replay.record(other);
      assertThat(replay.reasons().get(0))
          .startsWith(
              "truncate of t, whose changes come in several partitions, topic-0 and topic-1")
          .endsWith("give the table's topic one partition");
      assertThat(replay.contents(0)).containsOnlyKeys("[1, a]");
    }
  }

  @Test
  @DisplayName("P-CD-09: the delete of a key that was never seen")
  void theDeleteOfAKeyNeverSeen() throws Exception {
    String delete = change("d", row(99, "q"), "null", 1_000);
    String insert = change("c", "null", row(99, "q"), 2_000);
    try (Replay replay = debezium(Envelope.UPSERT, ID_V)) {
      replay.keyed("{\"id\":99}", delete).keyed("{\"id\":99}", insert);
      assertThat(replay.contents(0)).containsOnlyKeys("[99, q]").containsValue(1L);
      assertThat(replay.count(InputCounts.name("t", InputCounts.Fate.IGNORED))).isEqualTo(1);
      assertThat(replay.addsUp()).isTrue();
    }
    try (Replay replay = debezium(Envelope.CHANGELOG, ID_V)) {
      replay.keyed("{\"id\":99}", delete);
      assertThat(replay.contents(0)).containsEntry("[99, q]", -1L);
      replay.keyed("{\"id\":99}", insert);
      assertThat(replay.contents(0)).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"CHANGELOG", "UPSERT"})
  @DisplayName("P-CD-11: many changes of one key at one time")
  void manyChangesOfOneKeyAtOneTime(Envelope envelope) throws Exception {
    long time = 1_714_521_600_000_000L;
    try (Replay replay = debezium(envelope, ID_V)) {
      replay
          .keyed("{\"id\":1}", change("c", "null", row(1, "a"), time))
          .keyed("{\"id\":1}", change("u", row(1, "a"), row(1, "b"), time))
          .keyed("{\"id\":1}", change("d", row(1, "b"), "null", time))
          .keyed("{\"id\":1}", change("c", "null", row(1, "c"), time))
          .keyed("{\"id\":1}", change("u", row(1, "c"), row(1, "d"), time));
      assertThat(replay.contents(0)).containsOnlyKeys("[1, d]").containsValue(1L);
      assertThat(replay.contents(0, time / 1000 - 1)).isEmpty();
      assertThat(replay.stored()).isEqualTo(5);
    }
  }

  @Test
  @DisplayName("P-CD-12: what a crashed connector delivers again")
  void deliveredAgain() throws Exception {
    String a = change("c", "null", row(1, "x"), 1_000);
    String b = change("u", row(1, "x"), row(1, "y"), 2_000);
    String first =
        change("c", "null", row(2, "p"), 3_000).replace("\"ts_us\"", "\"lsn\":7,\"ts_us\"");
    String second =
        change("c", "null", row(3, "q"), 3_000).replace("\"ts_us\"", "\"lsn\":7,\"ts_us\"");
    try (Replay replay = debezium(Envelope.UPSERT, ID_V)) {
      replay.keyed("{\"id\":1}", a).keyed("{\"id\":1}", b).keyed("{\"id\":1}", b);
      replay.keyed("{\"id\":2}", first).keyed("{\"id\":3}", second);
      replay.keyed("{\"id\":1}", a).keyed("{\"id\":1}", b); // a whole block
      replay.keyed("{\"id\":2}", first).keyed("{\"id\":3}", second);
      assertThat(replay.contents(0))
          .containsOnlyKeys("[1, y]", "[2, p]", "[3, q]")
          .containsValue(1L);
      assertThat(replay.contents(0).values()).containsOnly(1L);
      assertThat(replay.contents(0, 2)).as("history isn't rewritten").containsOnlyKeys("[1, y]");
      assertThat(replay.addsUp()).isTrue();
    }
    // Without state a repeated update counts twice: the limit that docs/operations.md names.
    try (Replay replay = debezium(Envelope.CHANGELOG, ID_V)) {
      replay.keyed(null, a).keyed(null, b).keyed(null, b);
      assertThat(replay.contents(0)).containsEntry("[1, x]", -1L).containsEntry("[1, y]", 2L);
    }
  }

  @Test
  @DisplayName("P-TY-04: a column appears in mid-stream")
  void aColumnAppears() throws Exception {
    String old = "{\"id\":1,\"a\":\"x\"}";
    String wider = "{\"id\":2,\"b\":true,\"a\":\"y\"}";
    String changed = "{\"id\":1,\"b\":false,\"a\":\"z\"}";
    for (Envelope envelope : List.of(Envelope.UPSERT, Envelope.CHANGELOG)) {
      try (Replay replay =
          debezium(envelope, "id INT NOT NULL, a STRING, PRIMARY KEY (id) NOT ENFORCED")) {
        replay
            .keyed("{\"id\":1}", change("c", "null", old, 1_000))
            .keyed("{\"id\":2}", change("c", "null", wider, 2_000))
            .keyed("{\"id\":1}", change("u", old, changed, 3_000));
        assertThat(replay.contents(0)).containsOnlyKeys("[1, z]", "[2, y]");
        assertThat(replay.contents(0).values()).containsOnly(1L);
        assertThat(replay.count(InputCounts.UNKNOWN_COLUMNS)).isEqualTo(2);
      }
      try (Replay replay =
          debezium(
              envelope, "id INT NOT NULL, a STRING, b BOOLEAN, PRIMARY KEY (id) NOT ENFORCED")) {
        replay
            .keyed("{\"id\":1}", change("c", "null", old, 1_000))
            .keyed("{\"id\":2}", change("c", "null", wider, 2_000))
            .keyed("{\"id\":1}", change("u", old, changed, 3_000));
        assertThat(replay.contents(0)).containsOnlyKeys("[1, z, false]", "[2, y, true]");
        assertThat(replay.contents(0).values()).containsOnly(1L);
        assertThat(replay.count(InputCounts.UNKNOWN_COLUMNS)).isZero();
      }
    }
  }

  /** Without REPLICA IDENTITY FULL a delete's before-image is made up but for the key. */
  @Test
  void ofADeletesImageOnlyTheKeyIsTaken() throws Exception {
    String schema =
        "id INT NOT NULL, v STRING NOT NULL, n INT NOT NULL, d DATE NOT NULL, PRIMARY KEY (id) NOT ENFORCED";
    try (Replay replay = debezium(Envelope.UPSERT, schema)) {
      replay
          .keyed(null, change("c", "null", "{\"id\":1,\"v\":\"a\",\"n\":5,\"d\":20000}", 1_000))
          .keyed(null, change("d", "{\"id\":1,\"v\":\"\",\"n\":null,\"d\":0}", "null", 2_000));
      assertThat(replay.contents(0)).isEmpty();
      assertThat(replay.contents(0, 1)).containsOnlyKeys("[1, a, 5, 2024-10-04]");
      assertThat(replay.reasons()).isEmpty();
    }
  }
}
