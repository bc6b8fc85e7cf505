package dev.tidemark.flink.source;

import dev.tidemark.flink.ForwardingSource;
import dev.tidemark.flink.message.RawRecord;
import java.io.Serializable;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.java.typeutils.ResultTypeQueryable;

/**
 * A source that says by marks among its records which partitions a reader has, so that whoever
 * reads the records' times knows of those that never speak, too. All else is the source's own, its
 * state included.
 *
 * @param <S> its splits
 * @param <E> its enumerator's state
 */
class MarkedSource<S extends SourceSplit, E> extends ForwardingSource<RawRecord, S, E>
    implements ResultTypeQueryable<RawRecord> {
  private static final long serialVersionUID = 1L;

  private final PartitionName<S> partition;

  /** What the records of a split call their partition. */
  interface PartitionName<S> extends Serializable {
    String of(S split);
  }

  MarkedSource(Source<RawRecord, S, E> source, PartitionName<S> partition) {
    super(source);
    this.partition = partition;
  }

  @Override
  public SourceReader<RawRecord, S> createReader(SourceReaderContext context) throws Exception {
    return new MarkedReader<>(source.createReader(context), partition);
  }

  @Override
  public TypeInformation<RawRecord> getProducedType() {
    return RawRecord.TYPE;
  }
}
