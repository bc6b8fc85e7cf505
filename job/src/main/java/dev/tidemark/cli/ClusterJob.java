package dev.tidemark.cli;

import dev.tidemark.job.JobFrame;
import dev.tidemark.job.StartPoint;
import dev.tidemark.job.TidemarkJob;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.runtime.client.JobExecutionException;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.rest.messages.EmptyRequestBody;
import org.apache.flink.runtime.rest.messages.JobMessageParameters;
import org.apache.flink.runtime.rest.messages.checkpoints.CheckpointStatistics;
import org.apache.flink.runtime.rest.messages.checkpoints.CheckpointingStatistics;
import org.apache.flink.runtime.rest.messages.checkpoints.CheckpointingStatisticsHeaders;
import org.apache.flink.runtime.rest.messages.job.JobDetailsInfo;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.ExceptionUtils;
import org.jspecify.annotations.Nullable;

/** A job on a Flink cluster, which goes on without this process. Not thread-safe. */
final class ClusterJob implements AttendedJob {
  private static final long ANSWER_SECONDS = 3;

  /** What Flink calls the savepoint that a job is stopped with. */
  private static final String STOPPED = "SYNC_SAVEPOINT";

  private final FlinkCluster cluster;
  private final JobID id;
  private final CompletableFuture<JobResult> result;

  /** Once it has ended. */
  private @Nullable JobExecutionResult ended;

  private ClusterJob(FlinkCluster cluster, JobID id) {
    this.cluster = cluster;
    this.id = id;
    this.result = cluster.patient().requestJobResult(id);
  }

  /**
   * Submits what {@code build} builds.
   *
   * @param jar what the cluster runs it by
   * @throws CommandException when the cluster doesn't take it
   */
  static ClusterJob submit(
      FlinkCluster cluster,
      JobFrame options,
      StartPoint from,
      Path jar,
      Consumer<StreamExecutionEnvironment> build)
      throws Exception {
    Configuration conf = TidemarkJob.configuration(options);
    conf.addAll(cluster.configuration());
    List<String> jars = new ArrayList<>(conf.getOptional(PipelineOptions.JARS).orElse(List.of()));
    jars.add(jar.toUri().toString());
    conf.set(PipelineOptions.JARS, jars);
    from.apply(conf);
    StreamExecutionEnvironment env = new StreamExecutionEnvironment(conf);
    build.accept(env);
    try {
      return new ClusterJob(cluster, env.executeAsync(options.name()).getJobID());
    } catch (Exception e) {
      if (ExceptionUtils.findThrowable(e, JobExecutionException.class).isPresent()) {
        throw JobFailure.of(e, Optional::empty);
      }
      throw new CommandException(
          Exit.STORE,
          "the cluster at " + cluster + " doesn't take the job: " + FlinkCluster.brief(e),
          e);
    }
  }

  String id() {
    return id.toString();
  }

  /** Its page of the web UI. */
  String page() {
    return cluster.page("/#/job/running/" + id);
  }

  /** Whether its end has been seen. */
  boolean hasEnded() {
    return ended != null;
  }

  @Override
  public boolean await(long millis) throws ExecutionException, InterruptedException {
    JobResult answer;
    try {
      answer = result.get(millis, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException e) {
      throw lost(e);
    }
    try {
      ended = answer.toJobExecutionResult(ClusterJob.class.getClassLoader());
      return true;
    } catch (JobExecutionException | IOException | ClassNotFoundException e) {
      throw new ExecutionException(e);
    }
  }

  private CommandException lost(Throwable thrown) {
    if (FlinkCluster.unknown(thrown)) {
      return new CommandException(
          Exit.JOB,
          "the cluster at "
              + cluster
              + " no longer knows the job "
              + id
              + ": a job manager without high availability that ends forgets its jobs; the same"
              + " command goes on from the newest checkpoint",
          thrown);
    }
    return new CommandException(
        Exit.STORE,
        "the cluster at "
            + cluster
            + " doesn't answer any more ("
            + FlinkCluster.brief(thrown)
            + "), and whether the job goes on isn't known; look at "
            + page(),
        thrown);
  }

  @Override
  public Map<String, Long> counts() throws InterruptedException {
    if (ended != null) {
      return AttendedJob.counts(ended.getAllAccumulatorResults());
    }
    try {
      return AttendedJob.counts(
          cluster
              .quick()
              .getAccumulators(id, ClusterJob.class.getClassLoader())
              .get(ANSWER_SECONDS, TimeUnit.SECONDS));
    } catch (ExecutionException | TimeoutException e) {
      // Between two attempts, or just ended: the next look tells.
      return AttendedJob.counts(Map.of());
    }
  }

  @Override
  public Optional<String> waiting() throws InterruptedException {
    JobDetailsInfo details;
    int free;
    try {
      details = cluster.quick().getJobDetails(id).get(ANSWER_SECONDS, TimeUnit.SECONDS);
      free = cluster.facts().free();
    } catch (ExecutionException | TimeoutException | CommandException e) {
      return Optional.of("the cluster at " + cluster + " doesn't answer");
    }
    JobStatus status = details.getJobStatus();
    if (status == JobStatus.RESTARTING || status == JobStatus.FAILING) {
      return Optional.of("it has failed and is tried again; " + page() + " says by what");
    }
    Map<ExecutionState, Integer> states = details.getJobVerticesPerState();
    int all = states.values().stream().mapToInt(Integer::intValue).sum();
    int running =
        states.getOrDefault(ExecutionState.RUNNING, 0)
            + states.getOrDefault(ExecutionState.FINISHED, 0);
    int scheduled =
        states.getOrDefault(ExecutionState.SCHEDULED, 0)
            + states.getOrDefault(ExecutionState.CREATED, 0);
    if (all > 0 && running == all) {
      return Optional.empty();
    }
    return Optional.of(
        scheduled > 0 && free == 0
            ? "waiting for slots, of which the cluster has none free: "
                + cluster.page("/#/overview")
            : "starting, " + running + " of " + all + " operators run");
  }

  @Override
  public Optional<String> stoppedAt() throws InterruptedException {
    JobMessageParameters parameters = new JobMessageParameters();
    parameters.jobPathParameter.resolve(id);
    try {
      CheckpointingStatistics statistics =
          cluster
              .patient()
              .sendRequest(
                  CheckpointingStatisticsHeaders.getInstance(),
                  parameters,
                  EmptyRequestBody.getInstance())
              .get(ANSWER_SECONDS, TimeUnit.SECONDS);
      CheckpointingStatistics.@Nullable LatestCheckpoints latest =
          statistics.getLatestCheckpoints();
      CheckpointStatistics.@Nullable CompletedCheckpointStatistics savepoint =
          latest == null ? null : latest.getSavepointStatistics();
      if (savepoint == null) {
        return Optional.empty();
      }
      Object type = savepoint.getCheckpointType(); // Flink's own name for it is not public
      return type.toString().equals(STOPPED)
          ? Optional.ofNullable(savepoint.getExternalPath())
          : Optional.empty();
    } catch (ExecutionException | TimeoutException e) {
      throw lost(e);
    }
  }
}
