package dev.tidemark.law;

import java.util.random.RandomGenerator;

/** A kind of history: what the appends of a shard hold, one after the other. */
abstract class Workload {
  private final String name;

  /** Whether every retraction cancels a row that was added before. */
  private final boolean cancels;

  private Workload(String name, boolean cancels) {
    this.name = name;
    this.cancels = cancels;
  }

  /** What the next append holds, at this time. */
  abstract Contents next(int append, long time);

  /** Whether every retraction cancels a row that was added before. */
  boolean cancels() {
    return cancels;
  }

  @Override
  public String toString() {
    return name;
  }

  /** One of all kinds, with sizes about {@code baseBytes}. */
  static Workload any(RandomGenerator random, long baseBytes) {
    return switch (random.nextInt(11)) {
      case 0 -> uniform(baseBytes);
      case 1 -> logNormal(random, baseBytes);
      case 2 -> hugeThenTiny(baseBytes);
      case 3 -> alternating(baseBytes);
      case 4 -> superDecreasing(baseBytes);
      case 5 -> retractionsOnly(random, baseBytes);
      case 6 -> retractionsOfNothing(random, baseBytes);
      case 7 -> wideAndCold(random);
      case 8 -> bag(random);
      case 9 -> updates(random, 40 + random.nextInt(60));
      default -> updates(random, 20_000);
    };
  }

  /** All appends as large. */
  static Workload uniform(long bytes) {
    return additions("uniform", append -> bytes);
  }

  /** Most are small, a few are large. */
  static Workload logNormal(RandomGenerator random, long bytes) {
    return additions(
        "log-normal", append -> 1 + (long) (bytes * Math.exp(2 * random.nextGaussian() - 1)));
  }

  /** A snapshot, then a trickle. */
  static Workload hugeThenTiny(long bytes) {
    return additions("one huge, then tiny", append -> append == 0 ? bytes << 20 : bytes / 50 + 1);
  }

  /** A thousand times as large, a hundredth as large, in turn. */
  static Workload alternating(long bytes) {
    return additions(
        "alternating", append -> append % 2 == 0 ? bytes * 1000 : Math.max(1, bytes / 100));
  }

  /** Each belongs lower than the one before, again and again. */
  static Workload superDecreasing(long bytes) {
    return additions("super-decreasing", append -> bytes << (3 * (7 - append % 8)));
  }

  /** Nothing but retractions, of nothing. */
  static Workload retractionsOnly(RandomGenerator random, long bytes) {
    return new Workload("all retractions", false) {
      @Override
      Contents next(int append, long time) {
        long size = 1 + random.nextLong(2 * bytes);
        return Contents.loose(time, size, size);
      }
    };
  }

  /** As many retractions as additions, none of which cancels another. */
  static Workload retractionsOfNothing(RandomGenerator random, long bytes) {
    return new Workload("retractions of nothing", false) {
      @Override
      Contents next(int append, long time) {
        long size = 1 + random.nextLong(2 * bytes);
        return Contents.loose(time, size, random.nextLong(size + 1));
      }
    };
  }

  /** Many wide rows that rest, a few narrow ones that change all the time. */
  static Workload wideAndCold(RandomGenerator random) {
    Keys keys = new Keys(random, 300);
    return new Workload("wide and cold, narrow and hot", true) {
      @Override
      Contents next(int append, long time) {
        int first = append < 280 ? 20 + append : random.nextInt(20);
        return keys.update(time, 8, i -> i == 0 ? first : random.nextInt(20), k -> k < 20 ? 0 : 3);
      }
    };
  }

  /** Few rows that come and go, many times each. */
  static Workload bag(RandomGenerator random) {
    return new Workload("bags", false) {
      @Override
      Contents next(int append, long time) {
        int size = 1 + random.nextInt(10);
        long[] rows = new long[size];
        int[] counts = new int[size];
        for (int i = 0; i < size; i++) {
          rows[i] = Contents.row(random.nextInt(40), 0, 1);
          counts[i] = random.nextInt(-3, 4);
        }
        return Contents.of(time, rows, counts);
      }
    };
  }

  /** Inserts, updates and now and then deletes of so many keys. */
  static Workload updates(RandomGenerator random, int count) {
    Keys keys = new Keys(random, count);
    return new Workload("updates of " + count + " keys", true) {
      @Override
      Contents next(int append, long time) {
        return keys.update(time, 1 + random.nextInt(12), i -> random.nextInt(count), k -> 1);
      }
    };
  }

  private interface Size {
    long of(int append);
  }

  private static Workload additions(String name, Size size) {
    return new Workload(name, true) {
      @Override
      Contents next(int append, long time) {
        return Contents.loose(time, size.of(append), 0);
      }
    };
  }

  private interface Draw {
    int of(int i);
  }

  /** A table: each change retracts the row that is there. */
  private static final class Keys {
    private final RandomGenerator random;

    /** The newest version by key, 0 when the key isn't there. */
    private final int[] versions;

    private int changes;

    Keys(RandomGenerator random, int count) {
      this.random = random;
      this.versions = new int[count];
    }

    Contents update(long time, int count, Draw key, Draw sizeClass) {
      long[] rows = new long[2 * count];
      int[] counts = new int[2 * count];
      int size = 0;
      for (int i = 0; i < count; i++) {
        int changed = key.of(i);
        int width = sizeClass.of(changed);
        if (versions[changed] != 0) {
          rows[size] = Contents.row(changed, versions[changed], width);
          counts[size++] = -1;
        }
        boolean deleted = random.nextInt(20) == 0;
        versions[changed] = deleted ? 0 : ++changes & 0xFFFFFFF;
        if (!deleted) {
          rows[size] = Contents.row(changed, versions[changed], width);
          counts[size++] = 1;
        }
      }
      return Contents.of(
          time, java.util.Arrays.copyOf(rows, size), java.util.Arrays.copyOf(counts, size));
    }
  }
}
