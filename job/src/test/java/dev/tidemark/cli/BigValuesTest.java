package dev.tidemark.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedWriter;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Values of many megabytes between small rows, in a process whose heap is 512 MiB. */
class BigValuesTest {
  private static final int BIG = 12_000_000;
  private static final int TOO_BIG = 64_000_000;

  @TempDir private Path folder;

  private static String line(String key, long time, String value) {
    return "{\"k\":\"" + key + "\",\"ts\":" + time + ",\"v\":\"" + value + "\"}";
  }

  /** Where classes of the job come from: this test's own class path has them all. */
  private static List<String> java() {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(word -> word.startsWith("--add-") || word.startsWith("-Dlog4j2"))
            .toList());
    command.addAll(List.of("-Xmx512m", "-XX:+UseSerialGC"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Tidemark.class.getName()));
    return command;
  }

  @Test
  @DisplayName("P-PF-02: values over 10 MB, as value and as key")
  void bigValuesAreStoredExactlyOrRefusedByTheLimit() throws Exception {
    int small = Integer.getInteger("tidemark.big.rows", 3_000);
    int big = Integer.getInteger("tidemark.big.values", 1);
    Path input = folder.resolve("big.jsonl");
    TreeSet<String> expected = new TreeSet<>();
    try (BufferedWriter out = Files.newBufferedWriter(input)) {
      for (int i = 0; i < small; i++) {
        out.write(line("k" + i, i, "x".repeat(170)) + "\n");
        if (i % (small / 6) == small / 12) {
          int n = i / (small / 6);
          String value = Character.toString('a' + n).repeat(n == 5 ? TOO_BIG : BIG);
          if (n < big || n == 5) {
            out.write(line("big" + n, i, value) + "\n");
          } else if (n == big) {
            out.write(line(value, i, "as key") + "\n");
          }
          if (n <= big) {
            expected.add(n == big ? line(value, i, "as key") : line("big" + n, i, value));
          }
        }
      }
    }
    Path warehouse = folder.resolve("w");
    List<String> command = java();
    command.addAll(List.of("run", "--source.path", input.toString(), "--json"));
    command.addAll(
        List.of("--source.schema", "k STRING, ts BIGINT, v STRING, PRIMARY KEY (k) NOT ENFORCED"));
    command.addAll(List.of("--source.event-time", "ts", "--shard.name", "rows"));
    command.addAll(List.of("--shard.warehouse", warehouse.toString(), "--ui.port", "0"));
    command.addAll(List.of("--checkpoint.interval", "1 s", "--parallelism", "1"));
    Path out = folder.resolve("out");
    Process run =
        new ProcessBuilder(command)
            .redirectOutput(out.toFile())
            .redirectError(folder.resolve("err").toFile())
            .start();
    try {
      assertThat(run.waitFor(240, TimeUnit.SECONDS)).as("in time").isTrue();
    } finally {
      run.destroyForcibly();
    }
    assertThat(run.exitValue()).as(Files.readString(folder.resolve("err"))).isZero();
    assertThat(Files.readString(out))
        .contains("\"stored\":" + (small + expected.size()) + ",\"error\":1,");

    Said rows = Said.say("snapshot", warehouse.resolve("rows").toString());
    assertThat(rows.code()).as(rows.err()).isZero();
    List<String> found = rows.out().lines().filter(line -> line.length() > 1000).sorted().toList();
    assertThat(found.size()).isEqualTo(expected.size());
    assertThat(Arrays.equals(bytes(found), bytes(List.copyOf(expected))))
        .as("to the byte")
        .isTrue();
    assertThat(rows.out().lines().count()).isEqualTo(small + expected.size());
    Said errors = Said.say("errors", warehouse.resolve("rows").toString());
    assertThat(errors.out()).contains("a record of more than ");
    assertThat(Said.say("verify", "--deep", warehouse.resolve("rows").toString()).code()).isZero();
  }

  private static byte[] bytes(List<String> lines) {
    return String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
  }
}
