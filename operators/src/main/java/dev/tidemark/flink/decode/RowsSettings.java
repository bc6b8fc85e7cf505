package dev.tidemark.flink.decode;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * How a program's own rows become updates.
 *
 * @param envelope what a row's kind says
 * @param eventTimeColumn the column that holds a row's time; null: the record's own timestamp
 * @param maxAheadMillis rows later than the clock by more than this are errors; {@code
 *     Long.MAX_VALUE}: no limit
 * @param errorsFail whether a row that doesn't fit fails the job; else it is kept as an error row
 */
public record RowsSettings(
    Envelope envelope, @Nullable String eventTimeColumn, long maxAheadMillis, boolean errorsFail)
    implements Serializable {
  TableMapping mapping() {
    return new TableMapping(0, null, envelope, eventTimeColumn);
  }

  Intake.Limits limits() {
    return new Intake.Limits(errorsFail, Long.MAX_VALUE - 1, maxAheadMillis);
  }
}
