package dev.tidemark.cli;

import static dev.tidemark.cli.Said.say;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command line as a user meets it: words in, lines and an exit code out. */
class CommandLineTest {
  private static final String SCHEMA =
      "id BIGINT NOT NULL, name STRING, price DECIMAL(6, 2), at TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED";

  @TempDir private Path folder;

  private Path warehouse;

  @BeforeEach
  void nameTheWarehouse() {
    warehouse = folder.resolve("warehouse");
  }

  private Said run(String... more) throws IOException {
    Path input = folder.resolve("in.jsonl");
    if (!Files.exists(input)) {
      Files.write(
          input,
          List.of(
              "{\"id\":2,\"name\":\"b, \\\"quoted\\\"\",\"price\":1.50,\"at\":\"2026-11-29T23:47:20.500\"}",
              "{\"id\":1,\"name\":null,\"price\":null,\"at\":\"2026-11-29T23:47:21\"}",
              "no json",
              "{\"id\":2,\"name\":\"\",\"price\":2,\"at\":\"2026-11-29T23:47:22\"}"));
    }
    List<String> words =
        new ArrayList<>(
            List.of(
                "run",
                "--source.path",
                input.toString(),
                "--shard.warehouse",
                warehouse.toString(),
                "--shard.name",
                "orders",
                "--source.schema",
                SCHEMA,
                "--source.envelope",
                "upsert",
                "--source.event-time",
                "at",
                "--ui.port",
                "0",
                "--parallelism",
                "1",
                "--checkpoint.interval",
                "200 ms"));
    words.addAll(List.of(more));
    return say(words.toArray(String[]::new));
  }

  @Test
  void aRunIsReadBackInEveryForm() throws IOException {
    Said run = run();
    assertThat(run.err()).isEmpty();
    assertThat(run.code()).isZero();
    assertThat(run.out())
        .contains("4 records read = 3 stored + 1 error + 0 late + 0 replayed + 0 ignored");

    String shard = warehouse.resolve("orders").toString();
    assertThat(say("snapshot", shard).out())
        .isEqualTo(
            """
            {"id":1,"name":null,"price":null,"at":"2026-11-29T23:47:21"}
            {"id":2,"name":"","price":2.00,"at":"2026-11-29T23:47:22"}
            """);
    assertThat(say("snapshot", shard, "--format", "csv", "--null", "\\N").out())
        .isEqualTo(
            """
            id,name,price,at
            1,\\N,\\N,2026-11-29 23:47:21
            2,"",2.00,2026-11-29 23:47:22
            """);
    assertThat(
            say("snapshot", shard, "--as-of", "2026-11-29T23:47:20.999Z", "--json-strings").out())
        .isEqualTo(
            """
            {"id":"2","name":"b, \\"quoted\\"","price":"1.50","at":"2026-11-29T23:47:20.5"}
            """);
    assertThat(say("snapshot", shard, "--where", "price >= 2 and name is not null").out())
        .startsWith("{\"id\":2,")
        .hasLineCount(1);
    assertThat(say("snapshot", shard, "--limit", "1").out()).hasLineCount(1);
    assertThat(say("snapshot", shard).err()).contains("1 error row beside the rows");
    assertThat(say("snapshot", shard, "--strict").code()).isEqualTo(Exit.NO);
    assertThat(say("errors", shard, "--json").out())
        .contains("\"reason\":")
        .contains("\"raw\":\"no json\"")
        .contains("in.jsonl:3");
    assertThat(say("log", shard).out()).contains("create").contains("append");
    assertThat(say("verify", "--deep", shard).code()).isZero();
    assertThat(say("ls", warehouse.toString()).out()).contains("orders").contains("tidemark");
    assertThat(say("inspect", shard, "--json").out())
        .contains("\"format\":\"1.0\"")
        .contains("\"key\":[\"id\"]")
        .contains(
            "\"spec\":{\"fanIn\":8,\"queue\":16,\"rest\":24,\"baseBytes\":1048576,\"space\":2.0,\"merging\":true}")
        .contains("\"errors\":1");

    Said early = say("snapshot", shard, "--as-of", "2030-01-01T00:00:00Z");
    assertThat(early.code()).isEqualTo(Exit.NO);
    assertThat(early.out()).isEmpty();
    assertThat(early.err()).hasLineCount(1).contains("isn't durable yet");
    assertThat(say("holds", shard).err()).as("given up").contains("nobody holds");

    Said again = run();
    assertThat(again.code()).isEqualTo(Exit.USAGE);
    assertThat(again.err()).hasLineCount(1).contains("start = refuse");
  }

  @Test
  void badInputIsOneLineAndWritesNothing() throws IOException {
    refused(Exit.USAGE, "nowhere.jsonl", run("--source.path", folder + "/nowhere.jsonl"));
    refused(Exit.USAGE, "did you mean write.runs?", run("--write.rnus", "2"));
    refused(Exit.USAGE, "take at least 10 ms, or, with", run("--checkpoint.interval", "0 s"));
    refused(
        Exit.USAGE,
        "execution.runtime-mode = BATCH",
        run("--flink.execution.runtime-mode", "BATCH"));
    refused(Exit.USAGE, "no file nowhere.yaml", run("--conf", "nowhere.yaml"));
    refused(
        Exit.STORE,
        "127.0.0.1:1",
        run(
            "--shard.warehouse", "s3://bucket/w",
            "--s3.endpoint", "http://127.0.0.1:1",
            "--s3.access-key", "a",
            "--s3.secret-key", "b",
            "--s3.tries", "1",
            "--checkpoint.dir", folder.resolve("cp").toString()));
    assertThat(warehouse).doesNotExist();
  }

  @Test
  void rowsToResumeByTimeMustComeInOrder() throws IOException {
    refused(
        Exit.USAGE,
        "set source.files.order to name",
        run("--start", "resume-by-time", "--source.files.order", "any"));
    assertThat(warehouse).doesNotExist();
  }

  @Test
  void aStoreThatOverwritesDespiteTheConditionIsRefusedAndLeftEmpty() throws Exception {
    try (CarelessStore store = new CarelessStore()) {
      refused(
          Exit.STORE,
          "If-None-Match",
          run(
              "--shard.warehouse", "s3://bucket/w",
              "--s3.endpoint", store.endpoint(),
              "--s3.path-style", "true",
              "--s3.checksum", "required",
              "--s3.access-key", "a",
              "--s3.secret-key", "b",
              "--checkpoint.dir", folder.resolve("cp").toString()));
      assertThat(store.keys()).isEmpty();
    }
  }

  @Test
  void whatIsNoShardIsSaid() throws IOException {
    refused(Exit.USAGE, "no folder", say("inspect", folder + "/nowhere"));
    refused(Exit.USAGE, "is no shard", say("inspect", folder.toString()));
    refused(Exit.USAGE, "did you mean inspect?", say("inspct"));
    refused(Exit.USAGE, "SHARD", say("log"));
    refused(Exit.USAGE, "ftp", say("ls", "ftp://x/y"));
    Path log = Files.createDirectories(folder.resolve("newer/log"));
    Files.writeString(
        log.resolve("00000000000000000001.json"),
        "{\"format\":\"2.0\",\"shard\":\"x\",\"seqno\":1}");
    refused(Exit.USAGE, "2.0", say("inspect", folder.resolve("newer").toString()));
  }

  private static void refused(int code, String words, Said said) {
    assertThat(said.err()).contains(words).hasLineCount(1).startsWith("tidemark: ");
    assertThat(said.code()).isEqualTo(code);
    assertThat(said.out()).isEmpty();
  }

  @Test
  void aClosedPipeIsNoError() {
    OutputStream closed =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("Broken pipe");
          }
        };
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    int code =
        Tidemark.run(List.of("reference"), closed, new PrintStream(err, true, UTF_8), Map.of());
    assertThat(code).isZero();
    assertThat(err.size()).isZero();
  }

  @Test
  void everyCommandHasHelp() {
    for (String command :
        List.of(
            "run",
            "demo",
            "ls",
            "inspect",
            "snapshot",
            "log",
            "verify",
            "errors",
            "reference",
            "usage",
            "gc",
            "holds",
            "alter",
            "hand-over",
            "seal",
            "retire")) {
      Said said = say(command, "--help");
      assertThat(said.code()).as(command).isZero();
      assertThat(said.out()).as(command).contains("Usage: tidemark " + command);
    }
  }
}
