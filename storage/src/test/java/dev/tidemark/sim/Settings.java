package dev.tidemark.sim;

import dev.tidemark.log.LogIntervals;
import dev.tidemark.spine.SpineSpec;
import java.util.EnumMap;
import java.util.Map;

/**
 * What one history is like, drawn from its seed: each history has its own few faults and actors, as
 * all of them at once would hide each other.
 *
 * @param intervals small, so that blocks close
 * @param spec small, so that levels fill
 * @param rates how often each fault happens, by request or by wait
 * @param writers ids that append
 * @param tolerant whether a writer goes on behind what another one wrote
 * @param attempts how many attempts a writer may have
 * @param installers how many merge at the same time
 * @param collectors how many delete at the same time
 * @param readers how many read at a time, without holds
 * @param holders how many read with holds
 * @param keepMillis how long a part stays that nobody names any more
 * @param orphanMillis how old an orphan gets
 * @param pauseMillis about how long actors rest between two turns
 * @param retain how far since stays behind the upper
 * @param seals whether a writer comes to an end
 * @param administered whether an operator alters the spec, hands over, seals
 * @param retires whether that operator retires the shard
 * @param errors whether writers have error rows too
 * @param parquet whether parts are real ones, and real readers and mergers work with them
 */
record Settings(
    LogIntervals intervals,
    SpineSpec spec,
    Map<Fault, Double> rates,
    int writers,
    boolean tolerant,
    int attempts,
    int installers,
    int collectors,
    int readers,
    int holders,
    long keepMillis,
    long orphanMillis,
    long pauseMillis,
    long retain,
    boolean seals,
    boolean administered,
    boolean retires,
    boolean errors,
    boolean parquet) {
  private static final long HOUR_MILLIS = 3_600_000L;

  /** Those of a seed. Every other history is harsh. */
  static Settings of(long seed) {
    return of(Chance.of(seed, "settings"), Chance.of(seed, "harsh").happens(0.5));
  }

  /**
   * Draws them.
   *
   * @param harsh whether all that makes trouble likely comes together: the smallest blocks, actors
   *     of each kind side by side that rest and freeze for long, and no early end
   */
  private static Settings of(Chance chance, boolean harsh) {
    int fanIn = chance.one(2, 2, 3, 4);
    SpineSpec spec =
        new SpineSpec(
            fanIn,
            2 * fanIn + chance.below(4),
            2 * fanIn + chance.below(2) * 8,
            chance.one(24L, 96L, 1_000_000L),
            chance.one(1.3, 2.0, 4.0),
            true);
    return new Settings(
        harsh
            ? new LogIntervals(chance.between(1, 2), chance.between(2, 3))
            : new LogIntervals(chance.between(1, 4), chance.between(2, 8)),
        spec,
        rates(chance, harsh),
        chance.one(1, 1, 2, 3),
        chance.happens(0.7),
        chance.one(1, 3, 6),
        harsh ? 2 : chance.one(1, 1, 2),
        harsh ? 2 : chance.one(1, 2, 2),
        harsh ? chance.below(2) : chance.below(3),
        harsh ? 1 + chance.below(2) : chance.below(3),
        HOUR_MILLIS,
        24 * HOUR_MILLIS,
        harsh
            ? chance.one(300_000L, 900_000L, 1_800_000L)
            : chance.one(10_000L, 300_000L, 900_000L, 1_800_000L),
        chance.one(0L, 2L, 10L),
        !harsh && chance.happens(0.15),
        chance.happens(0.5),
        !harsh && chance.happens(0.3),
        chance.happens(0.4),
        chance.happens(0.1));
  }

  private static Map<Fault, Double> rates(Chance chance, boolean harsh) {
    Map<Fault, Double> rates = new EnumMap<>(Fault.class);
    double quiet = harsh ? 0.4 : chance.one(0.2, 0.5, 0.8);
    for (Fault fault : Fault.ALL) {
      double rate =
          switch (fault) {
            case FREEZE -> harsh ? 0.03 : chance.one(0.003, 0.01, 0.03);
            case NIGHT -> chance.one(0.0005, 0.002);
            case KILL -> chance.one(0.001, 0.004);
            case PARTITION -> chance.one(0.005, 0.02);
            case REQUEST_LOST,
                ANSWER_LOST,
                LATE,
                DUPLICATED,
                CONFLICT,
                EXISTS,
                SERVER_ERROR,
                THROTTLED,
                DAMAGED,
                UPLOAD_CUT ->
                chance.one(0.01, 0.04, 0.12);
          };
      rates.put(fault, chance.happens(quiet) ? 0.0 : rate);
    }
    return rates;
  }

  double rate(Fault fault) {
    return rates.getOrDefault(fault, 0.0);
  }
}
