package dev.tidemark.flink;

import dev.tidemark.flink.decode.DebeziumSettings;
import dev.tidemark.flink.decode.DecodeSettings;
import dev.tidemark.flink.decode.TableMapping;
import dev.tidemark.flink.message.Update;
import dev.tidemark.flink.source.SourceSettings;
import dev.tidemark.flink.source.SourceSettings.Order;
import dev.tidemark.flink.source.Updates;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/**
 * A whole job that reads files in the order of their names into shards, and ends with them.
 *
 * @param folder where its checkpoints go
 * @param checkpointMillis how often it takes one
 */
public record FilesJob(
    Path folder,
    long checkpointMillis,
    int parallelism,
    DecodeSettings decode,
    List<ShardTarget> shards,
    SinkSettings settings) {
  private static final int MAX_PARALLELISM = 16;

  /** Reads one JSON object a line, at any time. */
  public static DecodeSettings json(boolean errorsFail, TableMapping... tables) {
    return new DecodeSettings(
        DecodeSettings.Format.JSON,
        DebeziumSettings.DEFAULT,
        List.of(tables),
        true,
        errorsFail,
        Long.MAX_VALUE - 1,
        Long.MAX_VALUE);
  }

  /** Runs it to its end. */
  public JobExecutionResult run(Path files) throws Exception {
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.getExecutionEnvironment(
            TestJobs.conf(folder.toUri() + "ckpt", checkpointMillis));
    env.setParallelism(parallelism);
    env.setMaxParallelism(MAX_PARALLELISM);
    SlotKeys slots = TidemarkSink.slotKeys(shards, settings, parallelism, MAX_PARALLELISM);
    DataStream<Update> updates =
        Updates.of(
            env,
            new SourceSettings.Files(List.of(files.toString()), Order.NAME, "auto"),
            decode,
            new SourceSettings.Watermarks(Duration.ZERO, null),
            shards,
            slots,
            new StartSettings(settings.start(), settings.store()));
    TidemarkSink.append(updates, shards, settings, slots).sinkTo(new DiscardingSink<>()).uid("out");
    return env.execute("files");
  }
}
