package dev.tidemark.store.s3;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.log.Author;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.TestShard;
import dev.tidemark.read.Verifier;
import dev.tidemark.row.Seeds;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.ObjectStoreContract;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * A real server behind a faulty one: the contract with nothing wrong, and races and whole workloads
 * with everything wrong that can be between two ends of a connection.
 */
abstract class S3OverHttp extends ObjectStoreContract {
  static final String BUCKET = "tidemark-http";

  private static final double RATE = 0.06;

  private @Nullable FaultyS3 proxy;

  /** Where the real server is. */
  abstract URI endpoint();

  /** How to ask the real server, but for the endpoint. */
  abstract Map<String, String> options();

  /** Whether the server can list unfinished uploads. */
  abstract boolean listsUploads();

  private FaultyS3 proxy() throws IOException {
    FaultyS3 known = proxy;
    if (known == null) {
      known = new FaultyS3(endpoint());
      proxy = known;
    }
    return known;
  }

  @AfterEach
  void stopProxy() throws IOException {
    proxy().close();
  }

  private StoreSettings settings(URI place, String timeout, String tries) {
    Map<String, String> s3 = new HashMap<>(options());
    s3.put("endpoint", place.toString());
    s3.put("request-timeout", timeout);
    s3.put("tries", tries);
    return new StoreSettings(s3);
  }

  @Override
  protected ObjectStore open(String prefix) throws IOException {
    return Stores.open("s3://" + BUCKET + "/" + prefix, settings(proxy().endpoint(), "30 s", "5"));
  }

  private ObjectStore straight(String prefix) {
    return Stores.open("s3://" + BUCKET + "/" + prefix, settings(endpoint(), "30 s", "5"));
  }

  private static String fresh() {
    return "http/" + UUID.randomUUID();
  }

  @Test
  @DisplayName("one of eight writers at one key wins, and is told so")
  void oneWins() throws Exception {
    try (ObjectStore store = open(fresh())) {
      S3Race.run(store, 20, true);
    }
  }

  @Test
  @DisplayName("P-S3-01: one of eight writers wins, whatever answers are lost")
  void oneWinsAmidFaults() {
    Seeds.each(
        1,
        random -> {
          FaultMix mix = new FaultMix(random.nextLong(), 0.1);
          proxy().otherwise = mix;
          String prefix = "s3://" + BUCKET + "/" + fresh();
          try (ObjectStore store = Stores.open(prefix, settings(proxy().endpoint(), "1 s", "3"))) {
            S3Race.run(store, 10, false);
          }
          assertThat(mix.faults()).isPositive();
        });
  }

  @Test
  @DisplayName("writers, merges, GC and a reader amid all faults: nothing lost, nothing wrong")
  void workloadAmidFaults() {
    Seeds.each(1, random -> work(random, new FaultMix(random.nextLong(), RATE), 3, 12));
  }

  @Test
  @DisplayName("P-S3-03: told to slow down, now and then and then always: late, and nothing lost")
  void workloadToldToSlowDown() {
    Seeds.each(1, random -> work(random, new SlowSpell(random.nextLong()), 8, 3));
  }

  private void work(Random random, FaultyS3.Fault faults, int writers, int appends)
      throws Exception {
    proxy().otherwise = faults;
    StoreSettings settings = settings(proxy().endpoint(), "2 s", "3");
    String prefix = fresh();
    S3Workload workload =
        new S3Workload(
            () -> Stores.open("s3://" + BUCKET + "/" + prefix, settings), writers, appends);
    try (ObjectStore store = straight(prefix)) {
      S3Workload.Outcome done = workload.run(random);
      workload.checkEnd(store);
      assertThat(done.merges()).as("%s", done).isPositive();
      assertThat(done.snapshots()).as("%s", done).isPositive();
      assertThat(done.deleted()).as("%s", done).isPositive();
    }
  }

  /** Ten times in a row, an answer lost before or after the store acted, now and then a rival. */
  @Test
  @DisplayName("P-S3-01: whose entry is there is told by its nonce, not by an answer")
  void lostAnswersOfAppends() throws Exception {
    String prefix = fresh();
    try (ObjectStore store = open(prefix);
        ObjectStore rivals = straight(prefix)) {
      ShardLog log = new ShardLog(store);
      ShardLog rival = new ShardLog(rivals);
      log.commit(new Command.Create("s", TestShard.SCHEMA, S3Workload.SPEC), author("ours"));
      log.commit(S3Workload.empty(log.known().upper(), Frontier.of(1_000)), author("ours"));
      for (long round = 1; round <= 10; round++) {
        if (round % 2 == 0) {
          rival.commit(new Command.DowngradeSince(Frontier.of(10 * round)), author("rival"));
        }
        boolean acted = round % 3 > 0;
        proxy()
            .faults
            .add(
                (server, request, connection) ->
                    (request.method.equals("PUT")
                            ? acted ? FaultyS3.ANSWER_LOST : FaultyS3.REQUEST_LOST
                            : FaultyS3.NONE)
                        .serve(server, request, connection));
        CommitResult result =
            log.commit(new Command.DowngradeSince(Frontier.of(10 * round + 1)), author("ours"));
        assertThat(result).isInstanceOf(CommitResult.Committed.class);
      }
      // One version each, none twice.
      assertThat(rival.refresh().seqno().value()).isEqualTo(2 + 10 + 5);
      assertThat(new Verifier(rival).verify(true).findings()).isEmpty();
    }
  }

  @Test
  @DisplayName("uploads begun long ago and never finished are dropped, no others")
  void staleUploads() throws Exception {
    String prefix = fresh();
    try (ObjectStore store = straight(prefix);
        S3Client client = client()) {
      for (String key : new String[] {"/part/a", "/part/b", "x/part/c"}) {
        client.createMultipartUpload(request -> request.bucket(BUCKET).key(prefix + key));
      }
      Instant now = Instant.now();
      assertThat(store.dropUploads("part/", now.minus(Duration.ofHours(2)), 10)).isZero();
      int all = listsUploads() ? 2 : 0;
      Instant later = now.plus(Duration.ofHours(2));
      assertThat(store.dropUploads("part/", later, 1)).isEqualTo(Math.min(1, all));
      assertThat(store.dropUploads("part/", later, 10)).isEqualTo(Math.max(0, all - 1));
      assertThat(store.dropUploads("part/", later, 10)).isZero();
    }
  }

  private static Author author(String id) {
    return new Author(new WriterAttempt(id, "2026-11-30T00:00:00Z", id + "-1", "host"), "test");
  }

  S3Client client() {
    return S3Client.builder()
        .endpointOverride(endpoint())
        .forcePathStyle(true)
        .region(Region.US_EAST_1)
        .credentialsProvider(
            StaticCredentialsProvider.create(
                AwsBasicCredentials.create(
                    options().getOrDefault("access-key", ""),
                    options().getOrDefault("secret-key", ""))))
        .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
        .build();
  }
}
