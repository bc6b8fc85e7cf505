package dev.tidemark.shard;

import dev.tidemark.schema.Schema;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.time.Frontier;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All facts of a shard at one version: an immutable value. */
public final class ShardState {
  /** No shard: version 0, no facts. */
  public static final ShardState EMPTY = new ShardState();

  private ShardState() {}

  /** The version. */
  public SeqNo seqno() {
    throw new UnsupportedOperationException();
  }

  /** Whether the shard has been created. */
  public boolean exists() {
    throw new UnsupportedOperationException();
  }

  /**
   * The shard's random id; throws IllegalStateException when there is no shard (so do all accessors
   * below).
   */
  public String shard() {
    throw new UnsupportedOperationException();
  }

  /** The format version, such as 1.0. */
  public String format() {
    throw new UnsupportedOperationException();
  }

  /** The newest schema. */
  public Schema schema() {
    throw new UnsupportedOperationException();
  }

  /** The schema of an id. */
  public Schema schema(int id) {
    throw new UnsupportedOperationException();
  }

  /** The spec in force. */
  public SpineSpec spec() {
    throw new UnsupportedOperationException();
  }

  /** The first time that is not yet durable. */
  public Frontier upper() {
    throw new UnsupportedOperationException();
  }

  /** The oldest time that can be read exactly. */
  public Frontier since() {
    throw new UnsupportedOperationException();
  }

  /** The upper of the consolidation under way. */
  public @Nullable Frontier consolidating() {
    throw new UnsupportedOperationException();
  }

  /** All batches, oldest first. */
  public List<Batch> batches() {
    throw new UnsupportedOperationException();
  }

  /** The writers by id, sorted. */
  public Map<String, Fact.WriterFact> writers() {
    throw new UnsupportedOperationException();
  }

  /** All facts, sorted by name, then id. */
  public List<Fact> facts() {
    throw new UnsupportedOperationException();
  }

  /**
   * The state one version on.
   *
   * @throws CorruptShardException when the diff removes what isn't there or adds what is
   */
  public ShardState apply(Diff diff) {
    throw new UnsupportedOperationException();
  }

  /** The state that a rollup holds: these facts at that version. */
  public static ShardState of(SeqNo seqno, List<Fact> facts) {
    throw new UnsupportedOperationException();
  }
}
