package dev.tidemark.flink.mint;

import dev.tidemark.flink.message.Update;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Stands before mint, chained to the source: lets watermarks through and no rows, so that mint,
 * which is one subtask, carries none of the load.
 */
public final class WatermarksOnly extends AbstractStreamOperator<Update>
    implements OneInputStreamOperator<Update, Update> {
  private static final long serialVersionUID = 1L;

  @Override
  public void processElement(StreamRecord<Update> row) {}

  @Override
  public void setKeyContextElement(StreamRecord<Update> row) {}
}
