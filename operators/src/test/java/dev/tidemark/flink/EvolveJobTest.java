package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.flink.decode.DecodeSettings;
import dev.tidemark.flink.decode.Envelope;
import dev.tidemark.flink.decode.TableMapping;
import dev.tidemark.schema.Column;
import dev.tidemark.schema.Schema;
import dev.tidemark.spine.SpineSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A shard's schema follows the job's. */
class EvolveJobTest {
  @RegisterExtension static final MiniClusterExtension FLINK = TestJobs.cluster();

  private static final String KEY = ", PRIMARY KEY (k) NOT ENFORCED";
  private static final String FIRST = "k INT NOT NULL, ts BIGINT NOT NULL, v STRING, n INT" + KEY;
  private static final String SECOND =
      "k INT NOT NULL, ts BIGINT NOT NULL, n BIGINT, w VARCHAR(5)" + KEY;
  private static final String THIRD =
      "k INT NOT NULL, ts BIGINT NOT NULL, v BOOLEAN, n BIGINT, w STRING" + KEY;

  @TempDir Path folder;

  private static ShardTarget shard(String name, String schema, boolean evolves) {
    return new ShardTarget(
        "memory:evolve/" + name, name, Schema.parse(schema, 1), SpineSpec.DEFAULT, null, evolves);
  }

  private void run(ShardTarget shard, Envelope envelope, String... lines) throws Exception {
    Path file = Files.write(folder.resolve("input.jsonl"), List.of(lines));
    DecodeSettings decode = FilesJob.json(true, new TableMapping(0, null, envelope, "ts"));
    SinkSettings settings = TestShards.settings(1, 1 << 20, 64 << 10).withStart(StartMode.APPEND);
    new FilesJob(folder, 50, 2, decode, List.of(shard), settings).run(file);
  }

  private static List<String> rows(ShardTarget shard, long asOfMillis) throws Exception {
    List<String> rows = new ArrayList<>();
    TestShards.read(
        shard,
        asOfMillis,
        (row, times) -> {
          assertThat(times).isOne();
          rows.add(Arrays.toString(row));
        });
    return rows;
  }

  private static long last(ShardTarget shard) throws Exception {
    return TestShards.state(shard).upper().time() - 1;
  }

  @Test
  void columnsComeAndGoAndWiden() throws Exception {
    ShardTarget shard = shard("by-key", FIRST, true);
    run(
        shard,
        Envelope.UPSERT,
        "{\"k\":1,\"ts\":10,\"v\":\"a\",\"n\":1}",
        "{\"k\":2,\"ts\":11,\"v\":\"b\",\"n\":2}",
        "{\"k\":3,\"ts\":12,\"v\":\"c\",\"n\":3}");
    final long then = last(shard);

    shard = shard("by-key", SECOND, true);
    run(
        shard,
        Envelope.UPSERT,
        "{\"k\":2,\"ts\":20,\"n\":9223372036854775807,\"w\":\"new\"}",
        "{\"k\":3,\"ts\":20,\"n\":3}"); // by its time alone it differs
    assertThat(TestShards.state(shard).schemas()).hasSize(2);
    assertThat(rows(shard, last(shard)))
        .containsExactly(
            "[1, 10, 1, null]", "[2, 20, 9223372036854775807, new]", "[3, 20, 3, null]");
    assertThat(rows(shard, then))
        .containsExactly("[1, 10, 1, null]", "[2, 11, 2, null]", "[3, 12, 3, null]");

    shard = shard("by-key", THIRD, true);
    run(
        shard,
        Envelope.UPSERT,
        "{\"k\":1,\"ts\":30,\"v\":true,\"n\":1,\"w\":\"longer than five\"}");
    assertThat(rows(shard, last(shard)))
        .containsExactly(
            "[1, 30, true, 1, longer than five]",
            "[2, 20, null, 9223372036854775807, new]",
            "[3, 20, null, 3, null]");
    assertThat(TestShards.state(shard).schema().columns().stream().map(Column::id))
        .as("the name came back, its id didn't")
        .containsExactly(1, 2, 6, 4, 5);

    ShardTarget kept = shard("by-key", FIRST, false);
    assertThatThrownBy(() -> run(kept, Envelope.UPSERT, "{\"k\":1,\"ts\":40}"))
        .hasStackTraceContaining("column v can't become STRING from BOOLEAN");
    ShardTarget unasked = shard("by-key", THIRD.replace(", n BIGINT", ""), false);
    assertThatThrownBy(() -> run(unasked, Envelope.UPSERT, "{\"k\":1,\"ts\":40}"))
        .hasStackTraceContaining("schema.change = evolve");
  }

  @Test
  void rowsWithoutAKeyGetColumns() throws Exception {
    ShardTarget shard = shard("plain", "v STRING, ts BIGINT NOT NULL", true);
    run(shard, Envelope.APPEND, "{\"v\":\"b\",\"ts\":1}", "{\"v\":\"a\",\"ts\":2}");
    shard = shard("plain", "n INT, v STRING, ts BIGINT NOT NULL, w INT", true);
    run(shard, Envelope.APPEND, "{\"n\":1,\"v\":\"a\",\"ts\":3,\"w\":5}");
    assertThat(rows(shard, last(shard)))
        .containsExactly("[null, a, 2, null]", "[null, b, 1, null]", "[1, a, 3, 5]");
  }
}
