package dev.tidemark.flink.message;

import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.jspecify.annotations.Nullable;

/**
 * One record as a source found it, not yet looked into. The arrays are not changed by anyone once
 * they are in a record.
 */
public final class RawRecord {
  /** Its type, for Flink. */
  public static final TypeInformation<RawRecord> TYPE =
      new MessageType<>(RawRecord.class, RawRecordSerializer.INSTANCE);

  /** A record that bears no time of its own. */
  public static final long NO_TIMESTAMP = Long.MIN_VALUE;

  /** What else than a record this may be: a word about its partition, without any data. */
  public enum Mark {
    /** It is a record. */
    NONE,
    /** The reader has the partition from here on. */
    ASSIGNED,
    /** Nothing more comes from the partition here. */
    OVER
  }

  /** Whether it is a record at all. */
  public Mark mark = Mark.NONE;

  /** The record's key; null: none, or the source has no keys. */
  public byte @Nullable [] key;

  /** The record's value; null: a tombstone. */
  public byte @Nullable [] value;

  /** The header line of the record's file, where its format has one. */
  public byte @Nullable [] header;

  /** Where it was found: a file, or a topic's partition. */
  public String place = "";

  /** What it is in order with: records of one partition come in their order. */
  public String partition = "";

  /** The topic; null: the source has none. */
  public @Nullable String topic;

  /** Its number in the place: the line on which it begins, from 1, or the offset. */
  public long number;

  /** The byte at which it begins in the (decompressed) file. */
  public long byteOffset;

  /** Its timestamp in milliseconds, or {@link #NO_TIMESTAMP}. */
  public long timestampMillis = NO_TIMESTAMP;

  /** Why the source itself found it unusable; null: it may be good. */
  public @Nullable String flaw;

  /** An empty record, to be filled. */
  public RawRecord() {}

  /** A word about a partition. */
  public static RawRecord mark(Mark mark, String partition) {
    RawRecord record = new RawRecord();
    record.mark = mark;
    record.partition = partition;
    return record;
  }

  /**
   * Where the record came from, for people: {@code file:line}, or {@code topic-partition@offset}.
   */
  public String origin() {
    return place + (topic == null ? ":" : "@") + number;
  }
}
