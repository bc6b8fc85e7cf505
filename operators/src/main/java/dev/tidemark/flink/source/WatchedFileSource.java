package dev.tidemark.flink.source;

import dev.tidemark.flink.message.RawRecord;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.java.typeutils.ResultTypeQueryable;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * The files that come into folders, each once. Readers and splits are those of Flink's file source;
 * what was read is remembered in a bounded form, which its own isn't.
 */
final class WatchedFileSource
    implements Source<RawRecord, FileSourceSplit, WatchState>, ResultTypeQueryable<RawRecord> {
  private static final long serialVersionUID = 1L;

  private final FileSource<RawRecord> files;
  private final List<String> paths;

  /**
   * A source.
   *
   * @param files reads whole files; where it would find them itself doesn't matter
   */
  WatchedFileSource(FileSource<RawRecord> files, List<String> paths) {
    this.files = files;
    this.paths = List.copyOf(paths);
  }

  @Override
  public Boundedness getBoundedness() {
    return Boundedness.CONTINUOUS_UNBOUNDED;
  }

  @Override
  public SourceReader<RawRecord, FileSourceSplit> createReader(SourceReaderContext context) {
    return files.createReader(context);
  }

  @Override
  public SplitEnumerator<FileSourceSplit, WatchState> createEnumerator(
      SplitEnumeratorContext<FileSourceSplit> context) {
    return new FolderWatch(context, paths, new WatchState(0, new long[0], List.of()));
  }

  @Override
  public SplitEnumerator<FileSourceSplit, WatchState> restoreEnumerator(
      SplitEnumeratorContext<FileSourceSplit> context, WatchState state) {
    return new FolderWatch(context, paths, state);
  }

  @Override
  public SimpleVersionedSerializer<FileSourceSplit> getSplitSerializer() {
    return files.getSplitSerializer();
  }

  @Override
  public SimpleVersionedSerializer<WatchState> getEnumeratorCheckpointSerializer() {
    return WatchState.Serializer.INSTANCE;
  }

  @Override
  public TypeInformation<RawRecord> getProducedType() {
    return RawRecord.TYPE;
  }
}
