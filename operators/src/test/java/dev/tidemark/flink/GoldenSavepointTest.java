package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.store.Body;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.ObjectStore;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Savepoints of earlier builds, each with the shard that its job wrote, whole: with rows that wait
 * for their description, keys, batches that aren't committed, and merges under way. A form that was
 * ever written stays readable: a new build's savepoint gets a number of its own, the old ones stay.
 *
 * <p>{@code -Dtidemark.golden.savepoint=FILE.zip -Dtest=GoldenSavepointTest} writes one.
 */
@Timeout(180)
final class GoldenSavepointTest {
  private static final String SAVEPOINT = "savepoint/";
  private static final String SHARDS = "shards/";
  private static final int MOST_BYTES = 300_000;

  @RegisterExtension static final MiniClusterExtension CLUSTER = TestJobs.cluster();

  @TempDir Path folder;

  private static KilledJob.Shape shape(int parallelism) {
    SinkSettings settings = TestShards.settings(1, 1 << 20, 64, 500);
    return new KilledJob.Shape(parallelism, 1, true, true, false, 1, 20, null, settings);
  }

  private Configuration conf() {
    return TestJobs.conf(folder.toUri() + "ckpt", 20);
  }

  @ParameterizedTest(
      name = "P-OP-01: savepoint {0}, of an earlier build, is gone on from, exactly once")
  @ValueSource(ints = {1})
  void goesOnFromAnEarlierBuild(int number) throws Exception {
    KilledJob killed = new KilledJob(shape(3));
    String file = "/golden/savepoint-" + number + ".zip";
    try (InputStream in = GoldenSavepointTest.class.getResourceAsStream(file)) {
      assertThat(in).as(file).isNotNull();
      unpack(in, killed.store());
    }
    long upper = killed.upper().time();
    killed.pace().skipTo((upper - PacedRows.BEGIN) / PacedRows.STEP_MILLIS);
    JobClient job = killed.submit(conf(), folder.resolve(SAVEPOINT).toUri().toString());
    TestJobs.await("the shards go on", job, () -> killed.upper().time() > upper);
    killed.awaitProgress(job);
    killed.check();
    killed.endAndCheck(job);
  }

  private void unpack(InputStream in, ObjectStore store) throws IOException {
    try (ZipInputStream zip = new ZipInputStream(in)) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        String name = entry.getName();
        if (name.startsWith(SHARDS)) {
          store.put(name.substring(SHARDS.length()), Body.of(zip.readAllBytes()));
        } else {
          Path file = folder.resolve(name);
          Files.createDirectories(file.getParent());
          Files.write(file, zip.readAllBytes());
        }
      }
    }
  }

  @Test
  @DisplayName("writes a savepoint for the builds to come")
  @EnabledIfSystemProperty(named = "tidemark.golden.savepoint", matches = ".+")
  void writesOne() throws Exception {
    KilledJob killed = new KilledJob(shape(2), 0.1);
    killed.kill(null, 1, false).slow("merge", 200);
    Configuration conf = conf();
    conf.set(CheckpointingOptions.FS_SMALL_FILE_THRESHOLD, MemorySize.ofMebiBytes(1));
    JobClient job = killed.submit(conf, null);
    killed.awaitProgress(job);
    TestJobs.await(
        "merges are wanted and under way",
        job,
        () -> killed.logs().get(0).refresh().batches().size() >= 6);
    String savepoint = TestJobs.stop(job, folder.toUri() + "sp");
    Path file = Path.of(System.getProperty("tidemark.golden.savepoint"));
    try (OutputStream out = Files.newOutputStream(file);
        ZipOutputStream zip = new ZipOutputStream(out)) {
      Path made = Path.of(java.net.URI.create(savepoint));
      try (Stream<Path> all = Files.walk(made)) {
        for (Path state : all.filter(Files::isRegularFile).sorted().toList()) {
          add(zip, SAVEPOINT + made.relativize(state), Files.readAllBytes(state));
        }
      }
      List<ObjectInfo> objects = killed.store().list("", "", Integer.MAX_VALUE);
      for (ObjectInfo object : objects) {
        add(zip, SHARDS + object.key(), killed.store().get(object.key()).orElseThrow());
      }
    }
    assertThat(Files.size(file)).as("bytes of " + file).isLessThan(MOST_BYTES);
  }

  private static void add(ZipOutputStream zip, String name, byte[] bytes) throws IOException {
    zip.putNextEntry(new ZipEntry(name));
    zip.write(bytes);
    zip.closeEntry();
  }
}
