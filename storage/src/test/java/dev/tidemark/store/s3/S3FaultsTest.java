package dev.tidemark.store.s3;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.tidemark.store.Body;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.ObjectStore.Created;
import dev.tidemark.store.StoreException;
import dev.tidemark.store.StoreException.Reason;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class S3FaultsTest {
  private FaultyS3 server;
  private ObjectStore store;

  @BeforeEach
  void start() throws IOException {
    server = new FaultyS3();
    // Faults are counted request by request: a try that is only slow must not take another's.
    store = Stores.open("s3://bucket", server.settings("request-timeout", "30 s"));
  }

  @AfterEach
  void stop() throws IOException {
    store.close();
    server.close();
  }

  private interface Call {
    void run() throws Exception;
  }

  private static StoreException failure(Call call) {
    return catchThrowableOfType(StoreException.class, call::run);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private void next(int times, FaultyS3.Fault fault) {
    server.faults.addAll(Collections.nCopies(times, fault));
  }

  @Test
  void lostRequestIsTriedAgain() throws Exception {
    next(2, FaultyS3.REQUEST_LOST);
    assertThat(store.putIfAbsent("log/1", bytes("v"))).isEqualTo(Created.YES);
    assertThat(store.requests().puts()).isEqualTo(3);
    assertThat(server.objects.get("log/1")).isEqualTo(bytes("v"));
  }

  @Test
  void lostAnswerShowsAsExistsWithOurBytes() throws Exception {
    next(1, FaultyS3.ANSWER_LOST);
    assertThat(store.putIfAbsent("log/1", bytes("v"))).isEqualTo(Created.EXISTS);
    assertThat(store.get("log/1")).contains(bytes("v"));
  }

  @Test
  void allAnswersLostIsIndeterminate() {
    next(5, FaultyS3.ANSWER_LOST);
    StoreException e = failure(() -> store.putIfAbsent("log/1", bytes("v")));
    assertThat(e.indeterminate()).isTrue();
    assertThat(e.reason()).isEqualTo(Reason.UNAVAILABLE);
    assertThat(e).hasMessageContaining("bucket/log/1").hasMessageContaining("5 tries");
    assertThat(server.requests).hasSize(5);
  }

  @Test
  void timeoutOfAWriteIsIndeterminate() {
    try (ObjectStore hasty =
        Stores.open("s3://bucket", server.settings("request-timeout", "300 ms", "tries", "2"))) {
      next(2, FaultyS3.HANG);
      StoreException e = failure(() -> hasty.putIfAbsent("log/1", bytes("v")));
      assertThat(e.indeterminate()).isTrue();
      assertThat(e.reason()).isEqualTo(Reason.UNAVAILABLE);
      next(2, FaultyS3.HANG);
      assertThat(failure(() -> hasty.get("log/1")).indeterminate()).isFalse();
    }
  }

  @Test
  void conflictIsAskedAgain() throws Exception {
    next(3, FaultyS3.error(409, "ConditionalRequestConflict"));
    assertThat(store.putIfAbsent("log/1", bytes("v"))).isEqualTo(Created.YES);
    assertThat(server.requests).hasSize(4);
  }

  @Test
  void conflictToTheEndIsNoLostRace() {
    next(5, FaultyS3.error(409, "ConditionalRequestConflict"));
    StoreException e = failure(() -> store.putIfAbsent("log/1", bytes("v")));
    assertThat(e.reason()).isEqualTo(Reason.CONFLICT);
    assertThat(e.retryable()).isTrue();
    assertThat(e.indeterminate()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "500, InternalError, UNAVAILABLE",
    "500, UnknownError, UNAVAILABLE",
    "503, SlowDown, THROTTLED",
    "503, ServiceUnavailable, UNAVAILABLE",
  })
  void serverErrorsAreTriedAgainAndThenNamed(int status, String code, Reason reason)
      throws Exception {
    store.close();
    store = Stores.open("s3://bucket", server.settings("tries", "3"));
    next(2, FaultyS3.error(status, code));
    assertThat(store.putIfAbsent("log/1", bytes("v"))).isEqualTo(Created.YES);
    next(3, FaultyS3.error(status, code));
    StoreException e = failure(() -> store.putIfAbsent("log/2", bytes("v")));
    assertThat(e.reason()).isEqualTo(reason);
    assertThat(e.retryable()).isTrue();
    assertThat(e.indeterminate()).isTrue();
    assertThat(e).hasMessageContaining("s3://bucket/log/2").hasMessageContaining(code);
    next(3, FaultyS3.error(status, code));
    assertThat(failure(() -> store.get("log/1")).indeterminate()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 403, 404, 405, 500, 502, 503})
  void answersWithoutAReason(int status) {
    server.otherwise = FaultyS3.bare(status);
    StoreException write = failure(() -> store.putIfAbsent("log/1", bytes("v")));
    assertThat(write).hasMessageContaining("" + status);
    assertThat(write.indeterminate()).isEqualTo(status >= 500);
    // A 404 from who knows whom is not "there is no such object".
    StoreException read = failure(() -> store.get("log/1"));
    assertThat(read).hasMessageContaining("" + status);
    assertThat(read.indeterminate()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "get, s3:GetObject, bucket/k",
    "create, s3:PutObject, bucket/k",
    "put, s3:PutObject, bucket/k",
    "list, s3:ListBucket, bucket",
    "delete, s3:DeleteObject, bucket/k",
  })
  void missingRightIsNamed(String operation, String right, String resource) {
    server.otherwise = FaultyS3.error(403, "AccessDenied");
    Map<String, Call> calls =
        Map.of(
            "get", () -> store.get("k"),
            "create", () -> store.putIfAbsent("k", bytes("v")),
            "put", () -> store.put("k", Body.of(bytes("v"))),
            "list", () -> store.list("k", "", 1),
            "delete", () -> store.delete(List.of("k")));
    StoreException e = failure(calls.get(operation));
    assertThat(e.reason()).isEqualTo(Reason.DENIED);
    assertThat(e.retryable()).isFalse();
    assertThat(e.indeterminate()).isFalse();
    assertThat(e)
        .hasMessageContaining("cannot " + operation + " s3://bucket/k")
        .hasMessageContaining("access key somebody, which needs " + right)
        .hasMessageEndingWith("arn:aws:s3:::" + resource)
        .hasMessageNotContaining("hush");
  }

  @Test
  void aStoreThatRefusesChecksumsIsToldHow() {
    server.otherwise = FaultyS3.error(400, "XAmzContentSHA256Mismatch");
    assertThat(failure(() -> store.put("k", Body.of(bytes("v")))))
        .hasMessageContaining("s3.checksum = required");
  }

  @Test
  void nobodyListens() throws Exception {
    server.close();
    StoreException e = failure(() -> store.get("k"));
    assertThat(e.reason()).isEqualTo(Reason.UNAVAILABLE);
    assertThat(e)
        .hasMessageContaining("cannot reach " + server.endpoint())
        .hasMessageContaining("connection refused; is the server running? set s3.endpoint");
  }

  @Test
  void noSuchHost() {
    try (ObjectStore lost =
        Stores.open(
            "s3://bucket",
            new StoreSettings(
                Map.of(
                    "endpoint", "http://nowhere.invalid",
                    "access-key", "a",
                    "secret-key", "b",
                    "tries", "1")))) {
      StoreException e = failure(() -> lost.get("k"));
      assertThat(e.reason()).isEqualTo(Reason.UNAVAILABLE);
      assertThat(e).hasMessageContaining("unknown host").hasMessageContaining("s3.endpoint");
    }
  }

  @Test
  void cutBodiesAreReadAgainAndKeepNoConnection() throws Exception {
    byte[] value = new byte[300_000];
    new Random(3).nextBytes(value);
    server.objects.put("k", value);
    try (ObjectStore small = Stores.open("s3://bucket", server.settings("connections.read", "2"))) {
      for (int n = 0; n < 20; n++) {
        next(2, FaultyS3.TRUNCATED);
        assertThat(Arrays.equals(small.get("k").orElseThrow(), value)).isTrue();
        next(1, FaultyS3.TRUNCATED);
        assertThat(small.getRange("k", 7, 200_000)).contains(Arrays.copyOfRange(value, 7, 200_007));
      }
      next(5, FaultyS3.TRUNCATED);
      StoreException e = failure(() -> small.get("k"));
      assertThat(e.reason()).isEqualTo(Reason.UNAVAILABLE);
      assertThat(e.indeterminate()).isFalse();
      assertThat(small.get("k")).isPresent();
    }
  }

  @Test
  void anAnswerCutBeforeItSaysWhatIsMissingIsAskedForAgain() throws Exception {
    next(2, FaultyS3.TRUNCATED);
    assertThat(store.get("nothing here")).isEmpty();
    next(100, FaultyS3.TRUNCATED);
    StoreException e = failure(() -> store.get("nothing here"));
    assertThat(e.reason()).isEqualTo(Reason.UNAVAILABLE);
    assertThat(e.retryable()).isTrue();
  }

  @Test
  void bodiesAreSentAgainWhole() throws Exception {
    byte[] large = new byte[20 << 20];
    new Random(4).nextBytes(large);
    server.faults.add(FaultyS3.error(503, "SlowDown"));
    server.faults.add(FaultyS3.NONE);
    server.faults.add(FaultyS3.REQUEST_LOST);
    server.faults.add(FaultyS3.error(500, "InternalError"));
    store.put("part/a", new Body(List.of(Arrays.copyOf(large, 5), tail(large, 5))));
    assertThat(Arrays.equals(server.objects.get("part/a"), large)).isTrue();
    assertThat(server.unfinishedUploads()).isZero();
  }

  private static byte[] tail(byte[] bytes, int from) {
    return Arrays.copyOfRange(bytes, from, bytes.length);
  }

  @Test
  void failedPartsAreDropped() {
    next(1, FaultyS3.NONE);
    server.faults.add(FaultyS3.error(403, "AccessDenied"));
    StoreException e = failure(() -> store.put("part/a", Body.of(new byte[40 << 20])));
    assertThat(e.reason()).isEqualTo(Reason.DENIED);
    assertThat(e.indeterminate()).isFalse();
    assertThat(server.objects).isEmpty();
    assertThat(server.unfinishedUploads()).isZero();
  }

  @Test
  void completionThatSaysOkAndDidNothing() {
    next(3, FaultyS3.NONE);
    server.faults.add(
        (faulty, request, connection) ->
            connection.answer(
                FaultyS3.Answer.xml(
                    "<CompleteMultipartUploadResult><ETag>e</ETag></CompleteMultipartUploadResult>")));
    StoreException e = failure(() -> store.put("part/a", Body.of(new byte[20 << 20])));
    assertThat(e.reason()).isEqualTo(Reason.CORRUPT);
    assertThat(e).hasMessageContaining("part/a");
  }

  @Test
  void completionWhoseAnswerIsLostIsRecognized() throws Exception {
    next(3, FaultyS3.NONE);
    next(1, FaultyS3.ANSWER_LOST);
    store.put("part/a", Body.of(new byte[20 << 20]));
    assertThat(server.objects.get("part/a")).hasSize(20 << 20);
    assertThat(server.requests.stream().map(request -> request.method))
        .containsExactly("POST", "PUT", "PUT", "POST", "POST", "HEAD");
  }

  @Test
  void probePassesAnAnswerLost() throws Exception {
    next(1, FaultyS3.NONE);
    next(1, FaultyS3.ANSWER_LOST);
    assertThat(Stores.probe(store).mayDelete()).isTrue();
    assertThat(server.objects).isEmpty();
  }

  @Test
  void interruptionIsSaid() {
    server.otherwise = FaultyS3.HANG;
    Thread.currentThread().interrupt();
    StoreException e = failure(() -> store.putIfAbsent("log/1", bytes("v")));
    assertThat(Thread.interrupted()).isTrue();
    assertThat(e.retryable()).isFalse();
    assertThat(e).hasMessageContaining("interrupted");
  }
}
