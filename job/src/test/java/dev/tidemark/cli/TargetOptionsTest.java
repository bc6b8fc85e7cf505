package dev.tidemark.cli;

import static dev.tidemark.cli.Said.say;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a submission to a cluster refuses, each in one line that names the thing and the mend. */
class TargetOptionsTest {
  private static final String JAR = "tidemark.job-jar";

  @TempDir private Path folder;

  @BeforeEach
  void thereIsAJar() throws IOException {
    Path jar = Files.createFile(folder.resolve("job.jar"));
    System.setProperty(JAR, jar.toString());
  }

  @AfterEach
  void forgetTheJar() {
    System.clearProperty(JAR);
  }

  /** A command line that is right but for what is changed of it; an empty value leaves it out. */
  private Said run(String target, Map<String, String> changed, String... words) {
    Map<String, String> options = new LinkedHashMap<>();
    options.put("source.connector", "datagen");
    options.put("source.schema", "k STRING, ts BIGINT, v STRING");
    options.put("source.event-time", "ts");
    options.put("shard.warehouse", folder.resolve("warehouse").toString());
    options.put("shard.name", "numbers");
    options.put("checkpoint.dir", folder.resolve("checkpoints").toString());
    options.put("parallelism", "2");
    options.putAll(changed);
    List<String> all = new ArrayList<>(List.of("run", "--target", target));
    options.forEach(
        (key, value) -> {
          if (!value.isEmpty()) {
            all.add("--" + key);
            all.add(value);
          }
        });
    all.addAll(List.of(words));
    return say(all.toArray(String[]::new));
  }

  private static void refused(Said said, int code, String... parts) {
    assertThat(said.code()).as(said.err()).isEqualTo(code);
    assertThat(said.err()).hasLineCount(1).contains(parts);
  }

  private static int closedPort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"somewhere", "here:", ":8081", "a b:1", "::1:8081", "here:0", "x:70000"})
  void anAddressHasAHostAndAPort(String target) {
    refused(run(target, Map.of()), Exit.USAGE, "--target", target);
  }

  @Test
  void anAddressIsReadAsFlinkPrintsIt() {
    assertThat(TargetAddress.of("http://127.0.0.1:8081/#/overview"))
        .isEqualTo(new TargetAddress("127.0.0.1", 8081));
    assertThat(TargetAddress.of("[::1]:8081").isHere()).isTrue();
    assertThat(TargetAddress.of("192.0.2.7:8081").isHere()).isFalse();
    assertThatThrownBy(() -> TargetAddress.of("https://flink:8081"))
        .hasMessageContaining("flink.security.ssl.rest.enabled");
  }

  @Test
  void aPasswordInAnAddressIsNotSaidAgain() {
    Said said = run("me:hush@flink:8081", Map.of());
    refused(said, Exit.USAGE, "HOST:PORT");
    assertThat(said.err()).doesNotContain("hush");
  }

  @Test
  void targetAndWaitGoTogether() {
    refused(say("run", "--wait"), Exit.USAGE, "--wait is for --target");
    refused(say("run", "--target"), Exit.USAGE, "--target");
  }

  @ParameterizedTest
  @CsvSource({
    "ui.port, 8085, web UI of its own",
    "find.interval, 5 s, leave it out",
    "flink.taskmanager.numberOfTaskSlots, 4, cluster's configuration",
    "flink.taskmanager.memory.process.size, 1g, cluster's configuration",
    "flink.rest.port, 9000, cluster's configuration",
    "flink.execution.target, local, cluster's configuration",
    "seal, true, add --wait",
    "settle, true, add --wait",
    "shard.warehouse, warehouse, write the whole path",
  })
  void whatSaysNothingOnAClusterIsRefused(String key, String value, String mend)
      throws IOException {
    refused(
        run("127.0.0.1:" + closedPort(), Map.of(key, value, "source.rows", "10")),
        Exit.USAGE,
        key,
        mend);
  }

  @Test
  void aPathOfFilesIsWhole() throws IOException {
    Map<String, String> files =
        Map.of("source.connector", "files", "source.path", "in/*.jsonl", "source.format", "json");
    refused(
        run("127.0.0.1:" + closedPort(), files),
        Exit.USAGE,
        "source.path = in/*.jsonl",
        "whole path");
  }

  @Test
  void aFileIsNamedWithTheOption() throws IOException {
    Path conf = Files.writeString(folder.resolve("orders.yaml"), "ui.port: 8085\n");
    refused(
        run("127.0.0.1:" + closedPort(), Map.of(), "--conf", conf.toString()),
        Exit.USAGE,
        "ui.port (",
        "orders.yaml");
  }

  @Test
  void checkpointsNeedAPlace() throws IOException {
    refused(
        run("127.0.0.1:" + closedPort(), Map.of("checkpoint.dir", "")),
        Exit.USAGE,
        "checkpoint.dir is missing");
  }

  @Test
  void aLocalCheckpointIsNoneToAnotherMachine() {
    refused(
        run("192.0.2.7:8081", Map.of("restore", folder.toString())),
        Exit.USAGE,
        "restore = " + folder,
        "file:///");
  }

  @Test
  void aRoleThatNeverEndsIsNotWaitedFor() throws IOException {
    refused(
        run("127.0.0.1:" + closedPort(), Map.of("role", "compact", "retain", "1 h"), "--wait"),
        Exit.USAGE,
        "never ends");
  }

  @Test
  void theJarIsMissed() throws IOException {
    System.setProperty(JAR, folder.resolve("none.jar").toString());
    refused(run("127.0.0.1:" + closedPort(), Map.of()), Exit.USAGE, "none.jar", "scripts/job-jar");
  }

  @Test
  void nobodyListens() throws IOException {
    int port = closedPort();
    refused(
        run("127.0.0.1:" + port, Map.of()),
        Exit.STORE,
        "--target 127.0.0.1:" + port,
        "nobody listens there");
    assertThat(folder.resolve("warehouse")).as("nothing was written").doesNotExist();
  }

  @Test
  void nobodyKnowsTheHost() {
    refused(run("no-such-host.invalid:8081", Map.of()), Exit.STORE, "no host of that name");
  }

  /** A server that answers each path with what it is given for its end. */
  private Said against(Map<String, String> answers, Map<String, String> changed)
      throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          String path = exchange.getRequestURI().getPath();
          byte[] body =
              answers.getOrDefault(path.replaceFirst("^/v[0-9]+", ""), "hello").getBytes(UTF_8);
          exchange.getResponseHeaders().set("Content-Type", "application/json");
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    try {
      return run("127.0.0.1:" + server.getAddress().getPort(), changed);
    } finally {
      server.stop(0);
    }
  }

  private static String overview(String version, int slots) {
    return "{\"taskmanagers\":1,\"slots-total\":%d,\"slots-available\":%d,\"taskmanagers-blocked\":0,\"slots-free-and-blocked\":0,\"jobs-running\":0,\"jobs-finished\":0,\"jobs-cancelled\":0,\"jobs-failed\":0,\"flink-version\":\"%s\",\"flink-commit\":\"x\"}"
        .formatted(slots, slots, version);
  }

  @Test
  void whoAnswersIsNoCluster() throws IOException {
    refused(against(Map.of(), Map.of()), Exit.STORE, "no Flink cluster");
  }

  @Test
  void anotherSeriesOfFlinkIsRefused() throws IOException {
    refused(
        against(Map.of("/overview", overview("1.20.5", 8)), Map.of()),
        Exit.STORE,
        "runs Flink 1.20.5",
        EnvironmentInformation.getVersion());
  }

  @Test
  void tooFewSlotsAreRefused() throws IOException {
    Map<String, String> answers =
        Map.of("/overview", overview("2.3.1", 2), "/jobmanager/config", "[]");
    refused(
        against(answers, Map.of()),
        Exit.STORE,
        "has 2 slots in all",
        "the job takes 3",
        "parallelism");
  }

  @Test
  void aClusterThatGrowsHasAsManySlotsAsAreNeeded() throws IOException {
    Map<String, String> answers =
        Map.of(
            "/overview",
            overview("2.3.1", 0),
            "/jobmanager/config",
            "[{\"key\":\"kubernetes.cluster-id\",\"value\":\"flink\"}]",
            "/jobs/overview",
            "{\"jobs\":[{\"jid\":\"0123456789abcdef0123456789abcdef\",\"name\":\"tidemark\",\"job-type\":\"STREAMING\",\"state\":\"RUNNING\",\"start-time\":1,\"end-time\":-1,\"duration\":1,\"last-modification\":1,\"pending-operators\":0,\"tasks\":{\"running\":1,\"canceling\":0,\"canceled\":0,\"total\":1,\"created\":0,\"scheduled\":0,\"deploying\":0,\"reconciling\":0,\"finished\":0,\"initializing\":0,\"failed\":0}}]}");
    refused(
        against(answers, Map.of()),
        Exit.USAGE,
        "a job named tidemark runs on the cluster already",
        "0123456789abcdef0123456789abcdef");
  }
}
