package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.log.ShardLog;
import dev.tidemark.read.Verifier;
import dev.tidemark.shard.Fact;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Bounds;
import dev.tidemark.spine.PartLocation;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.executiongraph.AccessExecutionJobVertex;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.util.TestStreamEnvironment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The machine that merges is lost in the middle of a merge. Two task managers have a slot each, so
 * that merge, whose slots are its own, has one of them to itself.
 */
@Timeout(180)
final class LostMergerTest {
  private static final SpineSpec SPEC = new SpineSpec(4, 8, 8, 1 << 10, 2.0, true);
  private static final Pattern ID = Pattern.compile("\"id\":\"([^\"]+)\"");

  @TempDir Path folder;

  private final TestShards shards = new TestShards(SPEC);
  private final ShardTarget shard = shards.shard("a");
  private MiniCluster cluster;

  /** The id of the task manager numbered 1; 2 is the other. */
  private String first = "";

  @BeforeEach
  void start() throws Exception {
    CountedRows.Faults.reset();
    Configuration conf = new Configuration();
    conf.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(128));
    cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(conf)
                .setNumTaskManagers(2)
                .setNumSlotsPerTaskManager(1)
                .withRandomPorts()
                .build());
    cluster.start();
    // which of two ids has which number is said nowhere, but for one that comes later
    List<String> two = awaitTaskManagers(2);
    cluster.startTaskManager();
    awaitTaskManagers(3);
    cluster.terminateTaskManager(0).get();
    List<String> left = awaitTaskManagers(2);
    left.retainAll(two);
    first = left.get(0);
  }

  private List<String> awaitTaskManagers(int count) throws Exception {
    List<String> ids = taskManagers();
    while (ids.size() != count) {
      TimeUnit.MILLISECONDS.sleep(20);
      ids = taskManagers();
    }
    return ids;
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  private List<String> taskManagers() throws Exception {
    URI uri = cluster.getRestAddress().get().resolve("/taskmanagers");
    String answer =
        HttpClient.newHttpClient()
            .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
            .body();
    Matcher id = ID.matcher(answer);
    List<String> ids = new ArrayList<>();
    while (id.find()) {
      ids.add(id.group(1));
    }
    return ids;
  }

  private String taskManagerOfMerge(JobClient job) throws Exception {
    for (AccessExecutionJobVertex vertex :
        cluster.getExecutionGraph(job.getJobID()).get().getVerticesTopologically()) {
      if (vertex.getName().equals("merge")) {
        return vertex
            .getTaskVertices()[0]
            .getCurrentAssignedResourceLocation()
            .getResourceID()
            .toString();
      }
    }
    throw new AssertionError("the job has no merge");
  }

  private static Set<String> keys(Batch batch) {
    return batch.runs().stream()
        .flatMap(List::stream)
        .map(part -> part.location())
        .filter(PartLocation.Stored.class::isInstance)
        .map(location -> ((PartLocation.Stored) location).key())
        .collect(Collectors.toSet());
  }

  /**
   * One chunk of the first merge is done and in the checkpoint as a result, two are under way and
   * the rest waits, in the checkpoint as tasks. After the loss the first isn't done again, the
   * others are; the merge is installed once, with the part that the lost machine wrote.
   */
  @Test
  void theMergeGoesOnWhereTheCheckpointHasIt() throws Exception {
    BlockedMerges store =
        new BlockedMerges(Stores.open("memory:" + shards.store, StoreSettings.DEFAULT));
    Stores.putMemory(shards.store, store);
    CountedRows.Faults.others = store::isBlocked;
    long rows = 4_000;
    store.allow(1);
    TestStreamEnvironment env =
        new TestStreamEnvironment(
            cluster, TestJobs.conf(folder.toUri() + "ckpt", 50), 1, List.of(), List.of());
    JobClient job = TestJobs.submit(env, shard, TestShards.settings(1, 1 << 20, 64, 500), rows, 5);
    TestJobs.await(
        "one chunk is done and others are under way",
        job,
        () -> store.uploaded().size() == 1 && store.waiting() == 2);
    int checkpoints = CountedRows.Faults.CHECKPOINTS.get();
    TestJobs.await(
        "a checkpoint has it", job, () -> CountedRows.Faults.CHECKPOINTS.get() >= checkpoints + 4);

    cluster.startTaskManager();
    awaitTaskManagers(3);
    cluster.terminateTaskManager(taskManagerOfMerge(job).equals(first) ? 1 : 2).get();
    TestJobs.await("it was restored", job, () -> CountedRows.Faults.STARTS.get() >= 2);
    TestJobs.await("chunks are done again", job, () -> store.waiting() == 2);
    String written = store.uploaded().get(0);
    store.unblock();
    job.getJobExecutionResult().get();

    List<Batch> installed =
        TestShards.entries(shard).stream()
            .filter(entry -> entry.command().equals("install"))
            .flatMap(entry -> entry.diff().add().stream())
            .filter(Fact.BatchFact.class::isInstance)
            .map(fact -> ((Fact.BatchFact) fact).batch())
            .toList();
    assertThat(installed.stream().filter(batch -> named(batch, written)).count())
        .as("merges that the part of the lost machine is in, of " + installed.size())
        .isPositive();
    assertThat(TestShards.updates(shard)).hasSize((int) rows).doesNotHaveDuplicates();
    assertThat(new Verifier(new ShardLog(TestShards.open(shard))).verify(true).findings())
        .isEmpty();
    ShardState state = TestShards.state(shard);
    assertThat(state.batches().stream().mapToLong(Batch::runCount).sum())
        .as("ReadBound")
        .isLessThanOrEqualTo(Bounds.of(SPEC, state.written()).runs());
  }

  /** Whether a batch has a part, whose key there begins at the store, here at the shard. */
  private static boolean named(Batch batch, String uploaded) {
    return keys(batch).stream().anyMatch(uploaded::endsWith);
  }
}
