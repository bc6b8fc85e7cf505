package dev.tidemark.shard;

import java.util.List;

/**
 * The difference between two versions of a shard.
 *
 * @param remove the facts that go, whole
 * @param add the facts that come
 */
public record Diff(List<Fact> remove, List<Fact> add) {
  /** Copies the lists. */
  public Diff {
    remove = List.copyOf(remove);
    add = List.copyOf(add);
  }
}
