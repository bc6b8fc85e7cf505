package dev.tidemark.flink.source;

import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Where rows come from. */
public sealed interface SourceSettings extends Serializable {
  /** Whether the input ends. */
  boolean bounded();

  /** The same input as far as it is there now: one that ends. */
  default SourceSettings untilNow() {
    return this;
  }

  /**
   * Bounded files.
   *
   * @param paths files, folders or globs, in the order given
   * @param order whether whole files are read one after another by one reader
   * @param compression {@code auto} (by the name's ending), {@code none} or {@code gzip}
   * @param mayBeEmpty whether there need not be any file
   */
  record Files(List<String> paths, Order order, String compression, boolean mayBeEmpty)
      implements SourceSettings {
    /** Files of which there is at least one. */
    public Files(List<String> paths, Order order, String compression) {
      this(paths, order, compression, false);
    }

    @Override
    public boolean bounded() {
      return true;
    }
  }

  /**
   * Folders that are watched for new files, for ever.
   *
   * @param paths files, folders or globs, in the order given
   * @param order whether whole files are read one after another by one reader
   * @param compression {@code auto} (by the name's ending), {@code none} or {@code gzip}
   */
  record WatchedFiles(List<String> paths, Order order, String compression)
      implements SourceSettings {
    @Override
    public boolean bounded() {
      return false;
    }

    @Override
    public SourceSettings untilNow() {
      return new Files(paths, order, compression, true);
    }
  }

  /** In which order files are read. */
  enum Order {
    /** One reader, whole files, in the order given, else by name. */
    NAME,
    /** In parallel. */
    ANY
  }

  /**
   * Topics of Kafka.
   *
   * @param servers {@code host:port}, several by comma
   * @param topics their names; none: those of the pattern
   * @param topicPattern a regular expression for whole names; null: the topics that are named
   * @param from where a job without state begins
   * @param untilLatest whether the job ends at what was the latest record when it began
   * @param group the consumer group, for those who watch it: no offset is ever taken from there
   * @param properties Kafka's own, for its consumers and admin clients
   */
  record Kafka(
      String servers,
      List<String> topics,
      @Nullable String topicPattern,
      From from,
      boolean untilLatest,
      String group,
      Map<String, String> properties)
      implements SourceSettings {
    @Override
    public boolean bounded() {
      return untilLatest;
    }

    @Override
    public SourceSettings untilNow() {
      return new Kafka(servers, topics, topicPattern, from, true, group, properties);
    }
  }

  /**
   * Where a topic's partitions are begun.
   *
   * @param place earliest, latest, or a record's timestamp
   * @param timeMillis for {@link Place#TIME}
   */
  record From(Place place, long timeMillis) implements Serializable {
    /** All that is there. */
    public static final From EARLIEST = new From(Place.EARLIEST, 0);

    /** Only what comes. */
    public static final From LATEST = new From(Place.LATEST, 0);

    /** What kind of place. */
    public enum Place {
      /** The first record that is there. */
      EARLIEST,
      /** Behind the last one. */
      LATEST,
      /** The first record whose timestamp is at least a time. */
      TIME
    }
  }

  /**
   * Generated rows: a pure function of seed and row number.
   *
   * @param rows how many; {@code Long.MAX_VALUE}: for ever
   * @param rowsPerSecond the rate; 0: as fast as may be
   * @param keys the number of keys
   * @param valueBytes the length of a value
   * @param lateShare the share of rows that come late
   * @param deleteShare the share of records that delete
   * @param seed the seed
   */
  record Datagen(
      long rows,
      long rowsPerSecond,
      long keys,
      int valueBytes,
      double lateShare,
      double deleteShare,
      long seed)
      implements SourceSettings {
    @Override
    public boolean bounded() {
      return true;
    }
  }

  /**
   * How watermarks follow the rows.
   *
   * @param delay how far they stay behind the latest row
   * @param idleTimeout after how long a silent reader no longer holds them; null: never
   */
  record Watermarks(Duration delay, @Nullable Duration idleTimeout) implements Serializable {}
}
