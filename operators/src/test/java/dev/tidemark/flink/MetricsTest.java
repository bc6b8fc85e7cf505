package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;

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
import dev.tidemark.schema.Schema;
import dev.tidemark.spine.SpineSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The metrics of a job are those of docs/operations.md, by name and operator, and no others. */
@Timeout(120)
final class MetricsTest {
  /** {@code | `tidemark.<shard>.upper` | append | ...}, some operators separated by commas. */
  private static final Pattern ROW =
      Pattern.compile("\\| `(tidemark\\.[^`]+)` \\| ([a-z]+(?:, [a-z]+)*) \\|.*");

  /** What a reporter calls one: the operator, its subtask, the name. */
  private static final Pattern IDENTIFIER =
      Pattern.compile(".*\\.([^.]+)\\.\\d+\\.(tidemark\\..*)");

  private static final String SHARD = "orders";

  private static final InMemoryReporter METRICS = InMemoryReporter.createWithRetainedMetrics();

  @RegisterExtension
  static final MiniClusterExtension CLUSTER =
      TestJobs.cluster(METRICS.addToConfiguration(new Configuration()));

  @TempDir Path folder;

  private static Set<String> documented() throws Exception {
    Path docs = Path.of(System.getProperty("tidemark.root"), "docs", "operations.md");
    Set<String> names = new TreeSet<>();
    for (String line : Files.readAllLines(docs)) {
      Matcher row = ROW.matcher(line);
      if (row.matches()) {
        for (String operator : row.group(2).split(", ", -1)) {
          assertThat(names.add(operator + " " + row.group(1))).as("twice: " + line).isTrue();
        }
      }
    }
    return names;
  }

  private static Set<String> registered() {
    Set<String> names = new TreeSet<>();
    METRICS
        .getMetricsByGroup()
        .forEach(
            (group, metrics) -> {
              for (String metric : metrics.keySet()) {
                Matcher parts = IDENTIFIER.matcher(group.getMetricIdentifier(metric));
                if (parts.matches()) {
                  String operator = parts.group(1).replaceFirst("^Source: ", "");
                  names.add(operator + " " + documentedName(parts.group(2)));
                }
              }
            });
    return names;
  }

  private static String documentedName(String name) {
    return name.replaceFirst("^tidemark\\." + SHARD + "\\.", "tidemark.<shard>.")
        .replaceFirst("^tidemark\\.unmatched\\..*", "tidemark.unmatched.<table>");
  }

  /** All of it: changes of many tables, one of which is wanted, put by key into a shard. */
  private void run() throws Exception {
    try (var in = MetricsTest.class.getResourceAsStream("/cdc/pg-tx/plain.jsonl.gz")) {
      Files.copy(in, folder.resolve("plain.jsonl.gz"));
    }
    Schema schema =
        Schema.parse(
            "order_id INT NOT NULL, status STRING, total DECIMAL(12, 2),"
                + " PRIMARY KEY (order_id) NOT ENFORCED",
            1);
    String url = "memory:" + UUID.randomUUID() + "/" + SHARD;
    List<ShardTarget> shards =
        List.of(new ShardTarget(url, SHARD, schema, SpineSpec.DEFAULT, null));
    Match match = new Match(MatchKind.TABLE, "", "public." + SHARD);
    DecodeSettings decode =
        new DecodeSettings(
            Format.DEBEZIUM_JSON,
            new DebeziumSettings(
                Lines.KEY_VALUE, Shape.ENVELOPE, Decimals.STRING, Times.ADAPTIVE, Binary.BASE64),
            List.of(new TableMapping(0, match, Envelope.UPSERT, null)),
            false,
            false,
            Long.MAX_VALUE - 1,
            Long.MAX_VALUE);
    SinkSettings settings = TestShards.settings(1, 1 << 20, 64);
    new FilesJob(folder, 50, 1, decode, shards, settings).run(folder.resolve("*.gz"));
  }

  @Test
  void theMetricsAreThoseOfTheDocs() throws Exception {
    assertThat(documented()).isNotEmpty();
    run();
    assertThat(registered()).isEqualTo(documented());
  }
}
