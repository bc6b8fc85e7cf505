package dev.tidemark.flink.source;

import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.decode.DecodeSettings;
import dev.tidemark.flink.message.Update;
import java.util.List;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Builds the input side of a job: source, decoder, watermarks, and upsert where an envelope asks
 * for it.
 */
public final class Updates {
  private Updates() {}

  /**
   * The updates of a job, with watermarks.
   *
   * @throws IllegalArgumentException naming option and mend, when the settings can't be (a missing
   *     file, say)
   */
  public static DataStream<Update> of(
      StreamExecutionEnvironment env,
      SourceSettings source,
      DecodeSettings decode,
      SourceSettings.Watermarks watermarks,
      List<ShardTarget> shards,
      SlotKeys slots) {
    throw new UnsupportedOperationException();
  }
}
