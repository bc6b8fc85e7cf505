package dev.tidemark.shard;

import dev.tidemark.schema.Schema;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.spine.Written;
import dev.tidemark.time.Frontier;
import java.util.Map;

/** One thing that is true of a shard at a version. Each is there once or not at all. */
public sealed interface Fact {
  /** The fact's name in the log. */
  String name();

  /** What tells it from other facts of the same name, empty where there is only one. */
  String id();

  /** The shard itself: a random id that no other shard has, and the version of the format. */
  record ShardFact(String shard, String format) implements Fact {
    @Override
    public String name() {
      return "shard";
    }

    @Override
    public String id() {
      return "";
    }
  }

  /**
   * A schema that batches refer to.
   *
   * @param schema the schema
   * @param extra keys of a later format, name to raw JSON, kept as they are
   */
  record SchemaFact(Schema schema, Map<String, String> extra) implements Fact {
    /** Copies the map. */
    public SchemaFact {
      extra = Map.copyOf(extra);
    }

    /** Without keys of a later format. */
    public SchemaFact(Schema schema) {
      this(schema, Map.of());
    }

    @Override
    public String name() {
      return "schema";
    }

    @Override
    public String id() {
      return Integer.toString(schema.id());
    }
  }

  /**
   * The spec in force.
   *
   * @param spec the spec
   * @param extra keys of a later format, name to raw JSON, kept as they are
   */
  record SpecFact(SpineSpec spec, Map<String, String> extra) implements Fact {
    /** Copies the map. */
    public SpecFact {
      extra = Map.copyOf(extra);
    }

    /** Without keys of a later format. */
    public SpecFact(SpineSpec spec) {
      this(spec, Map.of());
    }

    @Override
    public String name() {
      return "spec";
    }

    @Override
    public String id() {
      return "";
    }
  }

  /**
   * A consolidation of all batches below {@code upper} is under way.
   *
   * @param forced whether what it writes is counted apart: rule 4 would not have asked for it
   */
  record ConsolidatingFact(Frontier upper, boolean forced) implements Fact {
    @Override
    public String name() {
      return "consolidating";
    }

    @Override
    public String id() {
      return "";
    }
  }

  /** The first time that is not yet durable. */
  record UpperFact(Frontier upper) implements Fact {
    @Override
    public String name() {
      return "upper";
    }

    @Override
    public String id() {
      return "";
    }
  }

  /** The oldest time that can be read exactly. */
  record SinceFact(Frontier since) implements Fact {
    @Override
    public String name() {
      return "since";
    }

    @Override
    public String id() {
      return "";
    }
  }

  /** No part of a day up to this one may be brought in any more. */
  record SweptFact(String day) implements Fact {
    @Override
    public String name() {
      return "swept";
    }

    @Override
    public String id() {
      return "";
    }
  }

  /**
   * What was appended and merged so far.
   *
   * @param written the sums
   * @param extra keys of a later format, name to raw JSON, kept as they are
   */
  record WrittenFact(Written written, Map<String, String> extra) implements Fact {
    /** Copies the map. */
    public WrittenFact {
      extra = Map.copyOf(extra);
    }

    /** Without keys of a later format. */
    public WrittenFact(Written written) {
      this(written, Map.of());
    }

    @Override
    public String name() {
      return "written";
    }

    @Override
    public String id() {
      return "";
    }
  }

  /** A batch. */
  record BatchFact(Batch batch) implements Fact {
    @Override
    public String name() {
      return "batch";
    }

    @Override
    public String id() {
      return batch.id();
    }
  }

  /**
   * A writer that has appended.
   *
   * @param by its latest attempt
   * @param upto the upper of its last append
   * @param readOnly whether it may not append
   * @param extra keys of a later format, name to raw JSON, kept as they are; a new append by the
   *     same writer carries them on
   */
  record WriterFact(WriterAttempt by, Frontier upto, boolean readOnly, Map<String, String> extra)
      implements Fact {
    /** Copies the map. */
    public WriterFact {
      extra = Map.copyOf(extra);
    }

    /** Without keys of a later format. */
    public WriterFact(WriterAttempt by, Frontier upto, boolean readOnly) {
      this(by, upto, readOnly, Map.of());
    }

    @Override
    public String name() {
      return "writer";
    }

    @Override
    public String id() {
      return by.writer();
    }
  }

  /**
   * A fact of a later format, kept as it is: its name, what tells it apart, and its fields as raw
   * JSON. One whose value is no object has that value under the empty name.
   */
  record UnknownFact(String name, String id, Map<String, String> fields) implements Fact {
    /** Copies the map. */
    public UnknownFact {
      fields = Map.copyOf(fields);
    }
  }
}
