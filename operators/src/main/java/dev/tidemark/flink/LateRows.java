package dev.tidemark.flink;

/** What becomes of a row that comes when its time is closed ({@code late}). */
public enum LateRows {
  /** It is stored with the next open time. */
  RETIME,

  /** It is dropped and counted. */
  DROP,

  /** The job stops for good, naming it. */
  FAIL
}
