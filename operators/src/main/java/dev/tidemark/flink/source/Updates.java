package dev.tidemark.flink.source;

import dev.tidemark.flink.KeyBuckets;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.StartSettings;
import dev.tidemark.flink.decode.DecodeOperator;
import dev.tidemark.flink.decode.DecodeSettings;
import dev.tidemark.flink.decode.DecodeSettings.Format;
import dev.tidemark.flink.decode.Envelope;
import dev.tidemark.flink.decode.TableMapping;
import dev.tidemark.flink.decode.TableMapping.MatchKind;
import dev.tidemark.flink.decode.WatermarkSettings;
import dev.tidemark.flink.message.RawRecord;
import dev.tidemark.flink.message.Update;
import dev.tidemark.flink.pressure.ThrottledSource;
import dev.tidemark.flink.upsert.UpsertOperator;
import dev.tidemark.flink.upsert.UpsertSettings;
import java.util.List;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSource;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Builds the input side of a job: source, decoder, watermarks, and upsert where an envelope asks
 * for it.
 *
 * <p>Files read in order, and generated rows, have one reader, and the decoder is chained behind
 * it: what is in order in the input stays so up to write or upsert, which are keyed.
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
      SlotKeys slots,
      StartSettings start) {
    Input input = input(env, source, decode, shards);
    DataStreamSource<RawRecord> raw = input.raw();
    DecodeSettings read = input.decode();
    WatermarkSettings settings =
        new WatermarkSettings(watermarks.delay(), watermarks.idleTimeout(), input.byPartition());
    SingleOutputStreamOperator<Update> updates =
        raw.transform(
                "decode", Update.TYPE, new DecodeOperator(read, shards, slots, settings, start))
            .uid("decode")
            .setParallelism(raw.getParallelism());
    List<Integer> byKey =
        read.tables().stream()
            .filter(table -> table.envelope() == Envelope.UPSERT)
            .map(TableMapping::shard)
            .toList();
    KeyBuckets buckets = new KeyBuckets(shards.size(), slots.maxParallelism());
    return withUpserts(
        updates,
        new UpsertSettings(shards, byKey, slots, buckets, start, read.errorsFail()),
        "upsert");
  }

  /**
   * The updates of an operator that decodes, those of its rows by key among them.
   *
   * @param uid what keeps the rows by key is called in savepoints
   */
  public static DataStream<Update> withUpserts(
      SingleOutputStreamOperator<Update> updates, UpsertSettings settings, String uid) {
    if (settings.upserts().isEmpty()) {
      return updates;
    }
    DataStream<Update> upserts =
        updates
            .getSideOutput(DecodeOperator.KEYED)
            .keyBy(settings.buckets(), Types.INT)
            .transform("upsert", Update.TYPE, new UpsertOperator(settings))
            .uid(uid);
    return updates.union(upserts);
  }

  /**
   * Raw records and how they are read.
   *
   * @param byPartition whether marks among them say what partitions a reader has
   */
  private record Input(
      DataStreamSource<RawRecord> raw, DecodeSettings decode, boolean byPartition) {}

  private static Input input(
      StreamExecutionEnvironment env,
      SourceSettings source,
      DecodeSettings decode,
      List<ShardTarget> shards) {
    if (source instanceof SourceSettings.Files files) {
      checkMatches(decode, false);
      return new Input(files(env, files, decode), decode, false);
    }
    if (source instanceof SourceSettings.WatchedFiles files) {
      checkMatches(decode, false);
      return watched(env, files, decode);
    }
    if (source instanceof SourceSettings.Kafka kafka) {
      checkMatches(decode, true);
      if (decode.format() == Format.CSV) {
        throw new IllegalArgumentException(
            "source.format csv needs a header line, which a record of Kafka doesn't have; take"
                + " json");
      }
      return new Input(source(env, KafkaInput.of(kafka), "source-kafka", false), decode, true);
    }
    SourceSettings.Datagen datagen = (SourceSettings.Datagen) source;
    return new Input(datagen(env, datagen), generated(datagen, decode, shards), false);
  }

  private static void checkMatches(DecodeSettings decode, boolean kafka) {
    for (TableMapping table : decode.tables()) {
      TableMapping.Match match = table.match();
      if (match != null && match.kind() == MatchKind.TOPIC && !kafka) {
        throw new IllegalArgumentException(
            "tables: match by topic needs source.connector kafka; files have no topics");
      }
      if (match != null
          && match.kind() == MatchKind.TABLE
          && decode.format() != Format.DEBEZIUM_JSON) {
        throw new IllegalArgumentException(
            "tables: match by table needs source.format debezium-json; take a column"
                + (kafka ? " or the topic" : ""));
      }
      if (table.eventTimeColumn() == null && decode.format() != Format.DEBEZIUM_JSON && !kafka) {
        throw new IllegalArgumentException(
            "source.event-time metadata: files of this format have no times of their own; name the"
                + " column that holds a row's time");
      }
    }
  }

  private static DataStreamSource<RawRecord> files(
      StreamExecutionEnvironment env, SourceSettings.Files files, DecodeSettings decode) {
    boolean inOrder = files.order() == SourceSettings.Order.NAME;
    boolean mayBeEmpty = files.mayBeEmpty();
    if (!mayBeEmpty) {
      InputFiles.find(files.paths());
    }
    List<String> paths = List.copyOf(files.paths());
    Source<RawRecord, ?, ?> source =
        FileSource.forBulkFileFormat(format(decode, files.compression(), inOrder), named(paths))
            .setFileEnumerator(() -> new NamedFiles(paths, mayBeEmpty))
            .setSplitAssigner(OrderedSplits::new)
            .build();
    return source(env, source, "source-files", inOrder);
  }

  /**
   * Read in parallel, each file is a partition, which holds event time for as long as it is read;
   * read in order, all of them are one.
   */
  private static Input watched(
      StreamExecutionEnvironment env, SourceSettings.WatchedFiles files, DecodeSettings decode) {
    boolean inOrder = files.order() == SourceSettings.Order.NAME;
    InputFiles.checkWatched(files.paths());
    WatchedFileSource source =
        new WatchedFileSource(
            FileSource.forBulkFileFormat(
                    format(decode, files.compression(), inOrder), named(files.paths()))
                .build(),
            files.paths());
    return new Input(
        source(
            env,
            inOrder ? source : new MarkedSource<>(source, split -> split.path().toString()),
            "source-watched-files",
            inOrder),
        decode,
        !inOrder);
  }

  private static Path[] named(List<String> paths) {
    return paths.stream().map(Path::new).toArray(Path[]::new);
  }

  private static RawFileFormat format(DecodeSettings decode, String compression, boolean inOrder) {
    return new RawFileFormat(
        decode.format() == Format.CSV,
        compression(compression),
        inOrder,
        RawLines.MAX_RECORD_BYTES);
  }

  private static String compression(String compression) {
    switch (compression) {
      case "auto", "none", "gzip" -> {
        return compression;
      }
      default -> {
        throw new IllegalArgumentException(
            "source.compression " + compression + ": it must be auto, none or gzip");
      }
    }
  }

  private static DecodeSettings generated(
      SourceSettings.Datagen datagen, DecodeSettings decode, List<ShardTarget> shards) {
    for (TableMapping table : decode.tables()) {
      GeneratedRecords.checkSchema(shards.get(table.shard()).schema());
      if (table.envelope() == Envelope.CHANGELOG
          || (table.envelope() == Envelope.APPEND && datagen.deleteShare() > 0)) {
        throw new IllegalArgumentException(
            "source.connector datagen has no before-images: take envelope upsert, or append"
                + " without source.delete-share");
      }
      if (table.match() != null) {
        throw new IllegalArgumentException("source.connector datagen feeds one shard: no match");
      }
    }
    return decode.withFormat(Format.JSON);
  }

  private static DataStreamSource<RawRecord> datagen(
      StreamExecutionEnvironment env, SourceSettings.Datagen settings) {
    RateLimiterStrategy<?> rate =
        settings.rowsPerSecond() == 0
            ? RateLimiterStrategy.noOp()
            : RateLimiterStrategy.perSecond((double) settings.rowsPerSecond());
    DataGeneratorSource<RawRecord> source =
        new DataGeneratorSource<>(
            new GeneratedRecords(settings), settings.rows(), rate, RawRecord.TYPE);
    return source(env, source, "source-datagen", true);
  }

  private static DataStreamSource<RawRecord> source(
      StreamExecutionEnvironment env, Source<RawRecord, ?, ?> source, String uid, boolean one) {
    DataStreamSource<RawRecord> stream =
        env.fromSource(
            ThrottledSource.of(source), WatermarkStrategy.noWatermarks(), "source", RawRecord.TYPE);
    stream.uid(uid);
    if (one) {
      stream.setParallelism(1);
    }
    return stream;
  }
}
