package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.flink.InputCounts.Fate;
import dev.tidemark.flink.decode.DecodeSettings;
import dev.tidemark.flink.decode.Envelope;
import dev.tidemark.flink.decode.TableMapping;
import dev.tidemark.flink.decode.TableMapping.Match;
import dev.tidemark.flink.decode.TableMapping.MatchKind;
import dev.tidemark.schema.Schema;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import java.io.BufferedWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Jobs of commit = frontier from records to two shards with schemas of their own: each record read
 * ends in one counter, and the counters are what is in the shards.
 */
@Timeout(120)
final class FrontierCountsTest {
  @RegisterExtension static final MiniClusterExtension CLUSTER = TestJobs.cluster();

  private static final int RECORDS = 40_000;
  private static final long BEGIN = 1_700_000_000_000L;
  private static final long LATE_MILLIS = 3_600_000;

  @TempDir Path folder;

  private final String store = UUID.randomUUID().toString();
  private final List<ShardTarget> shards =
      List.of(
          shard("numbers", "n BIGINT NOT NULL, ts BIGINT NOT NULL, PRIMARY KEY (n) NOT ENFORCED"),
          shard("texts", "v STRING, ts BIGINT NOT NULL, n BIGINT NOT NULL"));

  private ShardTarget shard(String name, String schema) {
    return new ShardTarget(
        "memory:" + store + "/" + name, name, Schema.parse(schema, 1), SpineSpec.DEFAULT, null);
  }

  @BeforeEach
  void noFaults() {
    CountedRows.Faults.reset();
  }

  /** One record in a hundred is bad, one comes an hour late; even ones are numbers. */
  private static boolean isBad(int number) {
    return number % 100 == 13;
  }

  private static boolean isLate(int number) {
    return number % 100 == 57 && number > RECORDS / 2;
  }

  private Path input() throws Exception {
    Path file = folder.resolve("in.jsonl");
    try (BufferedWriter out = Files.newBufferedWriter(file)) {
      for (int n = 0; n < RECORDS; n++) {
        long time = BEGIN + n * 10L - (isLate(n) ? LATE_MILLIS : 0);
        String type = n % 2 == 0 ? "number" : "text";
        String number = isBad(n) ? "\"bad\"" : Integer.toString(n);
        out.write(
            "{\"type\":\"" + type + "\",\"n\":" + number + ",\"ts\":" + time + ",\"v\":\"x\"}\n");
      }
    }
    return file;
  }

  private JobExecutionResult run(long checkpointMillis) throws Exception {
    SinkSettings settings =
        TestShards.settings(1, 1 << 20, 64 << 10)
            .withCommit(CommitSettings.frontier(Duration.ofMillis(10), LateRows.DROP));
    DecodeSettings decode = FilesJob.json(false, table(0, "number"), table(1, "text"));
    return new FilesJob(folder, checkpointMillis, 2, decode, shards, settings).run(input());
  }

  private static TableMapping table(int shard, String type) {
    return new TableMapping(
        shard, new Match(MatchKind.COLUMN, "type", type), Envelope.APPEND, "ts");
  }

  private long count(JobExecutionResult result, Fate fate) {
    return shards.stream()
        .mapToLong(s -> result.<Long>getAccumulatorResult(InputCounts.name(s.name(), fate)))
        .sum();
  }

  private void assertEachHasOneFate(JobExecutionResult result) {
    long sum = 0;
    for (Fate fate : Fate.values()) {
      assertThat(count(result, fate)).as(fate.toString()).isNotNegative();
      sum += count(result, fate);
    }
    assertThat(sum).isEqualTo(result.<Long>getAccumulatorResult(InputCounts.READ));
    assertThat(sum).isEqualTo(RECORDS);
  }

  /** How often each number is in the shards. */
  private Map<Long, Long> numbers() throws Exception {
    Map<Long, Long> numbers = new HashMap<>();
    for (ShardTarget shard : shards) {
      int column = shard.name().equals("numbers") ? 0 : 2;
      TestShards.read(shard, (row, times) -> numbers.merge((Long) row[column], times, Long::sum));
    }
    return numbers;
  }

  private void assertEachRowIsThereOnce(Map<Long, Long> numbers) {
    for (int n = 0; n < RECORDS; n++) {
      long times = numbers.getOrDefault((long) n, 0L);
      if (isBad(n)) {
        assertThat(times).as("bad " + n).isZero();
      } else if (isLate(n)) {
        assertThat(times).as("late " + n).isLessThanOrEqualTo(1);
      } else {
        assertThat(times).as("row " + n).isOne();
      }
    }
  }

  private int errors() throws Exception {
    int errors = 0;
    for (ShardTarget shard : shards) {
      errors += TestShards.errors(shard, TestShards.state(shard).upper().time() - 1).size();
    }
    return errors;
  }

  @Test
  @DisplayName("P-OP-02: bad rows, late rows and the others are counted by what became of them")
  void theCountersAreWhatIsInTheShards() throws Exception {
    JobExecutionResult result = run(50);
    assertEachHasOneFate(result);
    Map<Long, Long> numbers = numbers();
    assertEachRowIsThereOnce(numbers);
    assertThat(count(result, Fate.STORED)).isEqualTo(numbers.size());
    assertThat(count(result, Fate.ERROR)).isEqualTo(RECORDS / 100).isEqualTo(errors());
    assertThat(count(result, Fate.LATE)).as("nearly all come after the first ticks").isPositive();
    assertThat(count(result, Fate.REPLAYED)).isZero();
  }

  /** No checkpoint completes: the last attempt reads all of it, and counts all of it. */
  @Test
  void whatIsReadAgainIsReplayedAndCountedOnce() throws Exception {
    FailingStore failing =
        new FailingStore(Stores.open("memory:" + store, StoreSettings.DEFAULT), 2, 3);
    Stores.putMemory(store, failing);
    JobExecutionResult result = run(Duration.ofHours(1).toMillis());
    assertThat(failing.left()).isZero();
    assertEachHasOneFate(result);
    assertEachRowIsThereOnce(numbers());
    assertThat(count(result, Fate.REPLAYED)).isPositive();
    assertThat(errors()).as("at least once").isGreaterThanOrEqualTo(RECORDS / 100);
  }
}
