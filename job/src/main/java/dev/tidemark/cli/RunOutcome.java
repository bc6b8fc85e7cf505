package dev.tidemark.cli;

import java.util.Map;
import java.util.Optional;

/**
 * How a job ended, or how far it was when it was left.
 *
 * @param code the exit code: 0, or that of the signal
 * @param counts what became of the records
 * @param savepoint where to go on from, if it was stopped
 * @param whole whether the counts are those of all records; false: the job was restarted after it
 *     had read all of its input, and some are as they were last seen
 * @param millis how long it took
 */
record RunOutcome(
    int code, Map<String, Long> counts, boolean whole, Optional<String> savepoint, long millis) {}
