package dev.tidemark.flink.pressure;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.runtime.taskexecutor.GlobalAggregateManager;
import org.apache.flink.util.InstantiationUtil;

/** Keeps aggregates as the job master does; can be out of reach. */
final class LocalBoard implements GlobalAggregateManager {
  private final Map<String, Object> accumulators = new HashMap<>();
  private final AtomicInteger requests = new AtomicInteger();
  private volatile boolean broken;

  /** How often it was asked or told. */
  int requests() {
    return requests.get();
  }

  void breakDown() {
    broken = true;
  }

  @Override
  @SuppressWarnings("unchecked")
  public synchronized <I, A, O> O updateGlobalAggregate(
      String name, Object message, AggregateFunction<I, A, O> function) throws IOException {
    requests.incrementAndGet();
    if (broken) {
      throw new IOException("the job master is gone");
    }
    try {
      AggregateFunction<I, A, O> sent = InstantiationUtil.clone(function);
      Object accumulator = accumulators.computeIfAbsent(name, first -> sent.createAccumulator());
      A added = sent.add((I) message, (A) accumulator);
      accumulators.put(name, added);
      return sent.getResult(added);
    } catch (ClassNotFoundException e) {
      throw new IOException(e);
    }
  }
}
