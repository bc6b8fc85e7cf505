package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.flink.decode.DecodeSettings;
import dev.tidemark.flink.decode.Envelope;
import dev.tidemark.flink.decode.TableMapping;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.SpineSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Jobs that begin without Flink state on a shard that has data. */
class StartJobTest {
  @RegisterExtension static final MiniClusterExtension FLINK = TestJobs.cluster();

  private static final Schema SCHEMA =
      Schema.parse("k INT NOT NULL, ts BIGINT NOT NULL, v STRING, PRIMARY KEY (k) NOT ENFORCED", 1);

  @TempDir Path folder;

  private static ShardTarget shard(String name) {
    return new ShardTarget("memory:start/" + name, name, SCHEMA, SpineSpec.DEFAULT, null);
  }

  /** Lines with keys of a range, {@code time = key + from}, and a bad one at the end of each. */
  private Path file(String name, int begin, int end, String value, long from) throws Exception {
    StringBuilder lines = new StringBuilder();
    for (int key = begin; key < end; key++) {
      lines.append(String.format("{\"k\":%d,\"ts\":%d,\"v\":\"%s\"}%n", key, key + from, value));
    }
    return Files.writeString(folder.resolve(name), lines.append("{bad\n"));
  }

  private JobExecutionResult run(ShardTarget shard, Envelope envelope, StartMode start, Path file)
      throws Exception {
    DecodeSettings decode = FilesJob.json(false, new TableMapping(0, null, envelope, "ts"));
    SinkSettings settings = TestShards.settings(1, 1 << 20, 64 << 10).withStart(start);
    return new FilesJob(folder, 50, 2, decode, List.of(shard), settings).run(file);
  }

  /** How often each row is there: {@code k=v}. */
  private static Map<String, Long> rows(ShardTarget shard) throws Exception {
    Map<String, Long> rows = new TreeMap<>();
    TestShards.read(shard, (row, times) -> rows.merge(row[0] + "=" + row[2], times, Long::sum));
    return rows;
  }

  private static int errors(ShardTarget shard) throws Exception {
    return TestShards.errors(shard, TestShards.state(shard).upper().time() - 1).size();
  }

  private static long count(JobExecutionResult result, ShardTarget shard, InputCounts.Fate fate) {
    return result.<Long>getAccumulatorResult(InputCounts.name(shard.name(), fate));
  }

  @ParameterizedTest
  @EnumSource(names = {"APPEND", "UPSERT"})
  void whatIsThereIsReplayedByTimeAndWhatIsNotIsStored(Envelope envelope) throws Exception {
    ShardTarget shard = shard("resume-" + envelope);
    run(shard, envelope, StartMode.REFUSE, file("a.jsonl", 0, 500, "a", 1_000));
    ShardState first = TestShards.state(shard);
    Map<String, Long> rows = rows(shard);
    assertThat(rows).hasSize(500);

    JobExecutionResult same =
        run(shard, envelope, StartMode.RESUME_BY_TIME, folder.resolve("a.jsonl"));
    assertThat(count(same, shard, InputCounts.Fate.REPLAYED)).isEqualTo(501);
    assertThat(count(same, shard, InputCounts.Fate.STORED)).isZero();
    assertThat(TestShards.state(shard).upper()).isEqualTo(first.upper());
    assertThat(rows(shard)).isEqualTo(rows);

    JobExecutionResult more =
        run(shard, envelope, StartMode.RESUME_BY_TIME, file("b.jsonl", 0, 800, "a", 1_000));
    assertThat(count(more, shard, InputCounts.Fate.REPLAYED)).isEqualTo(500);
    assertThat(count(more, shard, InputCounts.Fate.STORED)).isEqualTo(300);
    assertThat(count(more, shard, InputCounts.Fate.ERROR)).isOne();
    assertThat(rows(shard)).hasSize(800).allSatisfy((row, n) -> assertThat(n).isOne());
    assertThat(errors(shard)).isEqualTo(2);
  }

  @Test
  void newRowsOfOldTimesComeBehindWhatIsThere() throws Exception {
    ShardTarget shard = shard("append");
    run(shard, Envelope.APPEND, StartMode.REFUSE, file("a.jsonl", 0, 500, "a", 1_000));
    long upper = TestShards.state(shard).upper().time();
    JobExecutionResult again =
        run(shard, Envelope.APPEND, StartMode.APPEND, folder.resolve("a.jsonl"));
    assertThat(count(again, shard, InputCounts.Fate.STORED)).isEqualTo(500);
    assertThat(count(again, shard, InputCounts.Fate.REPLAYED)).isZero();
    assertThat(TestShards.state(shard).upper().time()).isEqualTo(upper + 1);
    assertThat(rows(shard)).hasSize(500).allSatisfy((row, n) -> assertThat(n).isEqualTo(2));
    assertThat(errors(shard)).as("one line of one file, there twice").isOne();
  }

  @Test
  void newRowsReplaceThoseOfTheSameKeys() throws Exception {
    ShardTarget shard = shard("append-by-key");
    run(shard, Envelope.UPSERT, StartMode.REFUSE, file("a.jsonl", 0, 500, "a", 1_000));
    JobExecutionResult next =
        run(shard, Envelope.UPSERT, StartMode.APPEND, file("b.jsonl", 400, 600, "b", 0));
    assertThat(count(next, shard, InputCounts.Fate.STORED)).isEqualTo(200);
    Map<String, Long> expected = new TreeMap<>();
    for (int key = 0; key < 600; key++) {
      expected.put(key + "=" + (key < 400 ? "a" : "b"), 1L);
    }
    assertThat(rows(shard)).isEqualTo(expected);
  }
}
