package dev.tidemark.store.s3;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.tidemark.part.PartStore;
import dev.tidemark.read.TestShard;
import dev.tidemark.row.InvalidRowException;
import dev.tidemark.row.RowBuffer;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Schema;
import dev.tidemark.spine.Part;
import dev.tidemark.store.Body;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.ObjectStore.Created;
import dev.tidemark.store.ProbeReport;
import dev.tidemark.store.StoreException;
import dev.tidemark.store.StoreException.Reason;
import dev.tidemark.store.Stores;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How other systems fell over S3, tried here one by one. */
class S3CasesTest {
  private static final DateTimeFormatter SIGNED_AT =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);

  /** S3's tolerance. */
  private static final Duration MOST_SKEW = Duration.ofMinutes(15);

  private FaultyS3 server;
  private ObjectStore store;

  @BeforeEach
  void start() throws IOException {
    server = new FaultyS3();
    store = Stores.open("s3://bucket", server.settings("connections.read", "4"));
  }

  @AfterEach
  void stop() throws IOException {
    store.close();
    server.close();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private void next(int times, FaultyS3.Fault fault) {
    server.faults.addAll(Collections.nCopies(times, fault));
  }

  @Test
  @DisplayName("P-S3-02: three conflicts, then yes; written once")
  void conflictsAreNoRefusal() throws Exception {
    next(3, FaultyS3.error(409, "ConditionalRequestConflict"));
    assertThat(store.putIfAbsent("log/1", bytes("v"))).isEqualTo(Created.YES);
    assertThat(server.objects).containsOnlyKeys("log/1");
  }

  @Test
  @DisplayName("P-S3-03: what can wait waits while the store is hard pressed, and no longer")
  void mergesYield() throws Exception {
    try (ObjectStore hasty = Stores.open("s3://bucket", server.settings("tries", "1"))) {
      ObjectStore yielding = hasty.under("shard/").yielding();
      long begun = System.nanoTime();
      yielding.get("k");
      assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(1));
      next(1, FaultyS3.error(503, "SlowDown"));
      assertThat(catchThrowableOfType(StoreException.class, () -> hasty.get("k")).reason())
          .isEqualTo(Reason.THROTTLED);
      long pressed = System.nanoTime();
      assertThat(hasty.putIfAbsent("log/1", bytes("v"))).isEqualTo(Created.YES);
      Duration append = Duration.ofNanos(System.nanoTime() - pressed);
      yielding.get("k");
      Duration merge = Duration.ofNanos(System.nanoTime() - pressed);
      assertThat(merge).isGreaterThan(Duration.ofMillis(S3Strain.QUIET_MILLIS - 100));
      assertThat(append).isLessThan(merge);
    }
  }

  @Test
  @DisplayName("P-S3-03: on a store that is never quiet, what can wait waits only so long")
  void yieldingEnds() {
    S3Strain strain = new S3Strain(10_000, 50);
    strain.refused();
    long begun = System.nanoTime();
    Thread.currentThread().interrupt();
    strain.yieldToOthers();
    assertThat(Thread.interrupted()).isTrue();
    S3Strain brief = new S3Strain(100, 30);
    brief.refused();
    brief.yieldToOthers();
    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(5));
  }

  // ---- Downloads

  private static UpdateCursor rows(int count, int valueBytes) {
    RowCodec codec = new RowCodec(TestShard.SCHEMA);
    RowBuffer buffer = new RowBuffer();
    Random random = new Random(5);
    byte[] value = new byte[valueBytes];
    for (int n = 0; n < count; n++) {
      random.nextBytes(value);
      try {
        byte[] row =
            codec.encode(new Object[] {(long) n, Base64.getEncoder().encodeToString(value)});
        buffer.add(row, 0, row.length, 1, 1);
      } catch (InvalidRowException e) {
        throw new AssertionError(e);
      }
    }
    return buffer.sorted();
  }

  private PartStore parts() {
    return new PartStore(store, "SHARD", Long.MAX_VALUE, () -> "part/2026-11-30/a.parquet");
  }

  private static int drain(UpdateCursor cursor) throws IOException {
    int count = 0;
    try (cursor) {
      while (cursor.next()) {
        count++;
      }
    }
    return count;
  }

  @Test
  @DisplayName("P-S3-05: 2,000 readers that stop or throw keep no connection")
  void abandonedDownloads() throws Exception {
    Part part = parts().writeRun(rows(20, 10), TestShard.SCHEMA).get(0);
    Schema other = Schema.parse("id BIGINT NOT NULL, v BIGINT, PRIMARY KEY (id) NOT ENFORCED", 2);
    for (int n = 0; n < 1_000; n++) {
      try (UpdateCursor cursor = parts().read(part, TestShard.SCHEMA, TestShard.SCHEMA)) {
        assertThat(cursor.next()).isTrue();
      }
      next(1, FaultyS3.BIT_FLIPPED);
      assertThatThrownBy(() -> drain(parts().read(part, TestShard.SCHEMA, TestShard.SCHEMA)))
          .isInstanceOf(IOException.class);
      server.faults.clear();
    }
    assertThatThrownBy(() -> drain(parts().read(part, TestShard.SCHEMA, other)))
        .isInstanceOf(Exception.class);
    // The server's side of the last one may end a moment later.
    for (int waits = 0; server.connections() > 0 && waits < 1_000; waits++) {
      LockSupport.parkNanos(1_000_000);
    }
    assertThat(server.connections()).isZero();
    store.put("k", Body.of(bytes("v")));
    assertThat(store.get("k")).contains(bytes("v"));
  }

  @ParameterizedTest
  @DisplayName("P-RD-06: a large or small part, cut at any place, is read whole or not at all")
  @CsvSource({"300", "12000"})
  void cutDownloads(int count) throws Exception {
    Part part = parts().writeRun(rows(count, 1_000), TestShard.SCHEMA).get(0);
    for (FaultyS3.Fault fault :
        List.of(FaultyS3.TRUNCATED, FaultyS3.RESET_MID_BODY, FaultyS3.RESET, FaultyS3.SLOW)) {
      for (int at = 0; at < 3; at++) {
        next(at, FaultyS3.NONE);
        next(1, fault);
        assertThat(drain(parts().read(part, TestShard.SCHEMA, TestShard.SCHEMA))).isEqualTo(count);
        server.faults.clear();
      }
    }
  }

  @ParameterizedTest
  @DisplayName("P-RD-06: a part that is cut each time is an error that names it, never a short one")
  @CsvSource({"300", "12000"})
  void downloadsThatAreAlwaysCut(int count) throws Exception {
    Part part = parts().writeRun(rows(count, 1_000), TestShard.SCHEMA).get(0);
    for (FaultyS3.Fault fault : List.of(FaultyS3.TRUNCATED, FaultyS3.RESET_MID_BODY)) {
      server.otherwise = fault;
      assertThatThrownBy(() -> drain(parts().read(part, TestShard.SCHEMA, TestShard.SCHEMA)))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("bucket/part/2026-11-30/a.parquet");
    }
  }

  @ParameterizedTest
  @DisplayName("P-RD-06: a flipped bit in a large or small part is an error that names the part")
  @CsvSource({"300", "12000"})
  void flippedBits(int count) throws Exception {
    Part part = parts().writeRun(rows(count, 1_000), TestShard.SCHEMA).get(0);
    server.otherwise = FaultyS3.BIT_FLIPPED;
    assertThatThrownBy(() -> drain(parts().read(part, TestShard.SCHEMA, TestShard.SCHEMA)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("part part/2026-11-30/a.parquet in s3://bucket is corrupt");
  }

  // ---- Uploads

  @Test
  @DisplayName("P-S3-06: a completion that says 200 and fails is a failure")
  void completionThatFails() {
    next(3, FaultyS3.NONE);
    next(5, FaultyS3.errorInside("InternalError"));
    assertThat(store("part/a").indeterminate()).isTrue();
    assertThat(server.objects).isEmpty();
  }

  private StoreException store(String key) {
    return catchThrowableOfType(
        StoreException.class, () -> store.put(key, Body.of(new byte[20 << 20])));
  }

  @Test
  @DisplayName("P-S3-06: a completion whose answer is lost, found as NoSuchUpload, is a success")
  void completionWhoseAnswerIsLost() throws Exception {
    next(3, FaultyS3.NONE);
    next(1, FaultyS3.ANSWER_LOST);
    store.put("part/a", Body.of(new byte[20 << 20]));
    assertThat(server.objects.get("part/a")).hasSize(20 << 20);
  }

  @Test
  @DisplayName("P-S3-08: an upload that broke off half way is sent again, the same bytes")
  void bodiesCanBeSentTwice() throws Exception {
    byte[] large = new byte[20 << 20];
    new Random(6).nextBytes(large);
    next(1, FaultyS3.error(503, "ServiceUnavailable")); // CreateMultipartUpload
    server.cutUploads.set(2);
    store.put("part/a", Body.of(large));
    assertThat(Arrays.equals(server.objects.get("part/a"), large)).isTrue();
    server.cutUploads.set(2);
    store.put("part/b", Body.of(Arrays.copyOf(large, 100_000)));
    assertThat(server.objects.get("part/b")).isEqualTo(Arrays.copyOf(large, 100_000));
    server.cutUploads.set(1_000);
    assertThat(store("part/c")).isNotNull();
    assertThat(server.objects).containsOnlyKeys("part/a", "part/b");
    assertThat(server.unfinishedUploads()).isZero();
  }

  @Test
  @DisplayName("a batch deletion that says 200 and lists what it did not delete is a failure")
  void partialDeletion() throws Exception {
    String kept = "<Key>part/b</Key><Code>InternalError</Code><Message>so it is</Message>";
    next(1, inside("<DeleteResult><Error>" + kept + "</Error></DeleteResult>"));
    StoreException e =
        catchThrowableOfType(
            StoreException.class, () -> store.delete(List.of("part/a", "part/b", "part/c")));
    assertThat(e.reason()).isEqualTo(Reason.UNAVAILABLE);
    assertThat(e.retryable()).isTrue();
    assertThat(e)
        .hasMessageContaining("1 objects were not deleted, the first s3://bucket/part/b")
        .hasMessageContaining("InternalError");
    store.delete(List.of("part/a", "part/b", "part/c"));
  }

  private static FaultyS3.Fault inside(String xml) {
    return (faulty, request, connection) -> connection.answer(FaultyS3.Answer.xml(xml));
  }

  // ---- Clocks

  @ParameterizedTest
  @DisplayName(
      "P-S3-07: with a clock that is wrong, or jumps, requests are signed anew and succeed")
  @CsvSource({"PT-40M", "PT40M"})
  void wrongClock(Duration wrongBy) throws Exception {
    AtomicReference<Duration> ahead = new AtomicReference<>(wrongBy);
    server.otherwise =
        (faulty, request, connection) -> {
          Instant now = Instant.now().plus(ahead.get());
          Instant signed = SIGNED_AT.parse(request.headers.get("x-amz-date"), Instant::from);
          if (Duration.between(signed, now).abs().compareTo(MOST_SKEW) > 0) {
            connection.answer(skewed(now));
          } else {
            FaultyS3.NONE.serve(faulty, request, connection);
          }
        };
    assertThat(store.putIfAbsent("log/1", bytes("v"))).isEqualTo(Created.YES);
    ahead.set(wrongBy.plusMinutes(20));
    store.put("part/a", Body.of(new byte[20 << 20]));
    assertThat(store.get("log/1")).contains(bytes("v"));
    assertThat(server.objects.get("part/a")).hasSize(20 << 20);
  }

  @Test
  @DisplayName("P-S3-07: parts that were signed before the clock jumped are signed anew")
  void clockThatJumpsDuringAnUpload() throws Exception {
    AtomicInteger parts = new AtomicInteger();
    server.otherwise =
        (faulty, request, connection) -> {
          int sent = request.asks("partNumber") ? parts.incrementAndGet() : parts.get();
          Instant now = Instant.now().plus(Duration.ofMinutes(sent < 2 ? 0 : 16));
          Instant signed = SIGNED_AT.parse(request.headers.get("x-amz-date"), Instant::from);
          if (Duration.between(signed, now).abs().compareTo(MOST_SKEW) > 0) {
            connection.answer(skewed(now));
          } else {
            FaultyS3.NONE.serve(faulty, request, connection);
          }
        };
    byte[] large = new byte[40 << 20];
    new Random(7).nextBytes(large);
    store.put("part/a", Body.of(large));
    assertThat(Arrays.equals(server.objects.get("part/a"), large)).isTrue();
    long needed = (large.length - 1) / S3Upload.partBytes(large.length) + 1;
    assertThat(parts.get()).as("some were refused and sent again").isGreaterThan((int) needed);
    assertThat(server.unfinishedUploads()).isZero();
  }

  private static FaultyS3.Answer skewed(Instant now) {
    FaultyS3.Answer error = FaultyS3.Answer.error(403, "RequestTimeTooSkewed");
    String date = DateTimeFormatter.RFC_1123_DATE_TIME.format(now.atOffset(ZoneOffset.UTC));
    return new FaultyS3.Answer(
        403, Map.of("Content-Type", "application/xml", "Date", date), error.body);
  }

  // ---- The start

  @ParameterizedTest
  @DisplayName("P-OP-04: the probe names bucket, prefix, operation and who asks")
  @CsvSource({
    "PUT, cannot create, s3:PutObject",
    "GET, cannot get, s3:GetObject",
    "LIST, cannot list, s3:ListBucket",
  })
  void missingRights(String denied, String operation, String right) {
    server.otherwise =
        (faulty, request, connection) -> {
          boolean list = request.asks("list-type");
          boolean refuse = denied.equals("LIST") ? list : !list && request.method.equals(denied);
          (refuse ? FaultyS3.error(403, "AccessDenied") : FaultyS3.NONE)
              .serve(faulty, request, connection);
        };
    long begun = System.nanoTime();
    assertThatThrownBy(() -> Stores.probe(store.under("warehouse/orders/")))
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.reason()).isEqualTo(Reason.DENIED))
        .hasMessageContaining(operation + " s3://bucket/warehouse/orders/probe/")
        .hasMessageContaining("access key somebody, which needs " + right);
    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(10));
  }

  @Test
  @DisplayName("P-OP-04: without the right to delete there is a warning, and data")
  void missingRightToDelete() throws Exception {
    server.otherwise =
        (faulty, request, connection) ->
            (request.asks("delete") ? FaultyS3.error(403, "AccessDenied") : FaultyS3.NONE)
                .serve(faulty, request, connection);
    ProbeReport report = Stores.probe(store);
    assertThat(report.mayDelete()).isFalse();
    assertThat(report.warnings()).singleElement().asString().contains("s3:DeleteObject");
  }

  @ParameterizedTest
  @DisplayName("P-OP-04: no such bucket, a wrong region and a wrong scheme say what to do")
  @CsvSource({
    "404, NoSuchBucket, create the bucket bucket or mend the URL",
    "301, PermanentRedirect, set s3.region",
    "400, AuthorizationHeaderMalformed, set s3.region",
    "403, InvalidAccessKeyId, check s3.access-key and s3.secret-key",
  })
  void wrongPlaces(int status, String code, String mend) {
    server.otherwise = FaultyS3.error(status, code);
    assertThatThrownBy(() -> Stores.probe(store))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("s3://bucket/probe/")
        .hasMessageContaining(mend);
  }

  @Test
  @DisplayName("P-OP-04: https to a server that speaks http says so")
  void wrongScheme() {
    String https = server.endpoint().toString().replace("http:", "https:");
    try (ObjectStore wrong =
        Stores.open("s3://bucket", server.settings("endpoint", https, "tries", "1"))) {
      assertThatThrownBy(() -> Stores.probe(wrong))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("bucket/probe/")
          .hasMessageContaining("does s3.endpoint begin as the server speaks");
    }
  }

  @Test
  @DisplayName("P-OP-05: a store that ignores the condition is refused at the start")
  void conditionIgnored() {
    server.otherwise = FaultyS3.UNCONDITIONAL;
    assertThatThrownBy(() -> Stores.probe(store))
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.reason()).isEqualTo(Reason.UNSUPPORTED))
        .hasMessageContaining("exactly-once is impossible there");
  }
}
