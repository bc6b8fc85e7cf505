package dev.tidemark.flink.source;

import dev.tidemark.flink.message.Update;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Rows whose times are their numbers, each of which must come once; fails when 30 % and when 90 %
 * are there, each time behind a checkpoint that holds some rows. One subtask, one job at a time.
 */
final class Once extends AbstractStreamOperator<Update>
    implements OneInputStreamOperator<Update, Update> {
  private static final long serialVersionUID = 1L;
  private static final AtomicInteger FAILURES = new AtomicInteger();
  private static volatile int wanted;
  private static volatile int found;

  private transient BitSet seen;
  private transient ListState<byte[]> state;
  private transient int checkpointed;
  private transient int count;

  static void begin(int rows) {
    wanted = rows;
    found = 0;
    FAILURES.set(0);
  }

  static int failures() {
    return FAILURES.get();
  }

  static int found() {
    return found;
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    state =
        context
            .getOperatorStateStore()
            .getListState(
                new ListStateDescriptor<>(
                    "seen", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
    seen = new BitSet();
    for (byte[] bits : state.get()) {
      seen.or(BitSet.valueOf(bits));
    }
    count = seen.cardinality();
    checkpointed = 0;
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    state.update(List.of(seen.toByteArray()));
    checkpointed = count;
  }

  @Override
  public void processElement(StreamRecord<Update> element) {
    int number = Math.toIntExact(element.getValue().time);
    if (seen.get(number)) {
      throw new IllegalStateException("row " + number + " came twice");
    }
    seen.set(number);
    count++;
    int failures = FAILURES.get();
    if (failures < 2 && count >= wanted / 10 * (failures == 0 ? 3 : 9)) {
      if (checkpointed > 0) {
        FAILURES.incrementAndGet();
        throw new IllegalStateException("failing as told, at row " + number);
      }
    }
    if (failures < 2 && checkpointed == 0 && count % 50 == 0) {
      LockSupport.parkNanos(1_000_000); // a checkpoint must come first
    }
  }

  @Override
  public void finish() throws Exception {
    found = seen.cardinality();
    super.finish();
  }
}
