package dev.tidemark.flink.upsert;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;

/**
 * When the deleted keys that are no longer in state were deleted: the latest of these times, by key
 * group. A row of a key without state does not come before it: the retraction of the key's last row
 * may still be on its way into the shard, whatever the watermark says here, for a late row goes by
 * what mint has described, and that lags behind.
 *
 * <p>State: a value for each key group in which a key was forgotten, under a key of its own that
 * belongs to no row, so that it moves with the key group.
 */
final class ForgottenKeys {
  private static final ValueStateDescriptor<Long> STATE =
      new ValueStateDescriptor<>("forgotten-1", Types.LONG);

  /** No row's key begins like this: theirs begin with the shard's number. */
  private static final String KEY = "forgotten-";

  private final int keyGroups;
  private final ValueState<Long> state;
  private final Map<Integer, Long> latest = new HashMap<>();
  private final Set<Integer> changed = new HashSet<>();

  ForgottenKeys(RuntimeContext context, KeyedStateStore store) {
    this.keyGroups = context.getTaskInfo().getMaxNumberOfParallelSubtasks();
    this.state = store.getState(STATE);
  }

  static String stateName() {
    return STATE.getName();
  }

  /** A deleted key leaves the state. */
  void forget(String key, long time) {
    int group = group(key);
    if (latest.merge(group, time, Math::max) == time) {
      changed.add(group);
    }
  }

  /** The time for a row of a key without state. */
  long atLeast(String key, long time) {
    return latest.isEmpty() ? time : Math.max(time, latest.getOrDefault(group(key), time));
  }

  private int group(String key) {
    return KeyGroupRangeAssignment.assignToKeyGroup(key, keyGroups);
  }

  /** The keys, of the operator's making current, under which there is something to save. */
  List<String> unsaved() {
    List<String> keys = new ArrayList<>();
    for (int group : changed) {
      int number = 0;
      while (group(KEY + number) != group) {
        number++;
      }
      keys.add(KEY + number);
    }
    return keys;
  }

  /** Saves what belongs to the current key. */
  void save(String currentKey) throws Exception {
    state.update(latest.get(group(currentKey)));
    changed.remove(group(currentKey));
  }

  /** Takes what the restored state has under the current key. */
  void restore(String currentKey) throws Exception {
    latest.put(group(currentKey), state.value());
  }
}
