package dev.tidemark.flink.decode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.flink.decode.DecodeSettings.FlinkFormat;
import dev.tidemark.flink.decode.DecodeSettings.Format;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Formats of Flink by name: their rows and kinds become what the envelope makes of them. */
class FlinkFormatsTest {
  private static final String ID_V = "id INT NOT NULL, v STRING, PRIMARY KEY (id) NOT ENFORCED";

  private static Replay replay(String format, Envelope envelope, String schema, String option)
      throws Exception {
    DecodeSettings settings =
        Replay.settings(
                Format.JSON,
                DebeziumSettings.DEFAULT,
                List.of(new TableMapping(0, null, envelope, null)))
            .withFlink(new FlinkFormat(format, option == null ? Map.of() : Map.of(option, "true")));
    return new Replay(settings, List.of(Replay.shard("t", schema)));
  }

  @Test
  void everyType() throws Exception {
    String schema =
        "a BOOLEAN, b TINYINT, c SMALLINT, d INT, e BIGINT, f FLOAT, g DOUBLE, h DECIMAL(20, 3),"
            + " i CHAR(2), j STRING, k BYTES, l DATE, m TIME(0), n TIMESTAMP(6),"
            + " o TIMESTAMP_LTZ(3), p ARRAY<INT>, q MAP<STRING, INT>, r ROW<x INT, y ARRAY<STRING>>,"
            + " s INT";
    try (Replay replay = replay("flink-json", Envelope.APPEND, schema, null)) {
      replay.keyed(
          null,
          "{\"a\":true,\"b\":1,\"c\":2,\"d\":3,\"e\":4,\"f\":0.5,\"g\":0.25,\"h\":1.5,\"i\":\"x\","
              + "\"j\":\"y\",\"k\":\"AP8=\",\"l\":\"2026-11-29\",\"m\":\"10:20:30\","
              + "\"n\":\"2026-11-29 23:47:20.760746\",\"o\":\"2026-11-29 23:47:20.760Z\","
              + "\"p\":[1,null],\"q\":{\"k\":7},\"r\":{\"x\":1,\"y\":[\"z\"]}}");
      assertThat(replay.reasons()).isEmpty();
      assertThat(replay.rows())
          .containsExactly(
              "[true, 1, 2, 3, 4, 0.5, 0.25, 1.500, x, y, 00ff, 2026-11-29, 10:20:30,"
                  + " 2026-11-29T23:47:20.760746, 2026-11-29T23:47:20.760Z, [1, null], {k=7},"
                  + " [1, [z]], null]");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"CHANGELOG", "UPSERT"})
  void canal(Envelope envelope) throws Exception {
    String head = "{\"database\":\"d\",\"table\":\"t\",\"pkNames\":[\"id\"],\"es\":1,\"ts\":2,";
    try (Replay replay = replay("canal-json", envelope, ID_V, null)) {
      replay
          .keyed(
              null,
              head
                  + "\"type\":\"INSERT\",\"old\":null,\"data\":[{\"id\":\"1\",\"v\":\"a\"},"
                  + "{\"id\":\"2\",\"v\":\"b\"}]}")
          .keyed(
              null,
              head
                  + "\"type\":\"UPDATE\",\"old\":[{\"v\":\"a\"}],"
                  + "\"data\":[{\"id\":\"1\",\"v\":\"c\"}]}")
          .keyed(
              null,
              head + "\"type\":\"DELETE\",\"old\":null,\"data\":[{\"id\":\"2\",\"v\":\"b\"}]}")
          .keyed(null, null);
      assertThat(replay.reasons()).isEmpty();
      assertThat(replay.contents(0)).containsOnlyKeys("[1, c]").containsValue(1L);
      assertThat(replay.updates).as("the update came as one change").hasSize(5);
      assertThat(replay.count("tidemark.ignored")).isEqualTo(1);
      assertThat(replay.addsUp()).isTrue();
    }
  }

  @Test
  void maxwellAndFlinksDebezium() throws Exception {
    try (Replay replay = replay("maxwell-json", Envelope.UPSERT, ID_V, null)) {
      String head = "{\"database\":\"d\",\"table\":\"t\",\"ts\":1,";
      replay
          .keyed(null, head + "\"type\":\"insert\",\"data\":{\"id\":1,\"v\":\"a\"}}")
          .keyed(
              null,
              head + "\"type\":\"update\",\"data\":{\"id\":2,\"v\":\"a\"},\"old\":{\"id\":1}}");
      assertThat(replay.contents(0)).as("the key changed").containsOnlyKeys("[2, a]");
    }
    try (Replay replay = replay("flink-debezium-json", Envelope.CHANGELOG, ID_V, null)) {
      replay
          .keyed(null, "{\"before\":null,\"after\":{\"id\":1,\"v\":\"a\"},\"op\":\"c\"}")
          .keyed(
              null,
              "{\"before\":{\"id\":1,\"v\":\"a\"},\"after\":{\"id\":1,\"v\":\"b\"},\"op\":\"u\"}");
      assertThat(replay.contents(0)).containsOnlyKeys("[1, b]").containsValue(1L);
    }
  }

  @Test
  void whatAFormatCantReadIsAnErrorWithoutItsContent() throws Exception {
    try (Replay replay = replay("flink-json", Envelope.APPEND, ID_V, null)) {
      replay.keyed(null, "{\"id\":\"secret").keyed(null, "{\"v\":\"secret\"}");
      assertThat(replay.reasons()).hasSize(2);
      assertThat(replay.reasons().get(0)).startsWith("the format flink-json can't read it: ");
      assertThat(replay.reasons().get(1))
          .isEqualTo("column id of t: NULL, but the column is NOT NULL");
      assertThat(replay.reasons()).noneMatch(reason -> reason.contains("secret"));
    }
    try (Replay replay = replay("flink-json", Envelope.APPEND, ID_V, "ignore-parse-errors")) {
      replay.keyed(null, "{\"id\":\"secret").keyed(null, "{\"id\":1}");
      assertThat(replay.rows()).as("its own options count").containsExactly("[1, null]");
      assertThat(replay.count("tidemark.ignored")).isEqualTo(1);
    }
    try (Replay replay = replay("canal-json", Envelope.APPEND, ID_V, null)) {
      replay.keyed(null, "{\"type\":\"DELETE\",\"data\":[{\"id\":\"2\",\"v\":\"b\"}]}");
      assertThat(replay.reasons().get(0)).contains("but envelope is append");
    }
  }

  @Test
  void anUnknownFormatOrOptionIsRefusedWithWhatThereIs() {
    assertThat(FlinkFormats.names())
        .contains("flink-json", "flink-debezium-json", "canal-json", "maxwell-json");
    assertThatThrownBy(() -> replay("protobuf", Envelope.APPEND, ID_V, null))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("source.format protobuf: no such format is on the class path")
        .hasMessageContaining("canal-json");
    assertThatThrownBy(() -> replay("flink-json", Envelope.APPEND, ID_V, "ignore-mistakes"))
        .hasMessageContaining("source.format.ignore-mistakes")
        .hasMessageContaining("ignore-parse-errors");
  }
}
