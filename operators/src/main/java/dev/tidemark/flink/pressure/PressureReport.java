package dev.tidemark.flink.pressure;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A subtask of append leaves its pressure on the job's board once a second, in a thread of its own,
 * from its start on: what stands there of an attempt before is gone with the first report.
 */
public final class PressureReport implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PressureReport.class);
  private static final long TICK_MILLIS = 1000;

  private final PressureBoard board;
  private final String operator;
  private final int subtask;
  private final int parallelism;
  private final DoubleSupplier pressure;
  private final ScheduledExecutorService executor;

  private PressureReport(
      PressureBoard board, String operator, RuntimeContext context, DoubleSupplier pressure) {
    this.board = board;
    this.operator = operator;
    this.subtask = context.getTaskInfo().getIndexOfThisSubtask();
    this.parallelism = context.getTaskInfo().getNumberOfParallelSubtasks();
    this.pressure = pressure;
    this.executor = PressureThreads.start("tidemark-pressure");
    var unused = // a tick doesn't throw
        executor.scheduleWithFixedDelay(this::tick, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  /**
   * Begins to report; empty where Flink has no board.
   *
   * @param operator the operator, the same over restarts
   * @param pressure from 0 to 1; asked in another thread than the task's
   */
  public static Optional<PressureReport> start(
      RuntimeContext context, String operator, DoubleSupplier pressure) {
    return PressureBoard.of(context)
        .map(board -> new PressureReport(board, operator, context, pressure));
  }

  private void tick() {
    try {
      board.report(operator, subtask, parallelism, pressure.getAsDouble());
    } catch (IOException | RuntimeException e) {
      LOG.debug("the job master doesn't know of the pressure; told again", e);
    }
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }
}
