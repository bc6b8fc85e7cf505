package dev.tidemark.store;

import java.util.List;

/**
 * What a probe found that is no reason to stop.
 *
 * @param mayDelete whether objects can be deleted; when not, garbage stays
 * @param warnings one sentence each, for the user
 */
public record ProbeReport(boolean mayDelete, List<String> warnings) {
  /** Copies the list. */
  public ProbeReport {
    warnings = List.copyOf(warnings);
  }
}
