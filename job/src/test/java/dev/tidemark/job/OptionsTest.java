package dev.tidemark.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.flink.CommitMode;
import dev.tidemark.flink.CommitSettings;
import dev.tidemark.flink.LateRows;
import dev.tidemark.flink.decode.DecodeSettings.Format;
import dev.tidemark.flink.decode.Envelope;
import dev.tidemark.flink.source.SourceSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.configuration.CheckpointingOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OptionsTest {
  private static final Map<String, String> GOOD =
      Map.of(
          "shard.warehouse", "/data/w",
          "shard.name", "orders",
          "source.path", "in.jsonl",
          "source.schema", "id BIGINT NOT NULL, at BIGINT, PRIMARY KEY (id) NOT ENFORCED",
          "source.event-time", "at");

  private static JobOptions read(Map<String, String> more) {
    Map<String, String> all = new LinkedHashMap<>(GOOD);
    all.putAll(more);
    return JobOptions.of(Options.of(null, all));
  }

  @Test
  void defaultsHoldWhereNothingIsSet() {
    JobOptions options = read(Map.of());
    assertThat(options.writer()).isEqualTo("tidemark");
    assertThat(options.checkpoints().interval()).isEqualTo(Duration.ofSeconds(10));
    assertThat(options.checkpoints().directory()).isEqualTo("file:///data/w/.checkpoints");
    assertThat(options.watermarks().delay()).isEqualTo(Duration.ZERO);
    assertThat(options.decode().format()).isEqualTo(Format.JSON);
    assertThat(options.shards()).hasSize(1);
    assertThat(options.shards().get(0).url()).isEqualTo("/data/w/orders");
    assertThat(options.shards().get(0).retain()).isEqualTo(Duration.ofHours(1));
    assertThat(((SourceSettings.Files) options.source()).order())
        .isEqualTo(SourceSettings.Order.ANY);
    assertThat(options.sink().inlineBytes()).isEqualTo(64 << 10);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '"',
      value = {
        "write.rnus             ~ 2        ~ unknown option --write.rnus; did you mean write.runs?",
        "sourc.path             ~ x        ~ unknown option --sourc.path; did you mean source.path?",
        "zzzzzzzzzzzzzzzzzzzzz  ~ x        ~ unknown option --zzzzzzzzzzzzzzzzzzzzz; conf/reference.md lists all of them",
        "checkpoint.interval    ~ 10       ~ checkpoint.interval = 10: the unit is missing (ms, s, min, h or days); it takes duration: 10 s, or off",
        "checkpoint.interval    ~ 10 sx    ~ checkpoint.interval = 10 sx: the unit sx is none of ms, s, min, h or days; it takes duration: 10 s, or off",
        "checkpoint.interval    ~ 0 s      ~ checkpoint.interval = 0 s: take at least 10 ms, or, with commit = frontier, off",
        "part.target-bytes      ~ 128 MB   ~ part.target-bytes = 128 MB: the unit MB is none of B, KiB, MiB or GiB; it takes size: 64 KiB",
        "write.runs             ~ many     ~ write.runs = many: not a whole number; it takes whole number, or auto",
        "commit                 ~ always   ~ commit = always: not one of checkpoint, frontier; it takes checkpoint | frontier",
        "checkpoint.interval    ~ off      ~ checkpointing is off, and with commit = checkpoint nothing would ever be committed: set checkpoint.interval, or commit = frontier",
        "mint.interval          ~ 2 s      ~ mint.interval is for commit = frontier: with commit = checkpoint, checkpoint.interval says how often rows become durable",
        "source.connector       ~ kafak    ~ source.connector = kafak: not one of files, kafka, datagen; it takes files | kafka | datagen",
        "source.connector       ~ kafka    ~ source.servers is missing: set it in the file given by --conf, or as --source.servers VALUE (text)",
        "late                   ~ drop     ~ late = drop needs commit = frontier: with commit = checkpoint late rows are stored, with the next open time (late = retime)",
        "merge                  ~ there    ~ merge = there: not one of here, elsewhere; it takes here | elsewhere",
        "on-concurrent-writer   ~ lenient  ~ on-concurrent-writer = lenient needs commit = frontier: only what has its own time can be fitted to what another writer has appended",
        "source.format          ~ avrow    ~ source.format = avrow: no such format; on the class path are canal-json, flink-csv, flink-debezium-json, flink-json, maxwell-json, ogg-json; it takes json | csv | debezium-json | a format of Flink's on the class path",
        "source.format.x        ~ y        ~ source.format.x: only the formats of Flink have options of this kind, source.format is json",
        "schema.change          ~ maybe    ~ schema.change = maybe: not one of fail, evolve; it takes fail | evolve",
        "source.bounded         ~ never    ~ source.bounded = never: neither true nor false; it takes true or false",
        "source.until           ~ noon     ~ source.until = noon: not one of never, latest; it takes never | latest",
        "read-only              ~ true     ~ read-only = true needs commit = frontier: what is committed with a checkpoint can't wait for another writer",
        "gc.keep                ~ 0 s      ~ gc.keep is 0 s: must be from 10 min to 3650 days; gc.unsafe takes less, for trials only",
        "gc.keep                ~ 1 ms     ~ gc.keep is 1 ms: must be from 10 min to 3650 days; gc.unsafe takes less, for trials only",
        "gc.keep                ~ 5        ~ gc.keep = 5: the unit is missing (ms, s, min, h or days); it takes duration: 10 s",
        "gc.keep                ~ 2030-01-01 ~ gc.keep = 2030-01-01: not a number with a unit (ms, s, min, h or days); it takes duration: 10 s",
        "gc.orphan-age          ~ -5 min   ~ gc.orphan-age = -5 min: not a number with a unit (ms, s, min, h or days); it takes duration: 10 s",
        "gc.orphan-age          ~ 23 h     ~ gc.orphan-age is 23 h: must be from 1 days to 3650 days; gc.unsafe takes less, for trials only",
        "gc.interval            ~ 0 s      ~ gc.interval = 0 s: must be at least 1 s",
        "hold.expiry            ~ 59 s     ~ hold.expiry = 59 s: must be from 1 min to 1 days",
        "checkpoint.timeout     ~ 8 days   ~ gc.orphan-age = 7 days: must be more than checkpoint.timeout, 8 days, or what a checkpoint holds could be taken for an orphan",
        "source.envelope        ~ updates  ~ source.envelope = updates: not one of append, changelog, upsert; it takes append | changelog | upsert",
        "source.event-time      ~ when     ~ source.event-time = when: shard orders has no such column; it has id, at",
        "source.event-time      ~ metadata ~ source.event-time is missing or metadata: a line of json has no time of its own; name the column that holds it (--source.event-time COLUMN)",
        "source.schema          ~ id UUID, at BIGINT ~ source.schema: column id: UUID can't be stored: take STRING, or another type of Flink SQL",
        "shard.name             ~ a/b      ~ shard a/b: letters, digits, '.', '_' and '-' only, at most 200",
        "shard.spec.queue       ~ 4        ~ shard orders: with fan-in 8, queue is at least 15 (is 4) and rest at least 16 (is 24)",
        "flink.execution.runtime-mode ~ BATCH ~ flink.execution.runtime-mode = BATCH: Tidemark runs in STREAMING mode, bounded input too; leave it out",
        "flink.execution.checkpointing.interval ~ 0 ~ flink.execution.checkpointing.interval = 0: set checkpoint.interval instead",
      })
  void whatCannotBeIsRefusedByNameAndMend(String key, String value, String message) {
    assertThatThrownBy(() -> read(Map.of(key, value)))
        .isInstanceOf(OptionException.class)
        .hasMessage(message);
  }

  @ParameterizedTest
  @CsvSource({"shard.warehouse", "shard.name", "source.path", "source.schema"})
  void whatIsMissingIsNamed(String key) {
    Map<String, String> all = new HashMap<>(GOOD);
    all.remove(key);
    assertThatThrownBy(() -> JobOptions.of(Options.of(null, all)))
        .isInstanceOf(OptionException.class)
        .hasMessageStartingWith(key + " is missing");
  }

  private static CompactOptions compact(String... keysAndValues) {
    Map<String, String> all = new HashMap<>(Map.of("shard.warehouse", "file:///w"));
    for (int i = 0; i < keysAndValues.length; i += 2) {
      all.put(keysAndValues[i], keysAndValues[i + 1]);
    }
    return CompactOptions.of(Options.of(null, all));
  }

  @Test
  void aJobThatOnlyMergesNeedsNoSourceButToBeToldWhatIsRetained() {
    CompactOptions options = compact("retain", "2 h", "writer.id", "w", "merge", "elsewhere");
    assertThat(options.writer()).isEqualTo("w-compact");
    assertThat(options.sink().merging()).isTrue();
    assertThat(options.retain()).isEqualTo(Duration.ofHours(2));
    assertThat(options.named()).isEmpty();
    assertThat(compact("retain", "forever", "shard.name", "a").named().get(0).url())
        .isEqualTo("file:///w/a");
    assertThatThrownBy(() -> compact()).hasMessageStartingWith("retain is missing: with role");
    assertThatThrownBy(() -> compact("retain", "1 h", "settle", "true"))
        .hasMessageStartingWith("settle and role = compact");
    assertThatThrownBy(() -> compact("retain", "1 h", "checkpoint.interval", "off"))
        .hasMessageStartingWith("checkpoint.interval = off and role = compact");
    assertThatThrownBy(() -> compact("retain", "1 h", "find.interval", "1 ms"))
        .hasMessageContaining("must be at least 1 s");
  }

  @Test
  void frontierModeHasItsOwnDefaults() {
    JobOptions options = read(Map.of("commit", "frontier"));
    assertThat(options.sink().commit())
        .isEqualTo(CommitSettings.frontier(Duration.ofSeconds(1), LateRows.FAIL));
    JobOptions all =
        read(
            Map.of(
                "commit", "frontier",
                "mint.interval", "250 ms",
                "late", "drop",
                "read-only", "true",
                "on-concurrent-writer", "lenient",
                "checkpoint.interval", "off"));
    assertThat(all.sink().commit())
        .isEqualTo(
            new CommitSettings(
                CommitMode.FRONTIER, Duration.ofMillis(250), LateRows.DROP, true, true));
    assertThat(all.checkpoints().interval()).isNull();
    assertThat(TidemarkJob.configuration(all).get(CheckpointingOptions.CHECKPOINTING_INTERVAL))
        .isNull();
    assertThatThrownBy(
            () ->
                read(Map.of("commit", "frontier", "late", "drop", "source.envelope", "changelog")))
        .isInstanceOf(OptionException.class)
        .hasMessageContaining("envelope = changelog (shard orders)");
  }

  @Test
  void whoeverLeavesMergesToOthersSettlesNothing() {
    assertThat(read(Map.of()).settle()).isTrue();
    assertThat(read(Map.of("merge", "elsewhere")).settle()).isFalse();
    assertThatThrownBy(() -> read(Map.of("merge", "elsewhere", "settle", "true")))
        .hasMessageStartingWith("settle = true, but merge = elsewhere");
  }

  private static JobOptions kafka(String... keysAndValues) {
    Map<String, String> all = new LinkedHashMap<>(GOOD);
    all.remove("source.path");
    all.put("source.connector", "kafka");
    all.put("source.servers", "b:9092");
    for (int i = 0; i < keysAndValues.length; i += 2) {
      all.put(keysAndValues[i], keysAndValues[i + 1]);
    }
    return JobOptions.of(Options.of(null, all));
  }

  @Test
  void topicsAreReadForEverUnlessTold() {
    JobOptions options =
        kafka("source.topics", "a,b", "source.kafka.security.protocol", "SSL", "writer.id", "w");
    SourceSettings.Kafka source = (SourceSettings.Kafka) options.source();
    assertThat(source.topics()).containsExactly("a", "b");
    assertThat(source.from()).isEqualTo(SourceSettings.From.EARLIEST);
    assertThat(source.group()).isEqualTo("w");
    assertThat(source.properties()).containsExactly(Map.entry("security.protocol", "SSL"));
    assertThat(source.bounded()).isFalse();
    assertThat(source.untilNow().bounded()).isTrue();
    assertThat(options.watermarks().delay()).isEqualTo(Duration.ofSeconds(1));
    assertThat(options.decode().maxAheadMillis()).isEqualTo(Duration.ofDays(1).toMillis());
    JobOptions timed =
        kafka(
            "source.topic-pattern",
            "a.*",
            "source.until",
            "latest",
            "source.from",
            "1970-01-01T00:00:01Z");
    assertThat(((SourceSettings.Kafka) timed.source()).from().timeMillis()).isEqualTo(1_000);
    assertThat(timed.decode().maxAheadMillis()).isEqualTo(Long.MAX_VALUE);
    assertThat(timed.watermarks().delay()).isEqualTo(Duration.ZERO);
    assertThat(kafka("source.topics", "a", "source.event-time", "metadata").decode().tables())
        .allMatch(table -> table.eventTimeColumn() == null);
    assertThat(kafka("source.topics", "a", "source.format", "debezium-json").watermarks().delay())
        .isEqualTo(Duration.ofSeconds(5));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      value = {
        "source.group ~ g ~ source.topics is missing: name the topics, or their pattern by source.topic-pattern",
        "source.topic-pattern ~ b ~ source.topics and source.topic-pattern: take one of the two",
        "source.from ~ noon ~ source.from = noon: earliest, latest, or a time: noon is no time",
        "source.bounded ~ true ~ source.bounded is for files: where a topic's reading ends, source.until says; leave it out",
        "source.kafka.group.id ~ g ~ source.kafka.group.id: set source.group instead",
        "source.kafka.auto.offset.reset ~ latest ~ source.kafka.auto.offset.reset: set source.from instead",
        "seal ~ true ~ seal = true, but the input never ends (source.until = never), and only a job that has ended",
      })
  void whatKafkaCannotBeToldIsRefused(String key, String value, String message) {
    assertThatThrownBy(
            () ->
                kafka(
                    key.equals("source.group") ? "source.group" : "source.topics", "a", key, value))
        .isInstanceOf(OptionException.class)
        .hasMessageStartingWith(message);
  }

  @Test
  void whoDoesNotWaitForTheEndNeitherSealsNorSettles() {
    Main.refuseDetached(false, false);
    assertThatThrownBy(() -> Main.refuseDetached(true, false))
        .hasMessageStartingWith("settle = true: a client that goes away")
        .hasMessageContaining("--wait");
    assertThatThrownBy(() -> Main.refuseDetached(false, true))
        .hasMessageStartingWith("seal = true: a client that goes away");
  }

  @Test
  void watchedFoldersNeverEnd() {
    JobOptions options = read(Map.of("source.bounded", "false"));
    assertThat(options.source()).isInstanceOf(SourceSettings.WatchedFiles.class);
    assertThat(options.source().bounded()).isFalse();
    assertThat(options.decode().maxAheadMillis()).isEqualTo(Duration.ofDays(1).toMillis());
    assertThat(read(Map.of()).decode().maxAheadMillis()).as("bounded").isEqualTo(Long.MAX_VALUE);
    assertThat(read(Map.of("source.bounded", "false", "time.max-ahead", "off")).decode())
        .extracting(decode -> decode.maxAheadMillis())
        .isEqualTo(Long.MAX_VALUE);
    assertThat(read(Map.of("seal", "true")).seal()).isTrue();
    assertThatThrownBy(() -> read(Map.of("source.bounded", "false", "seal", "true")))
        .hasMessageStartingWith("seal = true, but the input never ends (source.bounded = false)");
    assertThatThrownBy(() -> compact("retain", "1 h", "seal", "true"))
        .hasMessageStartingWith("seal and role = compact");
  }

  @Test
  void upsertNeedsAKey() {
    assertThatThrownBy(
            () ->
                read(Map.of("source.envelope", "upsert", "source.schema", "id BIGINT, at BIGINT")))
        .hasMessageContaining("needs a key");
  }

  @Test
  void theCommandLineWinsOverTheFile() {
    OptionFile file = OptionFile.parse("f.yaml", "write.runs: 2\ninline: {bytes: 1 KiB}\n");
    Map<String, String> line = new LinkedHashMap<>(GOOD);
    line.put("write.runs", "3");
    JobOptions options = JobOptions.of(Options.of(file, line));
    assertThat(options.sink().writeRuns()).isEqualTo(3);
    assertThat(options.sink().inlineBytes()).isEqualTo(1024);
  }

  @Test
  void aFileIsNamedInItsErrors() {
    assertThatThrownBy(() -> Options.of(OptionFile.parse("f.yaml", "write: {rnus: 2}"), Map.of()))
        .hasMessage("unknown key write.rnus in f.yaml; did you mean write.runs?");
    assertThatThrownBy(() -> OptionFile.parse("f.yaml", "a: 1\na: 2\n"))
        .hasMessageContaining("f.yaml")
        .hasMessageContaining("uplicate");
    assertThatThrownBy(() -> OptionFile.parse("f.yaml", "write.runs:\n"))
        .hasMessageContaining("has no value");
    assertThatThrownBy(() -> OptionFile.read(Path.of("nowhere.yaml")))
        .hasMessageStartingWith("no file nowhere.yaml");
  }

  @Test
  void tablesBecomeShards() {
    OptionFile file =
        OptionFile.parse(
            "f.yaml",
            """
            shard.warehouse: s3://bucket/w/
            source: {path: [a.jsonl, b.jsonl], format: debezium-json, envelope: changelog}
            tables:
              - shard: orders
                match: {table: public.orders}
                schema: "id BIGINT, PRIMARY KEY (id) NOT ENFORCED"
                envelope: upsert
                spec: {queue: 32}
                retain: forever
              - {shard: log, match: {table: public.log}, schema: "line STRING"}
            """);
    JobOptions options = JobOptions.of(Options.of(file, Map.of("retain", "2 h")));
    assertThat(options.shards())
        .extracting(s -> s.url())
        .containsExactly("s3://bucket/w/orders", "s3://bucket/w/log");
    assertThat(options.shards().get(0).spec().queue()).isEqualTo(32);
    assertThat(options.shards().get(0).retain()).isNull();
    assertThat(options.shards().get(1).retain()).isEqualTo(Duration.ofHours(2));
    assertThat(options.decode().tables())
        .extracting(t -> t.envelope())
        .containsExactly(Envelope.UPSERT, Envelope.CHANGELOG);
    SourceSettings.Files source = (SourceSettings.Files) options.source();
    assertThat(source.paths()).containsExactly("a.jsonl", "b.jsonl");
    assertThat(source.order()).isEqualTo(SourceSettings.Order.NAME);
    assertThat(options.checkpoints().directory()).endsWith("/tidemark-checkpoints");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{shard: a, shcema: 'id INT'}                                       | tables[0]: unknown key shcema; did you mean schema?",
        "{schema: 'id INT'}                                                 | tables[0]: shard is missing",
        "{shard: a, match: {topic: t}, schema: 'id INT'}                    | topic belongs to source.connector = kafka",
        "{shard: a, match: {table: t, column: c}, schema: 'id INT'}         | tables a match: write one of",
        "{shard: a, schema: 'id INT', spec: {fanin: 3}}                     | tables a spec: unknown key fanin; did you mean fan-in?",
        "{shard: a, schema: 'id INT', retain: 1}                            | tables a retain = 1: the unit is missing",
      })
  void aWrongTableIsNamed(String entry, String message) {
    OptionFile file =
        OptionFile.parse(
            "f.yaml",
            "shard.warehouse: /w\nsource: {path: x, format: debezium-json}\ntables:\n  - "
                + entry.replace('\'', '"')
                + "\n");
    assertThatThrownBy(() -> JobOptions.of(Options.of(file, Map.of())))
        .isInstanceOf(OptionException.class)
        .hasMessageContaining(message);
  }

  @Test
  void nothingNeedsNoUnit() {
    OptionFile file =
        OptionFile.parse(
            "f.yaml",
            "shard.warehouse: /w\nretain: 0\nsource: {path: x, format: debezium-json}\ntables: [{shard: a, schema: \"id INT\"}]\n");
    JobOptions options = JobOptions.of(Options.of(file, Map.of()));
    assertThat(options.shards().get(0).retain()).isEqualTo(Duration.ZERO);
  }

  @Test
  void theReferenceIsThatOfTheKeys() throws IOException {
    Path file = Path.of(System.getProperty("tidemark.root"), "conf", "reference.md");
    assertThat(Files.readString(file))
        .as("conf/reference.md; scripts/tidemark reference > conf/reference.md makes it anew")
        .isEqualTo(OptionReference.markdown());
  }
}
