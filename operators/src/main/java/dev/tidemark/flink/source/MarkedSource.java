package dev.tidemark.flink.source;

import dev.tidemark.flink.message.RawRecord;
import java.io.Serializable;
import java.util.Set;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.watermark.WatermarkDeclaration;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.java.typeutils.ResultTypeQueryable;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * A source that says by marks among its records which partitions a reader has, so that whoever
 * reads the records' times knows of those that never speak, too. All else is the source's own, its
 * state included.
 *
 * @param <S> its splits
 * @param <E> its enumerator's state
 */
class MarkedSource<S extends SourceSplit, E>
    implements Source<RawRecord, S, E>, ResultTypeQueryable<RawRecord> {
  private static final long serialVersionUID = 1L;

  private final Source<RawRecord, S, E> source;
  private final PartitionName<S> partition;

  /** What the records of a split call their partition. */
  interface PartitionName<S> extends Serializable {
    String of(S split);
  }

  MarkedSource(Source<RawRecord, S, E> source, PartitionName<S> partition) {
    this.source = source;
    this.partition = partition;
  }

  @Override
  public SourceReader<RawRecord, S> createReader(SourceReaderContext context) throws Exception {
    return new MarkedReader<>(source.createReader(context), partition);
  }

  @Override
  public Boundedness getBoundedness() {
    return source.getBoundedness();
  }

  @Override
  public SplitEnumerator<S, E> createEnumerator(SplitEnumeratorContext<S> context)
      throws Exception {
    return source.createEnumerator(context);
  }

  @Override
  public SplitEnumerator<S, E> restoreEnumerator(SplitEnumeratorContext<S> context, E checkpoint)
      throws Exception {
    return source.restoreEnumerator(context, checkpoint);
  }

  @Override
  public SimpleVersionedSerializer<S> getSplitSerializer() {
    return source.getSplitSerializer();
  }

  @Override
  public SimpleVersionedSerializer<E> getEnumeratorCheckpointSerializer() {
    return source.getEnumeratorCheckpointSerializer();
  }

  @Override
  public Set<? extends WatermarkDeclaration> declareWatermarks() {
    return source.declareWatermarks();
  }

  @Override
  public TypeInformation<RawRecord> getProducedType() {
    return RawRecord.TYPE;
  }
}
