package dev.tidemark.flink.pressure;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.runtime.taskexecutor.GlobalAggregateManager;
import org.apache.flink.streaming.api.operators.StreamingRuntimeContext;

/**
 * Where append's subtasks leave their pressure and readers of the source find the greatest: an
 * aggregate that Flink's job master keeps for the job, the only way against the stream that needs
 * no edge. It outlives attempts of the job, not the job master; {@link ReportedPressures} says what
 * is forgotten and when. Each call is a request to the job master that waits for its answer: never
 * make it in a task's own thread.
 */
public final class PressureBoard {
  private static final String NAME = "tidemark-pressure";

  private final GlobalAggregateManager manager;

  PressureBoard(GlobalAggregateManager manager) {
    this.manager = manager;
  }

  /** The board of the job that an operator or a reader runs in; empty where Flink gives none. */
  public static Optional<PressureBoard> of(RuntimeContext context) {
    return manager(context).map(PressureBoard::new);
  }

  static Optional<GlobalAggregateManager> manager(RuntimeContext context) {
    if (context instanceof StreamingRuntimeContext streaming) {
      try {
        return Optional.ofNullable(streaming.getGlobalAggregateManager());
      } catch (UnsupportedOperationException notInAJob) {
        return Optional.empty();
      }
    }
    return Optional.empty();
  }

  /**
   * Leaves the pressure of a subtask.
   *
   * @param operator its operator, the same over restarts
   * @param parallelism how many subtasks the operator has
   */
  public void report(String operator, int subtask, int parallelism, double pressure)
      throws IOException {
    update(Tuple4.of(operator, subtask, parallelism, pressure));
  }

  /** The greatest pressure in the job, from 0 to 1. */
  public double greatest() throws IOException {
    return update(Greatest.QUESTION);
  }

  private double update(Tuple4<String, Integer, Integer, Double> message) throws IOException {
    Double greatest = manager.updateGlobalAggregate(NAME, message, new Greatest());
    return greatest;
  }

  /**
   * Runs in the job master, by whose clock reports grow old. Messages are of Flink's own types:
   * what carries them doesn't know the job's classes.
   */
  static final class Greatest
      implements AggregateFunction<
          Tuple4<String, Integer, Integer, Double>, ReportedPressures, Double> {
    private static final long serialVersionUID = 1L;

    /** A message that reports nothing. */
    static final Tuple4<String, Integer, Integer, Double> QUESTION = Tuple4.of("", -1, 0, 0.0);

    @Override
    public ReportedPressures createAccumulator() {
      return new ReportedPressures();
    }

    @Override
    public ReportedPressures add(
        Tuple4<String, Integer, Integer, Double> message, ReportedPressures reports) {
      if (message.f1 >= 0) {
        reports.report(message.f0, message.f1, message.f2, message.f3, nowMillis());
      }
      return reports;
    }

    @Override
    public Double getResult(ReportedPressures reports) {
      return reports.greatest(nowMillis());
    }

    private static long nowMillis() {
      return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
    }

    /** Never called: the job master keeps one accumulator. */
    @Override
    public ReportedPressures merge(ReportedPressures one, ReportedPressures other) {
      throw new UnsupportedOperationException("the pressures of two job masters");
    }
  }
}
