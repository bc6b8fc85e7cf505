package dev.tidemark.store.s3;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.api.RetryStrategy;
import software.amazon.awssdk.services.s3.LegacyMd5Plugin;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;

/**
 * The SDK's clients for one set of settings: three, so that commits, uploads and reads each have
 * connections of their own. Stores with equal settings share them; they are made when first used
 * and closed with the last store.
 */
final class S3Clients {
  /** How long a connection may take to come about, of the time that a request has. */
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

  private static final Map<S3Settings, S3Clients> OPEN = new HashMap<>();

  private final S3Settings settings;
  private final S3Strain strain = new S3Strain();
  private int users;
  private @Nullable S3Client commit;
  private @Nullable S3Client upload;
  private @Nullable S3Client read;
  private @Nullable ExecutorService threads;

  private S3Clients(S3Settings settings) {
    this.settings = settings;
  }

  /** One more user of these clients. */
  static S3Clients acquire(S3Settings settings) {
    synchronized (OPEN) {
      S3Clients clients = OPEN.computeIfAbsent(settings, S3Clients::new);
      clients.users++;
      return clients;
    }
  }

  /** One user less. */
  void release() {
    synchronized (OPEN) {
      users--;
      if (users > 0) {
        return;
      }
      OPEN.remove(settings);
    }
    closeAll();
  }

  /** How many sets of clients are open, for tests. */
  static int openSets() {
    synchronized (OPEN) {
      return OPEN.size();
    }
  }

  private synchronized void closeAll() {
    for (S3Client client : new @Nullable S3Client[] {commit, upload, read}) {
      if (client != null) {
        client.close();
      }
    }
    if (threads != null) {
      threads.shutdown();
    }
  }

  /** How hard pressed the store is, as all users see it. */
  S3Strain strain() {
    return strain;
  }

  synchronized S3Client commit() {
    if (commit == null) {
      commit = client(settings.connections().commit());
    }
    return commit;
  }

  synchronized S3Client upload() {
    if (upload == null) {
      upload = client(settings.connections().upload());
    }
    return upload;
  }

  synchronized S3Client read() {
    if (read == null) {
      read = client(settings.connections().read());
    }
    return read;
  }

  /** Threads that help with large uploads; as many as there are uploads, none when idle. */
  synchronized ExecutorService threads() {
    if (threads == null) {
      threads =
          new ThreadPoolExecutor(
              0,
              Integer.MAX_VALUE,
              10,
              TimeUnit.SECONDS,
              new SynchronousQueue<>(),
              work -> {
                Thread thread = new Thread(work, "tidemark-s3-upload");
                thread.setDaemon(true);
                return thread;
              });
    }
    return threads;
  }

  private S3Client client(int connections) {
    Duration timeout = settings.requestTimeout();
    S3ClientBuilder builder =
        S3Client.builder()
            .httpClientBuilder(
                Apache5HttpClient.builder()
                    .maxConnections(connections)
                    .connectionTimeout(
                        timeout.compareTo(CONNECT_TIMEOUT) < 0 ? timeout : CONNECT_TIMEOUT)
                    .connectionAcquisitionTimeout(timeout)
                    .socketTimeout(timeout))
            .forcePathStyle(settings.pathStyle())
            .overrideConfiguration(
                override ->
                    override
                        .retryStrategy(retries())
                        .apiCallAttemptTimeout(timeout)
                        .addExecutionInterceptor(new S3Attempts.Interceptor()));
    settings.endpoint().ifPresent(builder::endpointOverride);
    Optional<Region> region = settings.region().map(Region::of);
    if (region.isEmpty() && settings.endpoint().isPresent()) {
      region = Optional.of(Region.US_EAST_1);
    }
    region.ifPresent(builder::region);
    settings
        .keys()
        .map(keys -> AwsBasicCredentials.create(keys.access(), keys.secret()))
        .ifPresent(keys -> builder.credentialsProvider(StaticCredentialsProvider.create(keys)));
    if (!settings.checksums()) {
      // Ceph 16 takes the signature of an empty body in chunks for a wrong one.
      builder
          .serviceConfiguration(configuration -> configuration.chunkedEncodingEnabled(false))
          .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
          .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
          .addPlugin(LegacyMd5Plugin.create());
    }
    return builder.build();
  }

  /** The SDK's standard retries with jitter; they leave out 409, "nobody won, ask again". */
  private RetryStrategy retries() {
    return AwsRetryStrategy.standardRetryStrategy().toBuilder()
        .maxAttempts(settings.tries())
        .retryOnException(
            e -> e instanceof AwsServiceException answer && answer.statusCode() == 409)
        .build();
  }
}
