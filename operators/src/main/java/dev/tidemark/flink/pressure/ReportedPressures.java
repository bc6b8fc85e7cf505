package dev.tidemark.flink.pressure;

import java.util.HashMap;
import java.util.Map;

/**
 * The last pressure that each subtask of append reported, by operator and subtask, so that each can
 * fall again. What isn't reported any more is forgotten: of subtasks that a rescaled job has no
 * more of, at once; of those that died, after {@link #LIFE_MILLIS}. Pure; not thread-safe.
 */
final class ReportedPressures {
  /** After this long without a report a subtask counts no more: five reports were missed. */
  static final long LIFE_MILLIS = 5_000;

  private record Reporter(String operator, int subtask) {}

  private record Report(double pressure, long atMillis) {}

  private final Map<Reporter, Report> reports = new HashMap<>();

  /**
   * A subtask reports.
   *
   * @param operator its operator, the same over restarts
   * @param parallelism how many subtasks the operator has now
   * @param nowMillis by one clock for all reports
   */
  void report(String operator, int subtask, int parallelism, double pressure, long nowMillis) {
    reports.put(new Reporter(operator, subtask), new Report(pressure, nowMillis));
    reports
        .keySet()
        .removeIf(
            reporter -> reporter.operator().equals(operator) && reporter.subtask() >= parallelism);
  }

  /** The greatest that counts; 0 when nobody has reported. */
  double greatest(long nowMillis) {
    reports.values().removeIf(report -> nowMillis - report.atMillis() > LIFE_MILLIS);
    return reports.values().stream().mapToDouble(Report::pressure).max().orElse(0);
  }
}
