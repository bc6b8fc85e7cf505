package dev.tidemark.flink;

/** Where a job is killed: there is one between every two things that become durable. */
enum KillPoint {
  /** mint has described an interval: nobody has it yet. */
  DESCRIBED,
  /** write begins to upload a part: it never arrives. */
  UPLOADING,
  /** write has uploaded a part: nobody knows its name. */
  UPLOADED,
  /** write has sent a batch on. */
  BATCH_EMITTED,
  /** A checkpoint has begun: the source takes its snapshot. */
  CHECKPOINT_BEGUN,
  /** append has taken its snapshot, and the checkpoint isn't complete. */
  SNAPSHOTTED,
  /** A checkpoint is complete, and nothing of it is committed. */
  COMPLETED,
  /** append's PUT was sent and isn't stored. */
  APPEND_LOST,
  /** append's PUT is stored, and append is dead before it has the answer. */
  APPEND_STORED,
  /** append's PUT is stored, its answer is lost, and append lives on. */
  ANSWER_LOST,
  /** append knows that it is done, and the state still has what it appended. */
  ACKNOWLEDGED,
  /** One shard has the checkpoint's rows, the others haven't. */
  ONE_SHARD_OF_MANY,
  /** merge has uploaded a part: nobody knows its name. */
  MERGE_UPLOADED,
  /** merge has sent a chunk on. */
  CHUNK_EMITTED,
  /** install's PUT is stored, and install is dead before it has the answer. */
  INSTALL_STORED,
  /** A rollup is stored. */
  ROLLUP_STORED,
  /** The collector has deleted some of what it was about to delete. */
  DELETED;

  /** Whether it takes a job long to come to it again. */
  boolean isRare() {
    return switch (this) {
      case MERGE_UPLOADED, CHUNK_EMITTED, INSTALL_STORED, ROLLUP_STORED, DELETED -> true;
      default -> false;
    };
  }

  /** Whether the job lives on. */
  boolean isSurvived() {
    return this == ANSWER_LOST;
  }
}
