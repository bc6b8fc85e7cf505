package dev.tidemark.shard;

import dev.tidemark.schema.Schema;
import dev.tidemark.shard.Fact.BatchFact;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Spine;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.spine.Written;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * All facts of a shard at one version: an immutable value.
 *
 * <p>Batches are many, change with every version and are wanted in order of time, so they are a
 * list of their own; all other facts are few and lie in one map by name and id. A fact is there
 * once or not at all: name and id tell two facts apart.
 */
public final class ShardState {
  private static final Comparator<Batch> BY_TIME =
      Comparator.<Batch>comparingLong(batch -> batch.bounds().lower().time())
          .thenComparing(Batch::id);

  /** The facts that every shard has. */
  private static final List<String> NEEDED = List.of("shard", "schema", "since", "spec", "upper");

  /** No shard: version 0, no facts. */
  public static final ShardState EMPTY = new ShardState(SeqNo.ZERO, new TreeMap<>(), List.of());

  /** What tells a fact from all others. */
  private record Key(String name, String id) implements Comparable<Key> {
    static Key of(Fact fact) {
      return new Key(fact.name(), fact.id());
    }

    @Override
    public int compareTo(Key other) {
      int byName = name.compareTo(other.name);
      return byName != 0 ? byName : id.compareTo(other.id);
    }
  }

  private final SeqNo seqno;

  /** All facts but the batches. */
  private final SortedMap<Key, Fact> facts;

  private final List<Batch> batches;
  private final SortedMap<Integer, Schema> schemas = new TreeMap<>();
  private final SortedMap<String, Fact.WriterFact> writers = new TreeMap<>();

  /** Made when first asked for: replaying a log asks for that of every version, a reader of one. */
  private @Nullable Spine spine;

  private ShardState(SeqNo seqno, SortedMap<Key, Fact> facts, List<Batch> batches) {
    this.seqno = seqno;
    this.facts = facts;
    this.batches = batches;
    for (Fact fact : facts.values()) {
      if (fact instanceof Fact.SchemaFact schema) {
        schemas.put(schema.schema().id(), schema.schema());
      } else if (fact instanceof Fact.WriterFact writer) {
        writers.put(writer.id(), writer);
      }
    }
  }

  /** The version. */
  public SeqNo seqno() {
    return seqno;
  }

  /** Whether the shard has been created. */
  public boolean exists() {
    return single("shard", Fact.ShardFact.class) != null;
  }

  /**
   * The shard's random id; throws IllegalStateException when there is no shard (so do all accessors
   * below).
   */
  public String shard() {
    return needed("shard", Fact.ShardFact.class).shard();
  }

  /** The format version, such as 1.0. */
  public String format() {
    return needed("shard", Fact.ShardFact.class).format();
  }

  /** The newest schema. */
  public Schema schema() {
    return schema(schemas.isEmpty() ? 0 : schemas.lastKey());
  }

  /** The schema of an id; throws IllegalStateException when there is none. */
  public Schema schema(int id) {
    Schema schema = schemas.get(id);
    if (schema == null) {
      throw new IllegalStateException("no schema " + id + " at version " + seqno);
    }
    return schema;
  }

  /** All schemas that the shard has had, the newest last. */
  public List<Schema> schemas() {
    return List.copyOf(schemas.values());
  }

  /** Whether there is a schema of that id. */
  public boolean hasSchema(int id) {
    return schemas.containsKey(id);
  }

  /** Whether another state has the same schemas. */
  boolean sameSchemas(ShardState other) {
    return schemas.equals(other.schemas);
  }

  /** The spec in force. */
  public SpineSpec spec() {
    return needed("spec", Fact.SpecFact.class).spec();
  }

  /** The first time that is not yet durable. */
  public Frontier upper() {
    return needed("upper", Fact.UpperFact.class).upper();
  }

  /** The oldest time that can be read exactly. */
  public Frontier since() {
    return needed("since", Fact.SinceFact.class).since();
  }

  /** Whether nothing can be appended any more: the upper is the end. */
  public boolean sealed() {
    return upper().isEnd();
  }

  /** Whether every time was given up: the since is the end, so the upper is too. */
  public boolean retired() {
    return since().isEnd();
  }

  /** The upper of the consolidation under way. */
  public @Nullable Frontier consolidating() {
    Fact.ConsolidatingFact fact = single("consolidating", Fact.ConsolidatingFact.class);
    return fact == null ? null : fact.upper();
  }

  /** Whether what the consolidation under way writes is counted apart. */
  boolean consolidationForced() {
    Fact.ConsolidatingFact fact = single("consolidating", Fact.ConsolidatingFact.class);
    return fact != null && fact.forced();
  }

  /** The day up to which no part may be brought in any more, null when none was swept. */
  public @Nullable String swept() {
    Fact.SweptFact fact = single("swept", Fact.SweptFact.class);
    return fact == null ? null : fact.day();
  }

  /** What was appended and merged so far; null where the shard's creator didn't count it yet. */
  public @Nullable Written written() {
    Fact.WrittenFact fact = single("written", Fact.WrittenFact.class);
    return fact == null ? null : fact.written();
  }

  /** Adds to a diff what becomes of {@link #written()}, where it is counted and changes. */
  void recount(UnaryOperator<Written> change, List<Fact> remove, List<Fact> add) {
    Fact.WrittenFact fact = single("written", Fact.WrittenFact.class);
    if (fact != null) {
      Written changed = change.apply(fact.written());
      if (!changed.equals(fact.written())) {
        remove.add(fact);
        add.add(new Fact.WrittenFact(changed, fact.extra()));
      }
    }
  }

  /** All batches, oldest first. */
  public List<Batch> batches() {
    return batches;
  }

  /** The batches by level. */
  public Spine spine() {
    Spine known = spine; // two threads may both make it, which is all the same
    if (known == null) {
      known = Spine.of(batches, consolidating());
      spine = known;
    }
    return known;
  }

  /** The writers by id, sorted. */
  public Map<String, Fact.WriterFact> writers() {
    return Collections.unmodifiableMap(writers);
  }

  /** All facts, sorted by name, then id. */
  public List<Fact> facts() {
    List<Fact> all = new ArrayList<>(facts.size() + batches.size());
    all.addAll(facts.values());
    batches.forEach(batch -> all.add(new BatchFact(batch)));
    all.sort(Comparator.comparing(Fact::name).thenComparing(Fact::id));
    return Collections.unmodifiableList(all);
  }

  /**
   * The state one version on.
   *
   * @throws CorruptShardException when the diff removes what isn't there or adds what is
   */
  public ShardState apply(Diff diff) {
    return apply(seqno.next(), diff);
  }

  /**
   * The state that a rollup holds: these facts at that version.
   *
   * @throws CorruptShardException when a fact is there twice or a needed one is missing
   */
  public static ShardState of(SeqNo seqno, List<Fact> facts) {
    return EMPTY.apply(seqno, new Diff(List.of(), facts));
  }

  private ShardState apply(SeqNo next, Diff diff) {
    SortedMap<Key, Fact> kept = new TreeMap<>(facts);
    Map<String, Batch> removed = new HashMap<>();
    Map<String, Batch> added = new HashMap<>();
    for (Fact fact : diff.remove()) {
      if (fact instanceof BatchFact batch) {
        if (removed.put(batch.id(), batch.batch()) != null) {
          throw corrupt(next, fact, "is removed twice");
        }
      } else if (!fact.equals(kept.remove(Key.of(fact)))) {
        throw corrupt(next, fact, "is removed but isn't there as it says");
      }
    }
    for (Fact fact : diff.add()) {
      if (fact instanceof BatchFact batch) {
        if (added.put(batch.id(), batch.batch()) != null) {
          throw corrupt(next, fact, "is added twice");
        }
      } else if (kept.put(Key.of(fact), fact) != null) {
        throw corrupt(next, fact, "is added but is there already");
      }
    }
    List<Batch> changed =
        removed.isEmpty() && added.isEmpty() ? batches : changedBatches(next, removed, added);
    return new ShardState(next, kept, changed).checkNeeded();
  }

  private List<Batch> changedBatches(
      SeqNo next, Map<String, Batch> removed, Map<String, Batch> added) {
    List<Batch> changed = new ArrayList<>(batches.size() + added.size());
    for (Batch batch : batches) {
      Batch gone = removed.isEmpty() ? null : removed.remove(batch.id());
      if (gone == null) {
        if (added.containsKey(batch.id())) {
          throw corrupt(next, new BatchFact(batch), "is added but is there already");
        }
        changed.add(batch);
      } else if (!gone.equals(batch)) {
        throw corrupt(next, new BatchFact(batch), "is removed but isn't there as it says");
      }
    }
    for (Batch batch : removed.values()) {
      throw corrupt(next, new BatchFact(batch), "is removed but isn't there");
    }
    changed.addAll(added.values());
    changed.sort(BY_TIME);
    return Collections.unmodifiableList(changed);
  }

  private ShardState checkNeeded() {
    if (facts.isEmpty() && batches.isEmpty()) {
      return this;
    }
    for (String name : NEEDED) {
      SortedMap<Key, Fact> from = facts.tailMap(new Key(name, ""));
      if (from.isEmpty() || !from.firstKey().name().equals(name)) {
        throw new CorruptShardException(
            "shard " + label() + " at version " + seqno + " has no fact " + name);
      }
    }
    return this;
  }

  private CorruptShardException corrupt(SeqNo next, Fact fact, String what) {
    String id = fact.id().isEmpty() ? "" : " " + fact.id();
    return new CorruptShardException(
        "shard " + label() + " at version " + next + ": fact " + fact.name() + id + " " + what);
  }

  /** The shard's id, for messages, where there may be none. */
  String label() {
    Fact.ShardFact fact = single("shard", Fact.ShardFact.class);
    return fact == null ? "(without id)" : fact.shard();
  }

  /** The one fact of a type that has no id, as it stands, with keys of a later format. */
  <T extends Fact> @Nullable T single(String name, Class<T> type) {
    Fact fact = facts.get(new Key(name, ""));
    return type.isInstance(fact) ? type.cast(fact) : null;
  }

  private <T extends Fact> T needed(String name, Class<T> type) {
    T fact = single(name, type);
    if (fact == null) {
      throw new IllegalStateException("there is no shard at version " + seqno);
    }
    return fact;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof ShardState state
        && seqno.equals(state.seqno)
        && facts.equals(state.facts)
        && batches.equals(state.batches);
  }

  @Override
  public int hashCode() {
    return 31 * (31 * seqno.hashCode() + facts.hashCode()) + batches.hashCode();
  }

  @Override
  public String toString() {
    return "shard " + label() + " at version " + seqno;
  }
}
