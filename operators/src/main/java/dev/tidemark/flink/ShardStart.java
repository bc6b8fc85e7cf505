package dev.tidemark.flink;

import dev.tidemark.log.ShardLog;
import dev.tidemark.schema.Column;
import dev.tidemark.schema.Schema;
import dev.tidemark.schema.SchemaChange;
import dev.tidemark.shard.Fact;
import dev.tidemark.shard.ShardState;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What must be so before a job writes a shard. */
public final class ShardStart {
  private ShardStart() {}

  /**
   * Looks at the shards of a job that starts without Flink state, before it is submitted. A shard
   * that doesn't exist yet is fine.
   *
   * @throws StopForGoodException naming the first shard that has another schema, or data that the
   *     job may not go on from, and the mend
   */
  public static void check(List<ShardTarget> shards, StoreSettings settings, StartMode mode)
      throws IOException {
    for (ShardTarget shard : shards) {
      try (ObjectStore store = Stores.open(shard.url(), settings)) {
        ShardState state = new ShardLog(store).refresh();
        if (state.exists()) {
          checkSchema(shard, state);
          checkData(shard, state, mode);
        }
      }
    }
  }

  /**
   * A job without state meets a shard with data: by {@code start = refuse} it doesn't write, and a
   * sealed one nobody does.
   */
  public static void checkData(ShardTarget shard, ShardState state, StartMode mode) {
    if (state.upper().isEnd() && mode != StartMode.REFUSE) {
      throw new StopForGoodException(
          "shard " + shard.url() + " is sealed for good: write to another shard");
    }
    if (!state.upper().isMinimum() && mode == StartMode.REFUSE) {
      throw new StopForGoodException(
          "shard "
              + shard.url()
              + " has data up to "
              + state.upper()
              + (state.upper().isEnd() ? " (it is sealed)" : "")
              + " and this job starts without state (start = refuse); "
              + writers(state)
              + ": restore the job's last checkpoint or savepoint (--restore PATH), or say what its"
              + " rows are (--start append: new ones; --start resume-by-time: the same again), or"
              + " write to another shard");
    }
  }

  /** Who has written a shard: writer, attempt, from where, since when and how far; for messages. */
  public static String writers(ShardState state) {
    List<String> writers = new ArrayList<>();
    for (Fact.WriterFact writer : state.writers().values()) {
      WriterAttempt by = writer.by();
      writers.add(by.writer() + " (" + from(by) + ", up to " + writer.upto() + ")");
    }
    return writers.isEmpty()
        ? "nobody is known to have written it"
        : "its writers: " + String.join(", ", writers);
  }

  private static String from(WriterAttempt attempt) {
    return "attempt " + attempt.attempt() + " on " + attempt.host() + " since " + attempt.started();
  }

  /**
   * Who else has appended since a state was seen: another process, be it an attempt of the same
   * writer or another writer. What fails once that is so fails for that reason.
   *
   * @return for people; empty when nobody has
   */
  public static Optional<String> appendedSince(ShardTarget shard, ShardState seen, ShardState now) {
    for (Fact.WriterFact writer : now.writers().values()) {
      Fact.@Nullable WriterFact before = seen.writers().get(writer.by().writer());
      boolean went =
          before == null
              ? !writer.upto().isMinimum()
              : writer.upto().isAfter(before.upto()) || !writer.by().equals(before.by());
      if (went && !Attempts.isOurs(writer.by())) {
        return Optional.of(
            "another process has appended to shard "
                + shard.url()
                + " meanwhile: writer "
                + writer.by().writer()
                + ", "
                + from(writer.by())
                + " (up to "
                + writer.upto()
                + "); only one job may write a shard: leave this one stopped, or stop the other and"
                + " restore its newest checkpoint");
      }
    }
    return Optional.empty();
  }

  /**
   * The job's schema must be the shard's, columns by name and type, and the key; or, where the
   * shard's follows the job's, one that it can become.
   */
  static void checkSchema(ShardTarget shard, ShardState state) {
    Schema there = state.schema();
    Schema ours = shard.schema();
    if (columns(there).equals(columns(ours)) && there.key().equals(ours.key())) {
      return;
    }
    String refusal = SchemaChange.of(state.schemas(), ours).refusal();
    if (refusal == null && shard.evolves()) {
      return;
    }
    throw otherSchema(shard, state, refusal);
  }

  /** The shard can't take, or wasn't allowed to take, the job's schema. */
  static StopForGoodException otherSchema(
      ShardTarget shard, ShardState state, @Nullable String refusal) {
    String mend =
        refusal != null
            ? refusal + "; give the job the shard's schema, or write to another shard"
            : "let the shard's follow the job's (schema.change = evolve), give the job the shard's"
                + " schema, or write to another shard";
    return new StopForGoodException(
        "shard "
            + shard.url()
            + " has the schema "
            + describe(state.schema())
            + ", the job has "
            + describe(shard.schema())
            + "; "
            + writers(state)
            + ": "
            + mend);
  }

  private static List<Object> columns(Schema schema) {
    return schema.columns().stream().<Object>map(c -> List.of(c.name(), c.type())).toList();
  }

  private static String describe(Schema schema) {
    List<String> columns = schema.columns().stream().map(ShardStart::describe).toList();
    return "(" + String.join(", ", columns) + ") with key " + schema.key();
  }

  private static String describe(Column column) {
    String parameters =
        column.type().precision() == 0
            ? ""
            : "(" + column.type().precision() + "," + column.type().scale() + ")";
    return column.name()
        + " "
        + column.type().kind()
        + parameters
        + (column.type().nullable() ? "" : " NOT NULL");
  }
}
