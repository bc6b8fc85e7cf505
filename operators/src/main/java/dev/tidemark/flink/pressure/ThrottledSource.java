package dev.tidemark.flink.pressure;

import dev.tidemark.flink.ForwardingSource;
import java.util.Optional;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.ExternallyInducedSourceReader;
import org.apache.flink.api.connector.source.RichSourceReaderContext;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SupportsSplitReassignmentOnRecovery;
import org.apache.flink.api.java.typeutils.ResultTypeQueryable;
import org.apache.flink.api.java.typeutils.TypeExtractor;

/**
 * A source whose readers stand still while the shards that its job appends to have no room: rows
 * are held back where they enter, so that nothing piles up inside and barriers go on. All else is
 * the source's own: enumerator, splits, their serializers, and so its state. A job may put this
 * around its source or take it away again between two attempts.
 *
 * <p>Where Flink offers no way back from append to the source, and where a source decides itself
 * when checkpoints are taken, readers read as they do without it.
 *
 * @param <T> what it emits
 * @param <S> its splits
 * @param <E> its enumerator's state
 */
public class ThrottledSource<T, S extends SourceSplit, E> extends ForwardingSource<T, S, E>
    implements ResultTypeQueryable<T> {
  private static final long serialVersionUID = 1L;

  private ThrottledSource(Source<T, S, E> source) {
    super(source);
  }

  /** Puts the throttle around a source. */
  public static <T, S extends SourceSplit, E> Source<T, S, E> of(Source<T, S, E> source) {
    return source instanceof SupportsSplitReassignmentOnRecovery
        ? new Reassigning<>(source)
        : new ThrottledSource<>(source);
  }

  /** Around a source that hands its splits back to the enumerator when it is restored. */
  private static final class Reassigning<T, S extends SourceSplit, E>
      extends ThrottledSource<T, S, E> implements SupportsSplitReassignmentOnRecovery {
    private static final long serialVersionUID = 1L;

    Reassigning(Source<T, S, E> source) {
      super(source);
    }
  }

  @Override
  public SourceReader<T, S> createReader(SourceReaderContext context) throws Exception {
    SourceReader<T, S> reader = source.createReader(context);
    if (reader instanceof ExternallyInducedSourceReader
        || !(context instanceof RichSourceReaderContext rich)) {
      return reader;
    }
    Optional<SourceGate> gate = SourceGate.acquire(rich.getRuntimeContext());
    if (gate.isEmpty()) {
      return reader;
    }
    context.metricGroup().addGroup("tidemark").gauge("heldMillis", gate.get()::heldMillis);
    return new ThrottledReader<>(reader, gate.get());
  }

  /** The type that Flink would find for the source itself. */
  @Override
  @SuppressWarnings("unchecked")
  public TypeInformation<T> getProducedType() {
    return source instanceof ResultTypeQueryable<?> typed
        ? (TypeInformation<T>) typed.getProducedType()
        : TypeExtractor.createTypeInfo(Source.class, source.getClass(), 0, null, null);
  }
}
