package dev.tidemark.flink;

/** What a job without Flink state does with a shard that has data ({@code start}). */
public enum StartMode {
  /** It stops before its first row. */
  REFUSE,

  /** Its rows are new: they come behind what is there, at {@code max(time, upper)}. */
  APPEND,

  /** Its rows are those of before: what lies below the shard's upper is there and is left out. */
  RESUME_BY_TIME
}
