package dev.tidemark.flink;

import java.util.Set;
import org.apache.flink.api.common.watermark.WatermarkDeclaration;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * A source that stands around another and is that one in all but what a subclass takes for its own:
 * enumerator, splits, their serializers, and so its state, are the other's.
 *
 * @param <T> what it emits
 * @param <S> its splits
 * @param <E> its enumerator's state
 */
public abstract class ForwardingSource<T, S extends SourceSplit, E> implements Source<T, S, E> {
  private static final long serialVersionUID = 1L;

  /** The other. */
  protected final Source<T, S, E> source;

  /** Around a source. */
  protected ForwardingSource(Source<T, S, E> source) {
    this.source = source;
  }

  @Override
  public SourceReader<T, S> createReader(SourceReaderContext context) throws Exception {
    return source.createReader(context);
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
}
