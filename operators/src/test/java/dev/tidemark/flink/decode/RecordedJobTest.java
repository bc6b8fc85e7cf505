package dev.tidemark.flink.decode;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.flink.FilesJob;
import dev.tidemark.flink.InputCounts;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SinkSettings;
import dev.tidemark.flink.StartMode;
import dev.tidemark.flink.TestJobs;
import dev.tidemark.flink.TestShards;
import dev.tidemark.flink.decode.TableMapping.Match;
import dev.tidemark.flink.decode.TableMapping.MatchKind;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.ShardReader;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.SpineSpec;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Recordings of a connector through whole jobs: what the shards hold is what the database held. */
class RecordedJobTest {
  @RegisterExtension
  static final MiniClusterExtension FLINK = TestJobs.cluster(new Configuration(), 2 * 8);

  @TempDir Path folder;

  private final String store = "memory:" + UUID.randomUUID() + "/";
  private final List<ShardTarget> shards = new ArrayList<>();
  private final List<TableMapping> tables = new ArrayList<>();

  private RecordedJobTest table(String name, Envelope envelope, String schema) {
    shards.add(
        new ShardTarget(store + name, name, Schema.parse(schema, 1), SpineSpec.DEFAULT, null));
    Match match = new Match(MatchKind.TABLE, "", "public." + name);
    tables.add(new TableMapping(tables.size(), match, envelope, null));
    return this;
  }

  private JobExecutionResult run(Path file, int parallelism, StartMode start) throws Exception {
    SinkSettings settings = TestShards.settings(1, 8 << 20, 64 << 10).withStart(start);
    DecodeSettings decode =
        new DecodeSettings(
            DecodeSettings.Format.DEBEZIUM_JSON,
            DebeziumSettings.DEFAULT,
            tables,
            false,
            false,
            Long.MAX_VALUE - 1,
            Long.MAX_VALUE);
    return new FilesJob(folder, 200, parallelism, decode, shards, settings).run(file);
  }

  private static Path resource(String name) throws URISyntaxException {
    return Path.of(
        Objects.requireNonNull(RecordedJobTest.class.getResource("/cdc/" + name)).toURI());
  }

  private Map<ByteBuffer, Long> held(int shard, long asOfMillis) throws Exception {
    ShardLog log = new ShardLog(TestShards.open(shards.get(shard)));
    ShardState state = log.refresh();
    long at = asOfMillis == Long.MAX_VALUE ? state.upper().time() - 1 : asOfMillis;
    Map<ByteBuffer, Long> rows = new HashMap<>();
    try (UpdateCursor all = new ShardReader(log).snapshot(state, at)) {
      while (all.next()) {
        int begin = all.rowOffset();
        byte[] row = Arrays.copyOfRange(all.row(), begin, begin + all.rowLength());
        rows.merge(ByteBuffer.wrap(row), all.diff(), Long::sum);
      }
    }
    return rows;
  }

  private List<String> texts(int shard, long asOfMillis) throws Exception {
    RowCodec codec = new RowCodec(shards.get(shard).schema());
    List<String> texts = new ArrayList<>();
    held(shard, asOfMillis)
        .forEach(
            (row, count) ->
                texts.add(count + Replay.text(codec.decode(row.array(), 0, row.array().length))));
    texts.sort(null);
    return texts;
  }

  private void assertHeld(String oracle, String ending, long asOfMillis) throws Exception {
    for (int shard = 0; shard < shards.size(); shard++) {
      ShardTarget target = shards.get(shard);
      RowCodec codec = new RowCodec(target.schema());
      Map<ByteBuffer, Long> rows = new HashMap<>();
      for (Object[] row : PgCopy.read(oracle + target.name() + ending, target.schema())) {
        rows.merge(ByteBuffer.wrap(codec.encode(row)), 1L, Long::sum);
      }
      assertThat(rows.equals(held(shard, asOfMillis))).as(target.name() + " at " + oracle).isTrue();
    }
  }

  @Test
  void pgbenchAtMomentsInBetween() throws Exception {
    RecordedBenchTest.SCHEMAS.forEach(
        (name, schema) ->
            table(
                name, name.equals("pgbench_history") ? Envelope.APPEND : Envelope.UPSERT, schema));
    run(resource("pg-bench-default/events.jsonl.gz"), 4, StartMode.REFUSE);
    assertHeld("cdc/pg-bench-default/oracle/moment1.", ".csv.gz", 1_795_996_159_668L);
    assertHeld("cdc/pg-bench-default/oracle/moment2.", ".csv.gz", 1_795_996_167_897L);
    assertHeld("cdc/pg-bench-default/oracle/final.", ".csv.gz", Long.MAX_VALUE);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  @DisplayName("P-CD-05, P-CD-08: truncates and changes of keys, whatever the parallelism")
  void truncatesAndChangesOfKeys(int parallelism) throws Exception {
    table("keys_text", Envelope.UPSERT, RecordedChangesTest.KEYS_TEXT)
        .table("keys_uuid", Envelope.UPSERT, RecordedChangesTest.KEYS_TEXT)
        .table("keys_composite", Envelope.UPSERT, RecordedChangesTest.KEYS_COMPOSITE)
        .table("toast_full", Envelope.UPSERT, RecordedChangesTest.TOAST);
    run(resource("pg-types/precise-adaptive.jsonl.gz"), parallelism, StartMode.REFUSE);
    assertHeld("cdc/pg-types/oracle/final.", ".csv", Long.MAX_VALUE);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  @DisplayName("P-CD-11: many changes of one key at one time, whatever the parallelism")
  void manyChangesAtOneTime(int parallelism) throws Exception {
    table("t", Envelope.UPSERT, "id INT NOT NULL, v STRING, PRIMARY KEY (id) NOT ENFORCED");
    List<String> lines = new ArrayList<>();
    for (int round = 0; round < 200; round++) {
      for (int id = 0; id < 7; id++) {
        lines.add(line(round == 0 ? "c" : "u", id, "\"v" + round + "\"", 5_000));
      }
      if (round == 100) {
        lines.add(line("d", 3, "\"v100\"", 5_000));
      }
    }
    run(Files.write(folder.resolve("a.jsonl"), lines), parallelism, StartMode.REFUSE);
    assertThat(texts(0, Long.MAX_VALUE))
        .containsExactly(
            "1[0, v199]",
            "1[1, v199]",
            "1[2, v199]",
            "1[3, v199]",
            "1[4, v199]",
            "1[5, v199]",
            "1[6, v199]");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 8})
  @DisplayName("P-TY-01: zero and minus zero are one key, whatever the parallelism")
  void zeroAndMinusZeroAreOneKey(int parallelism) throws Exception {
    table("t", Envelope.UPSERT, "id DOUBLE NOT NULL, v STRING, PRIMARY KEY (id) NOT ENFORCED");
    List<String> lines = new ArrayList<>();
    for (String zero : List.of("0.0", "-0.0", "0", "-0")) {
      lines.add(line("c", "0.0", "\"goes\"", 1_000 * lines.size()));
      lines.add(line("d", zero, "\"goes\"", 1_000 * lines.size()));
      lines.add(line("c", zero, "\"by " + zero + "\"", 1_000 * lines.size()));
    }
    run(Files.write(folder.resolve("a.jsonl"), lines), parallelism, StartMode.REFUSE);
    assertThat(texts(0, Long.MAX_VALUE)).containsExactly("1[0.0, by -0]");
    assertThat(texts(0, 4)).isEmpty();
    assertThat(texts(0, 5)).containsExactly("1[0.0, by -0.0]");
  }

  private static String line(String op, int id, String v, long micros) {
    return line(op, String.valueOf(id), v, micros);
  }

  private static String line(String op, String id, String v, long micros) {
    String row =
        op.equals("t") ? "null" : "{\"id\":" + id + ",\"v\":" + v + ",\"n\":" + micros + "}";
    return "{\"key\":"
        + (op.equals("t") ? "null" : "{\"id\":" + id + "}")
        + ",\"value\":{\"before\":"
        + (op.equals("d") ? row : "null")
        + ",\"after\":"
        + (op.equals("d") ? "null" : row)
        + ",\"source\":{\"ts_us\":"
        + micros
        + ",\"schema\":\"public\",\"table\":\"t\"},\"op\":\""
        + op
        + "\"}}";
  }

  /** A job without state takes from the shard what its records don't say. */
  @ParameterizedTest
  @EnumSource(names = {"APPEND", "RESUME_BY_TIME"})
  void whatTheShardHasIsKnownWithoutState(StartMode start) throws Exception {
    table("t", Envelope.UPSERT, "id INT NOT NULL, v STRING, n INT, PRIMARY KEY (id) NOT ENFORCED");
    String large = "x".repeat(20_000);
    List<String> lines =
        new ArrayList<>(
            List.of(line("c", 1, "\"" + large + "\"", 1_000), line("c", 2, "\"b\"", 2_000)));
    run(Files.write(folder.resolve("a.jsonl"), lines), 2, StartMode.REFUSE);
    String marker = "\"" + DebeziumValues.PLACEHOLDER + "\"";
    List<String> next =
        List.of(
            line("u", 1, marker, 9_000),
            line("u", 7, marker, 9_000),
            line("t", 0, "null", 10_000),
            line("c", 3, "\"c\"", 11_000));
    if (start == StartMode.RESUME_BY_TIME) {
      lines.addAll(next);
    } else {
      lines = next;
    }
    JobExecutionResult result = run(Files.write(folder.resolve("b.jsonl"), lines), 2, start);
    assertThat(texts(0, 9)).containsExactly("1[1, " + large + ", 9000]", "1[2, b, 2000]");
    assertThat(texts(0, 10)).isEmpty();
    assertThat(texts(0, Long.MAX_VALUE)).containsExactly("1[3, c, 11000]");
    Object errors = result.getAccumulatorResult(InputCounts.name("t", InputCounts.Fate.ERROR));
    assertThat(errors).isEqualTo(1L);
  }
}
