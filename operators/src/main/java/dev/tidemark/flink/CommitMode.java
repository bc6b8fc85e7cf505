package dev.tidemark.flink;

/** What makes rows durable ({@code commit}). */
public enum CommitMode {
  /** A checkpoint that holds them is complete. Exactly once for every row, late ones included. */
  CHECKPOINT,

  /**
   * The watermark has passed them, whatever the checkpoints do. Exactly once for rows in the order
   * of the watermark.
   */
  FRONTIER
}
