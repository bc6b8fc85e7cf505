package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.flink.decode.Envelope;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.ShardReader;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.shard.ShardState;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericMapData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A program's own stream as a shard: rows of both kinds, changes, keys, and what doesn't fit. */
@Timeout(120)
final class ShardSinkTest {
  @RegisterExtension static final MiniClusterExtension CLUSTER = TestJobs.cluster();

  private static final String COLUMNS =
      "id BIGINT NOT NULL, ts BIGINT NOT NULL, text STRING, PRIMARY KEY (id) NOT ENFORCED";
  private static final String ALL =
      "id BIGINT NOT NULL, ts BIGINT NOT NULL, flag BOOLEAN, tiny TINYINT, small SMALLINT, n INT,"
          + " f FLOAT, d DOUBLE, dec DECIMAL(10, 2), c CHAR(3), b BYTES, day DATE, t TIME(3),"
          + " local TIMESTAMP(6), zoned TIMESTAMP_LTZ(3), list ARRAY<INT>, map MAP<STRING, BIGINT>,"
          + " r ROW<x INT, y STRING>";

  private static final LogicalType ROW_DATA =
      DataTypes.ROW(
              DataTypes.BIGINT().notNull(),
              DataTypes.BIGINT().notNull(),
              DataTypes.BOOLEAN(),
              DataTypes.TINYINT(),
              DataTypes.SMALLINT(),
              DataTypes.INT(),
              DataTypes.FLOAT(),
              DataTypes.DOUBLE(),
              DataTypes.DECIMAL(10, 2),
              DataTypes.CHAR(3),
              DataTypes.BYTES(),
              DataTypes.DATE(),
              DataTypes.TIME(3),
              DataTypes.TIMESTAMP(6),
              DataTypes.TIMESTAMP_LTZ(3),
              DataTypes.ARRAY(DataTypes.INT()),
              DataTypes.MAP(DataTypes.STRING(), DataTypes.BIGINT()),
              DataTypes.ROW(DataTypes.INT(), DataTypes.STRING()))
          .getLogicalType();

  @TempDir Path folder;

  private final TestShards shards = new TestShards();
  private final ShardTarget shard = shards.shard("own");

  private StreamExecutionEnvironment env() {
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.getExecutionEnvironment(
            TestJobs.conf(folder.toUri() + "ckpt", 50));
    env.setParallelism(2);
    return env;
  }

  private ShardSink sink(String columns) {
    return TidemarkSink.forShard(shard.url(), SinkSettings.of("own"))
        .schema(columns)
        .eventTime("ts")
        .retain(null);
  }

  private static DataStream<Row> rows(StreamExecutionEnvironment env, List<Row> rows) {
    TypeInformation<Row> type = TypeInformation.of(Row.class);
    return env.fromData(rows, type)
        .uid("rows")
        .setParallelism(1)
        .assignTimestampsAndWatermarks(WatermarkStrategy.noWatermarks())
        .uid("marks")
        .setParallelism(1);
  }

  private static void run(StreamExecutionEnvironment env, DataStream<ShardCommit> commits)
      throws Exception {
    commits.sinkTo(new DiscardingSink<>()).uid("out");
    env.execute("own");
  }

  private static Row row(RowKind kind, long id, long time, String text) {
    return Row.ofKind(kind, id, time, text);
  }

  /** What is there at a time, each row as its columns' values. */
  private List<List<Object>> snapshot(long asOf) throws Exception {
    ShardLog log = new ShardLog(TestShards.open(shard));
    ShardState state = log.refresh();
    RowCodec codec = new RowCodec(state.schema());
    List<List<Object>> rows = new ArrayList<>();
    try (UpdateCursor cursor = new ShardReader(log).snapshot(state, asOf)) {
      while (cursor.next()) {
        assertThat(cursor.diff()).isEqualTo(1);
        rows.add(Arrays.asList(codec.decode(cursor.row(), cursor.rowOffset(), cursor.rowLength())));
      }
    }
    return rows;
  }

  @Test
  void aChangelogIsReadAtEachTime() throws Exception {
    StreamExecutionEnvironment env = env();
    List<Row> changes =
        List.of(
            row(RowKind.INSERT, 1, 10, "a"),
            row(RowKind.INSERT, 2, 10, null),
            row(RowKind.UPDATE_BEFORE, 1, 10, "a"),
            row(RowKind.UPDATE_AFTER, 1, 20, "b"),
            row(RowKind.INSERT, 3, 30, "c"),
            row(RowKind.DELETE, 2, 10, null)); // its time is that of the row which it takes away
    run(env, sink(COLUMNS).append(rows(env, changes)));
    assertThat(snapshot(30)).containsExactly(List.of(1L, 20L, "b"), List.of(3L, 30L, "c"));
    assertThat(snapshot(10))
        .containsExactly(Arrays.asList(1L, 10L, "a"), Arrays.asList(2L, 10L, null));
  }

  @Test
  void byKeyADeleteNeedsItsKeyOnly() throws Exception {
    StreamExecutionEnvironment env = env();
    List<Row> changes =
        List.of(
            row(RowKind.INSERT, 1, 10, "a"),
            row(RowKind.INSERT, 2, 10, "x"),
            row(RowKind.UPDATE_BEFORE, 1, 20, "never there"),
            row(RowKind.UPDATE_AFTER, 1, 20, "b"),
            row(RowKind.INSERT, 3, 30, "c"),
            row(RowKind.UPDATE_BEFORE, 3, 30, "c"),
            row(RowKind.UPDATE_AFTER, 4, 40, "moved"),
            row(RowKind.DELETE, 2, 10, "whatever"));
    run(env, sink(COLUMNS).envelope(Envelope.UPSERT).append(rows(env, changes)));
    assertThat(snapshot(10)).containsExactly(List.of(1L, 10L, "a"), List.of(2L, 10L, "x"));
    assertThat(snapshot(20)).containsExactly(List.of(1L, 20L, "b"), List.of(2L, 10L, "x"));
    assertThat(snapshot(30))
        .containsExactly(List.of(1L, 20L, "b"), List.of(2L, 10L, "x"), List.of(3L, 30L, "c"));
    assertThat(snapshot(40)).containsExactly(List.of(1L, 20L, "b"), List.of(4L, 40L, "moved"));
  }

  @Test
  void whatDoesNotFitBecomesAnErrorRow() throws Exception {
    StreamExecutionEnvironment env = env();
    List<Row> changes =
        List.of(
            row(RowKind.INSERT, 1, 10, "good"),
            row(RowKind.DELETE, 1, 20, "good"),
            Row.of(2L, 30L),
            Row.of("3", 40L, "text"),
            Row.of(4L, null, "no time"),
            row(RowKind.INSERT, 9, 40, "last"));
    run(env, sink(COLUMNS).envelope(Envelope.APPEND).append(rows(env, changes)));
    assertThat(snapshot(40)).containsExactly(List.of(1L, 10L, "good"), List.of(9L, 40L, "last"));
    assertThat(TestShards.errors(shard, 40))
        .hasSize(4)
        .anySatisfy(
            error -> assertThat(error).contains("takes another away", "changelog or upsert"))
        .anySatisfy(error -> assertThat(error).contains("a row of 2 fields for 3 columns"))
        .anySatisfy(
            error -> assertThat(error).contains("column id: a String, but BIGINT takes an integer"))
        .anySatisfy(error -> assertThat(error).contains("column ts: NULL, but it is NOT NULL"));
  }

  @Test
  void rowsAndRowDataOfAllTypesAreTheSame() throws Exception {
    StreamExecutionEnvironment env = env();
    Row row = Row.withNames();
    row.setField("id", 7); // an Integer will do
    row.setField("ts", 10L);
    row.setField("flag", true);
    row.setField("tiny", (byte) -1);
    row.setField("small", (short) 300);
    row.setField("n", 5);
    row.setField("f", 1.5f);
    row.setField("d", -0.25);
    row.setField("dec", new BigDecimal("12.3"));
    row.setField("c", "abc");
    row.setField("b", new byte[] {1, 2});
    row.setField("day", LocalDate.of(1969, 12, 31));
    row.setField("t", LocalTime.of(23, 59, 59, 999_000_000));
    row.setField("local", LocalDateTime.of(2026, 3, 29, 2, 30, 0, 123_456_000));
    row.setField("zoned", Instant.ofEpochMilli(-1));
    row.setField("list", new int[] {3, 1});
    row.setField("map", Map.of("k", 9L));
    row.setField("r", Row.of(4, "y"));
    Row empty = Row.withNames();
    empty.setField("id", 8L);
    empty.setField("ts", 10L);
    run(env, sink(ALL).append(rows(env, List.of(row, empty))));
    List<List<Object>> rows = snapshot(10);
    assertThat(rows).hasSize(2);
    assertThat(rows.get(1)).containsOnlyOnce(8L).containsOnlyOnce(10L).hasSize(18);

    ShardTarget other = shards.shard("data");
    RowData data =
        GenericRowData.of(
            7L,
            10L,
            true,
            (byte) -1,
            (short) 300,
            5,
            1.5f,
            -0.25,
            DecimalData.fromBigDecimal(new BigDecimal("12.30"), 10, 2),
            StringData.fromString("abc"),
            new byte[] {1, 2},
            -1,
            86_399_999,
            TimestampData.fromLocalDateTime(LocalDateTime.of(2026, 3, 29, 2, 30, 0, 123_456_000)),
            TimestampData.fromEpochMillis(-1),
            new GenericArrayData(new int[] {3, 1}),
            new GenericMapData(Map.of(StringData.fromString("k"), 9L)),
            GenericRowData.of(4, StringData.fromString("y")));
    StreamExecutionEnvironment second = env();
    DataStream<RowData> stream =
        second.fromData(List.of(data), InternalTypeInfo.of(ROW_DATA)).uid("rows").setParallelism(1);
    run(
        second,
        TidemarkSink.forShard(other.url(), SinkSettings.of("own"))
            .schema(ALL)
            .eventTime("ts")
            .appendRowData(stream));
    ShardLog log = new ShardLog(TestShards.open(other));
    RowCodec codec = new RowCodec(log.refresh().schema());
    try (UpdateCursor cursor = new ShardReader(log).snapshot(log.known(), 10)) {
      assertThat(cursor.next()).isTrue();
      Object[] values = codec.decode(cursor.row(), cursor.rowOffset(), cursor.rowLength());
      assertThat(values).usingRecursiveComparison().isEqualTo(rows.get(0).toArray());
    }
  }

  @Test
  void whatIsMissingIsSaidBeforeTheJobStarts() {
    StreamExecutionEnvironment env = env();
    DataStream<Row> rows =
        env.fromData(List.of(Row.of(1L)), Types.ROW(Types.LONG)).uid("rows").setParallelism(1);
    assertThatThrownBy(
            () -> TidemarkSink.forShard(shard.url(), SinkSettings.of("own")).append(rows))
        .hasMessageContaining("say what its columns are");
    assertThatThrownBy(() -> sink("id BIGINT, ts BIGINT").envelope(Envelope.UPSERT).append(rows))
        .hasMessageContaining("needs a PRIMARY KEY");
    assertThatThrownBy(() -> sink("id BIGINT").append(rows))
        .hasMessageContaining("has no column ts");
  }
}
