package dev.tidemark.flink;

import dev.tidemark.row.RowChange;
import dev.tidemark.schema.Schema;
import dev.tidemark.schema.SchemaChange;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.jspecify.annotations.Nullable;

/**
 * In which schemas the rows in an operator's state are encoded, and what it takes to have them in
 * the job's: a job can be restored with other columns than those it was stopped with. Operator
 * state, the same in all subtasks: the text of each shard's schema.
 */
public final class StateSchemas {
  private static final MapStateDescriptor<String, String> STATE =
      new MapStateDescriptor<>("row-schemas-1", Types.STRING, Types.STRING);

  private final List<@Nullable Former> formers = new ArrayList<>();

  /**
   * The schema of rows that were saved.
   *
   * @param form its {@link dev.tidemark.flink.message.KeyedRow#form}
   * @param change brings them into the job's schema
   */
  public record Former(int form, RowChange change) {}

  private StateSchemas() {}

  /**
   * Reads them, and puts the job's in their place.
   *
   * @throws StopForGoodException naming shard and column, when saved rows can't be brought into the
   *     job's schema
   */
  public static StateSchemas of(StateInitializationContext context, List<ShardTarget> shards)
      throws Exception {
    BroadcastState<String, String> state = context.getOperatorStateStore().getBroadcastState(STATE);
    StateSchemas schemas = new StateSchemas();
    for (ShardTarget shard : shards) {
      String saved = state.get(shard.url());
      String declared = shard.schema().toString();
      schemas.formers.add(
          saved == null || saved.equals(declared) ? null : former(shard, Schema.parse(saved, 1)));
      state.put(shard.url(), declared);
    }
    return schemas;
  }

  private static Former former(ShardTarget shard, Schema saved) {
    SchemaChange change = SchemaChange.of(List.of(saved), shard.schema());
    Schema next = change.next();
    if (next == null) {
      throw new StopForGoodException(
          "the restored state has rows of shard "
              + shard.url()
              + " in the schema ("
              + saved
              + "): "
              + change.refusal()
              + "; restore the job with that schema, stop it by a savepoint once more, or write to"
              + " another shard without state");
    }
    return new Former(saved.toString().hashCode(), new RowChange(saved, next));
  }

  /** What the saved rows of a shard were; null: what they are now. */
  public @Nullable Former former(int shard) {
    return formers.get(shard);
  }
}
