package dev.tidemark.cli;

import dev.tidemark.job.JobFrame;
import dev.tidemark.job.JobOptions;
import dev.tidemark.job.StartPoint;
import dev.tidemark.job.TidemarkJob;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.HeartbeatManagerOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** A job that runs in this JVM, with Flink's web UI on loopback. */
final class EmbeddedJob implements AttendedJob {
  private static final int PORTS_TRIED = 100;
  private static final long STOP_TIMEOUT_SECONDS = 120;

  private final JobClient client;
  private final int uiPort;

  private EmbeddedJob(JobClient client, int uiPort) {
    this.client = client;
    this.uiPort = uiPort;
  }

  /** Builds and submits the job. */
  static EmbeddedJob start(JobOptions options, StartPoint from) throws Exception {
    return start(options, from, env -> TidemarkJob.build(env, options));
  }

  /** Submits what {@code build} builds. */
  static EmbeddedJob start(
      JobFrame options, StartPoint from, Consumer<StreamExecutionEnvironment> build)
      throws Exception {
    Configuration conf = TidemarkJob.configuration(options);
    // Counters travel with the heartbeat: once a second, as the progress line is printed.
    conf.set(HeartbeatManagerOptions.HEARTBEAT_INTERVAL, Duration.ofSeconds(1));
    int port = freePort(options.uiPort());
    conf.set(RestOptions.PORT, port);
    conf.set(RestOptions.BIND_PORT, Integer.toString(port));
    conf.set(RestOptions.BIND_ADDRESS, "127.0.0.1");
    conf.set(RestOptions.ADDRESS, "127.0.0.1");
    from.apply(conf);
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.createLocalEnvironmentWithWebUI(conf);
    build.accept(env);
    return new EmbeddedJob(env.executeAsync(options.name()), port);
  }

  /** The first free port from {@code first} on; any free one for 0. */
  private static int freePort(int first) {
    for (int port = first; port < first + PORTS_TRIED && port <= 65_535; port++) {
      int free = bind(port);
      if (free > 0) {
        return free;
      }
    }
    throw new CommandException(
        Exit.USAGE, "no free port for the web UI from " + first + " on; --ui.port takes another");
  }

  /** The port if it is free, else 0. */
  private static int bind(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1);
      return socket.getLocalPort();
    } catch (IOException busy) {
      return 0;
    }
  }

  /** Where the web UI is. */
  String ui() {
    return "http://127.0.0.1:" + uiPort;
  }

  @Override
  public boolean await(long millis) throws ExecutionException, InterruptedException {
    try {
      CompletableFuture<JobExecutionResult> result = client.getJobExecutionResult();
      result.get(millis, TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    }
  }

  @Override
  public Map<String, Long> counts() throws InterruptedException {
    try {
      return AttendedJob.counts(
          client.getJobExecutionResult().isDone()
              ? client.getJobExecutionResult().get().getAllAccumulatorResults()
              : client.getAccumulators().get(1, TimeUnit.SECONDS));
    } catch (ExecutionException | TimeoutException | IllegalStateException e) {
      // Not running yet, between two attempts, or just ended: the next look tells.
      return AttendedJob.counts(Map.of());
    }
  }

  /** It has a cluster of its own, with slots for all of it. */
  @Override
  public Optional<String> waiting() {
    return Optional.empty();
  }

  /** Nobody else has stopped it: who does comes by {@link #stop}. */
  @Override
  public Optional<String> stoppedAt() {
    return Optional.empty();
  }

  /** Cancels the job and waits for its end. */
  void cancel() throws InterruptedException {
    try {
      client.cancel().get(STOP_TIMEOUT_SECONDS, TimeUnit.SECONDS);
      client.getJobExecutionResult().get(STOP_TIMEOUT_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException | IllegalStateException e) {
      // It was cancelled, which is no result, or it had ended by itself.
      return;
    }
  }

  /**
   * Stops the job with a savepoint.
   *
   * @return the savepoint's path
   */
  String stop(String directory) throws ExecutionException, InterruptedException, TimeoutException {
    return client
        .stopWithSavepoint(false, directory, SavepointFormatType.NATIVE)
        .get(STOP_TIMEOUT_SECONDS, TimeUnit.SECONDS);
  }
}
