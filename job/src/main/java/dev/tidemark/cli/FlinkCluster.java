package dev.tidemark.cli;

import java.net.ConnectException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.client.deployment.StandaloneClusterId;
import org.apache.flink.client.program.rest.RestClusterClient;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.SecurityOptions;
import org.apache.flink.runtime.rest.handler.legacy.messages.ClusterOverviewWithVersion;
import org.apache.flink.runtime.rest.messages.ClusterConfigurationInfoHeaders;
import org.apache.flink.runtime.rest.messages.ClusterOverviewHeaders;
import org.apache.flink.runtime.rest.messages.ConfigurationInfo;
import org.apache.flink.runtime.rest.messages.EmptyMessageParameters;
import org.apache.flink.runtime.rest.messages.EmptyRequestBody;
import org.apache.flink.runtime.rest.messages.JobsOverviewHeaders;
import org.apache.flink.runtime.rest.messages.MessageHeaders;
import org.apache.flink.runtime.rest.messages.ResponseBody;
import org.apache.flink.runtime.rest.util.RestClientException;
import org.apache.flink.util.ExceptionUtils;

/** A Flink cluster that runs already, asked by its REST address. */
final class FlinkCluster implements AutoCloseable {
  private static final long ANSWER_SECONDS = 10;
  private static final Duration CONNECT = Duration.ofSeconds(5);
  private static final int MOST_BRIEF = 300;

  /**
   * What a cluster says of itself.
   *
   * @param version Flink's version
   * @param slots slots in all
   * @param free those of them that no job has
   */
  record Facts(String version, int slots, int free) {}

  private final TargetAddress address;
  private final Configuration conf;

  /** Gives up at once: for questions that are asked again anyway. */
  private final RestClusterClient<StandaloneClusterId> quick;

  /** Tries for a minute, as Flink's own client does. */
  private final RestClusterClient<StandaloneClusterId> patient;

  private FlinkCluster(TargetAddress address, Configuration conf) throws Exception {
    this.address = address;
    this.conf = conf;
    Configuration once = new Configuration(conf);
    once.set(RestOptions.RETRY_MAX_ATTEMPTS, 0);
    once.set(RestOptions.CONNECTION_TIMEOUT, CONNECT);
    this.quick = new RestClusterClient<>(once, StandaloneClusterId.getInstance());
    this.patient = new RestClusterClient<>(conf, StandaloneClusterId.getInstance());
  }

  /**
   * The way to a cluster; asks it nothing yet.
   *
   * @throws CommandException when nobody knows the host
   */
  static FlinkCluster at(TargetAddress address, Map<String, String> flink) throws Exception {
    Configuration conf = new Configuration();
    flink.forEach(conf::setString);
    conf.set(DeploymentOptions.TARGET, "remote");
    conf.set(DeploymentOptions.ATTACHED, false);
    conf.set(JobManagerOptions.ADDRESS, address.host());
    conf.set(JobManagerOptions.PORT, address.port());
    conf.set(RestOptions.ADDRESS, address.host());
    conf.set(RestOptions.PORT, address.port());
    try {
      return new FlinkCluster(address, conf);
    } catch (UnknownHostException e) {
      throw unreachable(address, e);
    }
  }

  /** What a job's configuration needs to get here. */
  Configuration configuration() {
    return new Configuration(conf);
  }

  RestClusterClient<StandaloneClusterId> quick() {
    return quick;
  }

  RestClusterClient<StandaloneClusterId> patient() {
    return patient;
  }

  /** The page of the web UI, or of one of its parts. */
  String page(String part) {
    String scheme = SecurityOptions.isRestSSLEnabled(conf) ? "https" : "http";
    return scheme + "://" + address + part;
  }

  /**
   * Asks the cluster what it is.
   *
   * @throws CommandException when nobody answers, or somebody else does
   */
  Facts facts() throws InterruptedException {
    ClusterOverviewWithVersion overview = ask(ClusterOverviewHeaders.getInstance());
    return new Facts(
        overview.getVersion(), overview.getNumSlotsTotal(), overview.getNumSlotsAvailable());
  }

  /** The id of a job of this name that has not ended. */
  Optional<String> running(String name) throws InterruptedException {
    return ask(JobsOverviewHeaders.getInstance()).getJobs().stream()
        .filter(job -> job.getJobName().equals(name) && !job.getStatus().isGloballyTerminalState())
        .map(job -> job.getJobId().toString())
        .findFirst();
  }

  /** Whether it starts task managers as jobs need them, or runs a job with the slots there are. */
  boolean adapts() throws InterruptedException {
    ConfigurationInfo settings = ask(ClusterConfigurationInfoHeaders.getInstance());
    return settings.stream()
        .anyMatch(
            entry ->
                entry.getKey().equals("kubernetes.cluster-id")
                    || entry.getKey().startsWith("yarn.")
                    || (entry.getKey().equals("jobmanager.scheduler")
                        && entry.getValue().equalsIgnoreCase("adaptive"))
                    || (entry.getKey().equals("scheduler-mode")
                        && entry.getValue().equalsIgnoreCase("reactive")));
  }

  private <P extends ResponseBody> P ask(
      MessageHeaders<EmptyRequestBody, P, EmptyMessageParameters> question)
      throws InterruptedException {
    CompletableFuture<P> answer =
        quick.sendRequest(
            question, EmptyMessageParameters.getInstance(), EmptyRequestBody.getInstance());
    try {
      return answer.get(ANSWER_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new CommandException(
          Exit.STORE,
          "--target "
              + address
              + ": no answer within "
              + ANSWER_SECONDS
              + " s; is it the REST address of a Flink cluster, that of its web UI?",
          e);
    } catch (ExecutionException e) {
      throw unreachable(address, e);
    }
  }

  private static CommandException unreachable(TargetAddress address, Throwable thrown) {
    String why;
    if (ExceptionUtils.findThrowable(thrown, UnknownHostException.class).isPresent()) {
      why = "no host of that name is known";
    } else if (ExceptionUtils.findThrowable(thrown, ConnectException.class).isPresent()) {
      why =
          "nobody listens there; is the cluster up, and is this its REST address, that of its web"
              + " UI?";
    } else {
      why =
          "who answers there is no Flink cluster, or not at its REST address, that of its web UI ("
              + brief(thrown)
              + ")";
    }
    return new CommandException(Exit.STORE, "--target " + address + ": " + why, thrown);
  }

  /** Whether the cluster itself said that it doesn't have what was asked for. */
  static boolean unknown(Throwable thrown) {
    return ExceptionUtils.findThrowable(thrown, RestClientException.class)
        .map(e -> e.getHttpResponseStatus().code() == 404)
        .orElse(false);
  }

  /** The one line that says most: what a server answers is a whole stack trace. */
  static String brief(Throwable thrown) {
    Throwable deepest = thrown;
    for (int depth = 0; deepest.getCause() != null && depth < MOST_BRIEF; depth++) {
      deepest = deepest.getCause();
    }
    String said = deepest.getMessage() == null ? deepest.toString() : deepest.getMessage();
    String line =
        said.lines()
            .filter(text -> text.startsWith("Caused by: "))
            .reduce((first, second) -> second)
            .map(text -> text.substring("Caused by: ".length()))
            .orElseGet(() -> said.lines().findFirst().orElse(said));
    return line.length() <= MOST_BRIEF ? line : line.substring(0, MOST_BRIEF) + "...";
  }

  @Override
  public void close() {
    quick.close();
    patient.close();
  }

  @Override
  public String toString() {
    return address.toString();
  }
}
