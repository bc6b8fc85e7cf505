package dev.tidemark.flink.decode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.flink.decode.DecodeSettings.Format;
import dev.tidemark.flink.message.RawRecord;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** CSV records: NULL and empty text, types, what is no record of its file. */
class CsvCasesTest {
  private final byte[] header;
  private Replay replay;

  CsvCasesTest() {
    header = "id,name,ts".getBytes(StandardCharsets.UTF_8);
  }

  private void open(String schema, Envelope envelope) throws Exception {
    TableMapping mapping = new TableMapping(0, null, envelope, "ts");
    replay =
        new Replay(
            Replay.settings(Format.CSV, DebeziumSettings.DEFAULT, List.of(mapping)),
            List.of(Replay.shard("t", schema)));
  }

  private void record(byte[] headerLine, String text) throws Exception {
    RawRecord record = new RawRecord();
    record.place = "file.csv";
    record.partition = "files";
    record.number = 2;
    record.header = headerLine;
    record.value = text.getBytes(StandardCharsets.UTF_8);
    replay.record(record);
  }

  @Test
  void nothingIsNullAndQuotesAreAText() throws Exception {
    open("id INT, name STRING, ts BIGINT", Envelope.APPEND);
    record(header, "1,,5");
    record(header, "2,\"\",5");
    record(header, ",\"a \"\"b\"\",\nc\",5");
    record(header, "3,\\N,5");
    record(header, "");
    assertThat(replay.rows())
        .containsExactly("[1, null, 5]", "[2, , 5]", "[null, a \"b\",\nc, 5]", "[3, \\N, 5]");
    assertThat(replay.count("tidemark.ignored")).isEqualTo(1);
    assertThat(replay.addsUp()).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1,x | 2 fields, but the header has 3",
        "1,x,5,6 | 4 fields, but the header has 3",
        "1,\"x,5 | a quoted field that isn't closed",
        "1,\"x\"y,5 | text behind a closing quote in field 2",
        "1,x\"y,5 | a quote within field 2",
        "1.5,x,5 | column id of t: text that is no whole number",
        "2147483648,x,5 | column id of t: number out of the range of INT",
        "abc,x,5 | column id of t: text that is no decimal number",
        "1,x, | column ts of t: NULL, but the column is NOT NULL"
      })
  void whatIsNoRecord(String text, String reason) throws Exception {
    open("id INT, name STRING, ts BIGINT NOT NULL", Envelope.APPEND);
    record(header, text);
    record(header, "1,good,5");
    assertThat(replay.reasons()).containsExactly(reason);
    assertThat(replay.errors.get(0).origin()).isEqualTo("file.csv:2");
    assertThat(replay.rows()).containsExactly("[1, good, 5]");
    assertThat(replay.addsUp()).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "BOOLEAN | t | true",
        "BOOLEAN | False | false",
        "DECIMAL(30, 18) | 799.929496989092949698 | 799.929496989092949698",
        "DOUBLE | NaN | NaN",
        "DOUBLE | -Infinity | -Infinity",
        "FLOAT | 1.5 | 1.5",
        "DATE | 2026-11-29 | 2026-11-29",
        "TIMESTAMP(6) | 2026-11-29 23:47:20.760746 | 2026-11-29T23:47:20.760746",
        "TIMESTAMP_LTZ(6) | 2026-11-29 23:47:20+00 | 2026-11-29T23:47:20Z",
        "ARRAY<INT> | \"[1,null]\" | [1, null]",
        "BYTES | AP8= | 00ff"
      })
  void valuesByType(String type, String text, String stored) throws Exception {
    open("c " + type + ", ts BIGINT", Envelope.APPEND);
    record("ts,c".getBytes(StandardCharsets.UTF_8), "5," + text);
    assertThat(replay.reasons()).isEmpty();
    assertThat(replay.rows()).containsExactly("[" + stored + ", 5]");
  }

  @Test
  @DisplayName("P-IN-01: a header that lacks a column stops the job")
  void aHeaderThatLacksAColumnStopsTheJob() throws Exception {
    open("id INT, name STRING, ts BIGINT", Envelope.APPEND);
    assertThatThrownBy(() -> record("\u00efid,name,ts".getBytes(StandardCharsets.UTF_8), "1,x,5"))
        .isInstanceOf(BadRecordException.class)
        .hasMessageContaining("file.csv: header line: no column id");
  }

  @Test
  void aDiffColumnCountsInAChangelog() throws Exception {
    open("id INT, ts BIGINT", Envelope.CHANGELOG);
    byte[] withDiff = "id,ts,__diff".getBytes(StandardCharsets.UTF_8);
    record(withDiff, "1,5,2");
    record(withDiff, "1,6,-1");
    record(withDiff, "1,6,0");
    assertThat(replay.updates.stream().map(update -> update.diff)).containsExactly(2L, -1L);
    assertThat(replay.reasons()).containsExactly("__diff: not a number other than 0");
  }
}
