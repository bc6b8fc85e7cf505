package dev.tidemark.log;

import dev.tidemark.schema.Column;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.PartLocation;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;

/** Commands and a world for tests of the log. Parts' contents are made up: nobody reads them. */
final class LogFixture {
  static final Schema SCHEMA =
      new Schema(
          1, List.of(new Column(1, "id", ColumnType.of(ColumnType.Kind.BIGINT, false))), List.of());

  /** A spec that never makes an append wait. */
  static final SpineSpec ROOMY = new SpineSpec(8, 1_000_000, 1_000_000, 1L << 20, 2.0, false);

  static final Author INSTALLER = new Author(attempt("installer"), "install");

  private LogFixture() {}

  /** Virtual time, seeded chance, one thread. */
  static final class TestPacing implements Pacing {
    private final Random random;
    private long nanos;

    TestPacing(long seed) {
      random = new Random(seed);
    }

    @Override
    public Instant now() {
      return Instant.ofEpochMilli(1_796_000_000_000L + nanos / 1_000_000);
    }

    @Override
    public long nanoTime() {
      return nanos;
    }

    @Override
    public void pause(long millis) {
      nanos += millis * 1_000_000;
    }

    @Override
    public synchronized long random() {
      return random.nextLong();
    }

    @Override
    public int sideBySide() {
      return 1;
    }
  }

  static WriterAttempt attempt(String writer) {
    return new WriterAttempt(writer, "2026-11-30T00:00:00Z", writer + "-1", "host-of-" + writer);
  }

  static Author author(String writer) {
    return new Author(attempt(writer), "append");
  }

  static Command create(String shard) {
    return new Command.Create(shard, SCHEMA, ROOMY);
  }

  /** One batch with one row at its last time. */
  static Batch batch(String id, Frontier lower, long upper) {
    long time = upper - 1;
    Part part =
        new Part(
            new PartLocation.Stored("part/2026-11-30/" + id + ".parquet", 100, "00c0ffee"),
            1,
            24,
            1,
            0,
            null,
            null,
            time,
            time,
            Map.of());
    BatchDescription bounds = new BatchDescription(lower, Frontier.of(upper));
    return Batch.of(id, bounds, Frontier.MINIMUM, 0, List.of(List.of(part)), List.of(), 1);
  }

  /** A batch without rows. */
  static Batch empty(String id, Frontier lower, long upper) {
    return new Batch(
        id,
        new BatchDescription(lower, Frontier.of(upper)),
        Frontier.MINIMUM,
        0,
        List.of(),
        List.of(),
        0,
        0,
        0,
        OptionalLong.of(0),
        Long.MIN_VALUE,
        false,
        1,
        Map.of());
  }

  static Command append(String writer, Batch... batches) {
    return new Command.Append(attempt(writer), List.of(batches));
  }
}
