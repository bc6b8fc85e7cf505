package dev.tidemark.flink.source;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.StartSettings;
import dev.tidemark.flink.decode.DebeziumSettings;
import dev.tidemark.flink.decode.DebeziumSettings.Binary;
import dev.tidemark.flink.decode.DebeziumSettings.Decimals;
import dev.tidemark.flink.decode.DebeziumSettings.Lines;
import dev.tidemark.flink.decode.DebeziumSettings.Shape;
import dev.tidemark.flink.decode.DebeziumSettings.Times;
import dev.tidemark.flink.decode.DecodeSettings;
import dev.tidemark.flink.decode.DecodeSettings.Format;
import dev.tidemark.flink.decode.Envelope;
import dev.tidemark.flink.decode.TableMapping;
import dev.tidemark.flink.decode.TableMapping.Match;
import dev.tidemark.flink.decode.TableMapping.MatchKind;
import dev.tidemark.flink.message.Update;
import dev.tidemark.flink.source.SourceSettings.Order;
import dev.tidemark.row.RowCodec;
import dev.tidemark.schema.Schema;
import dev.tidemark.spine.SpineSpec;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.GZIPOutputStream;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files through a real job: every record once, in order where that counts, failures included. */
class FilesJobTest {
  @RegisterExtension
  static final MiniClusterExtension FLINK =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(8)
              .build());

  private static final Schema ROWS =
      Schema.parse(
          "k STRING NOT NULL, ts BIGINT NOT NULL, v STRING, PRIMARY KEY (k) NOT ENFORCED", 1);

  @TempDir Path folder;

  private static ShardTarget shard(String name, Schema schema) {
    return new ShardTarget("memory:test/" + name, name, schema, SpineSpec.DEFAULT, null);
  }

  private JobExecutionResult run(
      String id,
      boolean fails,
      int parallelism,
      SourceSettings source,
      DecodeSettings decode,
      List<ShardTarget> shards)
      throws Exception {
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(conf());
    env.setParallelism(parallelism);
    env.enableCheckpointing(50, CheckpointingMode.EXACTLY_ONCE);
    Updates.of(
            env,
            source,
            decode,
            new SourceSettings.Watermarks(Duration.ZERO, null),
            shards,
            new SlotKeys(shards.size(), 2, 128),
            StartSettings.REFUSE)
        .transform("tally", Update.TYPE, new Tally(id, fails))
        .uid("tally")
        .setParallelism(1)
        .sinkTo(new DiscardingSink<>())
        .uid("sink");
    return env.execute(id);
  }

  private static Configuration conf() {
    Configuration conf = new Configuration();
    conf.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    conf.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 3);
    conf.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(10));
    conf.set(PipelineOptions.GENERIC_TYPES, false);
    conf.set(PipelineOptions.AUTO_GENERATE_UIDS, false);
    return conf;
  }

  private void write(String name, int from, int to) throws IOException {
    try (OutputStream file = Files.newOutputStream(folder.resolve(name));
        OutputStream out = name.endsWith(".gz") ? new GZIPOutputStream(file) : file) {
      for (int i = from; i < to; i++) {
        String line = "{\"k\":\"k" + i + "\",\"ts\":" + i + ",\"v\":\"" + "x".repeat(100) + "\"}\n";
        out.write(line.getBytes(StandardCharsets.UTF_8));
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"1, NAME", "4, NAME", "4, ANY"})
  void everyRecordOnceThroughAFailure(int parallelism, Order order) throws Exception {
    int rows = 30_000;
    write("a.jsonl", 0, rows / 3);
    write("b.jsonl.gz", rows / 3, rows / 3 * 2);
    Files.createFile(folder.resolve("c.jsonl"));
    write("d.jsonl", rows / 3 * 2, rows);
    String id = "once-" + parallelism + "-" + order;
    TableMapping mapping = new TableMapping(0, null, Envelope.APPEND, "ts");
    DecodeSettings decode =
        new DecodeSettings(
            Format.JSON,
            DebeziumSettings.DEFAULT,
            List.of(mapping),
            true,
            false,
            Long.MAX_VALUE - 1,
            Long.MAX_VALUE);
    JobExecutionResult result =
        run(
            id,
            true,
            parallelism,
            new SourceSettings.Files(List.of(folder.toString()), order, "auto"),
            decode,
            List.of(shard("rows", ROWS)));

    assertThat(Tally.failed(id)).as("the job failed once").isTrue();
    assertThat(Tally.result(id)).hasSize(rows).allSatisfy((row, n) -> assertThat(n).isOne());
    assertThat(result.<Long>getAccumulatorResult("tidemark.read")).isEqualTo(rows);
    assertThat(result.<Long>getAccumulatorResult("tidemark.rows.stored")).isEqualTo(rows);
    assertThat(result.<Long>getAccumulatorResult("tidemark.rows.error")).isZero();
  }

  @Test
  void changesOfManyTablesKeepTheirOrder() throws Exception {
    try (var in = FilesJobTest.class.getResourceAsStream("/cdc/pg-tx/plain.jsonl.gz")) {
      Files.copy(in, folder.resolve("plain.jsonl.gz"));
    }
    Schema orders =
        Schema.parse(
            "order_id INT NOT NULL, status STRING, total DECIMAL(12, 2),"
                + " PRIMARY KEY (order_id) NOT ENFORCED",
            1);
    Schema audit = Schema.parse("what STRING, n INT, at TIMESTAMP_LTZ(6)", 1);
    List<ShardTarget> shards = List.of(shard("orders", orders), shard("audit_nopk", audit));
    List<TableMapping> tables = new ArrayList<>();
    for (int i = 0; i < shards.size(); i++) {
      Match match = new Match(MatchKind.TABLE, "", "public." + shards.get(i).name());
      tables.add(new TableMapping(i, match, i == 0 ? Envelope.UPSERT : Envelope.CHANGELOG, null));
    }
    DebeziumSettings debezium =
        new DebeziumSettings(
            Lines.KEY_VALUE, Shape.ENVELOPE, Decimals.STRING, Times.ADAPTIVE, Binary.BASE64);
    DecodeSettings decode =
        new DecodeSettings(
            Format.DEBEZIUM_JSON,
            debezium,
            tables,
            false,
            false,
            Long.MAX_VALUE - 1,
            Long.MAX_VALUE);
    JobExecutionResult result =
        run(
            "many",
            false,
            4,
            new SourceSettings.Files(
                List.of(folder.resolve("*.gz").toString()), Order.NAME, "auto"),
            decode,
            shards);

    Map<String, Long> expected = new TreeMap<>();
    try (var lines = Files.lines(oracle("orders"))) {
      RowCodec codec = new RowCodec(orders);
      for (String line : lines.skip(1).toList()) {
        String[] fields = line.split(",", -1);
        byte[] row =
            codec.encode(
                new Object[] {
                  Integer.valueOf(fields[0]), fields[1], new java.math.BigDecimal(fields[2])
                });
        expected.put("0:" + HexFormat.of().formatHex(row), 1L);
      }
    }
    Map<String, Long> actual = Tally.result("many");
    actual.keySet().removeIf(row -> !row.startsWith("0:"));
    assertThat(actual).isEqualTo(expected);
    long read = result.<Long>getAccumulatorResult("tidemark.read");
    long ignored = result.<Long>getAccumulatorResult("tidemark.ignored");
    long sum = ignored;
    for (ShardTarget shard : shards) {
      for (String fate : List.of("stored", "error", "late", "replayed", "ignored")) {
        Long count = result.getAccumulatorResult("tidemark." + shard.name() + "." + fate);
        sum += count;
      }
    }
    assertThat(read).isEqualTo(7013L).isEqualTo(sum);
  }

  private static DecodeSettings one(Format format) {
    return new DecodeSettings(
        format,
        DebeziumSettings.DEFAULT,
        List.of(new TableMapping(0, null, Envelope.APPEND, "ts")),
        true,
        false,
        Long.MAX_VALUE - 1,
        Long.MAX_VALUE);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 8})
  @DisplayName("P-IN-05: quoted line ends and delimiters, and a split size far below the file's")
  void quotedLineEndsAreNeverSplit(int parallelism) throws Exception {
    StringBuilder text = new StringBuilder("k,v,ts\n");
    for (int i = 0; i < 5_000; i++) {
      text.append("k").append(i);
      text.append(",\"first line\nsays \"\"stop\"\", then\nthird\",1714521600000\n");
    }
    Files.writeString(folder.resolve("quoted.csv"), text);
    String id = "quoted-" + parallelism;
    JobExecutionResult result =
        run(
            id,
            false,
            parallelism,
            new SourceSettings.Files(List.of(folder.toString()), Order.ANY, "auto"),
            one(Format.CSV),
            List.of(shard("rows", ROWS)));
    assertThat(result.<Long>getAccumulatorResult("tidemark.read")).isEqualTo(5_000);
    assertThat(result.<Long>getAccumulatorResult("tidemark.rows.error")).isZero();
    RowCodec codec = new RowCodec(ROWS);
    assertThat(Tally.result(id)).hasSize(5_000);
    for (String row : Tally.result(id).keySet()) {
      byte[] bytes = HexFormat.of().parseHex(row.substring(2));
      assertThat(codec.decode(bytes, 0, bytes.length)[2])
          .isEqualTo("first line\nsays \"stop\", then\nthird");
    }
  }

  @Test
  @DisplayName("P-IN-07: a compressed file, broken off at 30 % and at 90 %")
  void aCompressedFileIsRestoredInItsMiddle() throws Exception {
    int rows = Integer.getInteger("tidemark.gzip.rows", 100_000);
    try (OutputStream out =
        new GZIPOutputStream(Files.newOutputStream(folder.resolve("data.jsonl.gz")))) {
      for (int i = 0; i < rows; i++) {
        String line = "{\"k\":\"" + i + "\",\"ts\":" + i + ",\"v\":\"same\"}\n";
        out.write(line.getBytes(StandardCharsets.UTF_8));
      }
    }
    Once.begin(rows);
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(conf());
    env.setParallelism(4);
    env.enableCheckpointing(50, CheckpointingMode.EXACTLY_ONCE);
    List<ShardTarget> shards = List.of(shard("rows", ROWS));
    Updates.of(
            env,
            new SourceSettings.Files(List.of(folder.toString()), Order.ANY, "auto"),
            one(Format.JSON),
            new SourceSettings.Watermarks(Duration.ZERO, null),
            shards,
            new SlotKeys(1, 2, 128),
            StartSettings.REFUSE)
        .transform("once", Update.TYPE, new Once())
        .uid("once")
        .setParallelism(1)
        .sinkTo(new DiscardingSink<>())
        .uid("sink");
    JobExecutionResult result = env.execute("gzip");
    assertThat(Once.failures()).isEqualTo(2);
    assertThat(Once.found()).as("each row once").isEqualTo(rows);
    assertThat(result.<Long>getAccumulatorResult("tidemark.read")).isEqualTo(rows);
  }

  private static Path oracle(String table) throws Exception {
    return Path.of(
        FilesJobTest.class.getResource("/cdc/pg-tx/oracle/final." + table + ".csv").toURI());
  }
}
