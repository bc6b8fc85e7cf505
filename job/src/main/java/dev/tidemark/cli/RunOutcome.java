package dev.tidemark.cli;

import java.util.Map;
import java.util.Optional;

/**
 * How a job in this JVM ended.
 *
 * @param code the exit code: 0, or that of the signal
 * @param counts what became of the records
 * @param savepoint after a signal, where to go on from
 * @param millis how long it took
 */
record RunOutcome(int code, Map<String, Long> counts, Optional<String> savepoint, long millis) {}
