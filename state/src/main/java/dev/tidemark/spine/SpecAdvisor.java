package dev.tidemark.spine;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * Turns a spec around: from what somebody is willing to pay to knobs. Looks through a table of
 * specs, all of which keep NoStall's K = 2N, and takes the default if that will do, else the one
 * whose bounds multiplied are least. Nothing is promised that {@link Bounds} doesn't.
 */
public final class SpecAdvisor {
  private static final int[] FAN_INS = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
  private static final long[] BASES = {1L << 18, 1L << 20, 4L << 20, 16L << 20, 64L << 20};
  private static final double[] SPACES = {1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.5, 3, 4, 6, 10};

  private SpecAdvisor() {}

  /**
   * The most that may be; infinite where nobody cares.
   *
   * @param runs runs that a reader merges while no consolidation is under way
   * @param writes write amplification whatever the data
   * @param space space amplification
   * @param dollars dollars a month
   */
  public record Target(double runs, double writes, double space, double dollars) {
    /** Nobody cares about anything. */
    public static final Target NONE =
        new Target(
            Double.POSITIVE_INFINITY,
            Double.POSITIVE_INFINITY,
            Double.POSITIVE_INFINITY,
            Double.POSITIVE_INFINITY);
  }

  /**
   * A spec with what it promises for a load.
   *
   * @param spec the spec
   * @param bounds its bounds
   * @param cost what it asks of the store in a month
   * @param dollars what that costs
   */
  public record Proposal(SpineSpec spec, Bounds bounds, Cost cost, double dollars) {
    /** What a spec promises. */
    public static Proposal of(
        SpineSpec spec, Load load, int shards, ToDoubleFunction<Cost> prices) {
      Cost cost = Cost.of(spec, load).times(shards);
      return new Proposal(spec, load.bounds(spec), cost, prices.applyAsDouble(cost));
    }

    private double score() {
      return bounds.runs() * bounds.writesAtWorst() * bounds.space();
    }
  }

  /**
   * The answer.
   *
   * @param proposal a spec that meets the target; empty when none does
   * @param inTheWay otherwise, a line for each limit that keeps the others from being met
   */
  public record Advice(Optional<Proposal> proposal, List<String> inTheWay) {
    /** Copies the list. */
    public Advice {
      inTheWay = List.copyOf(inTheWay);
    }
  }

  /** One of the four limits. */
  private record Limit(String name, String form, double most, ToDoubleFunction<Proposal> figure) {
    boolean isMet(Proposal proposal) {
      return figure.applyAsDouble(proposal) <= most;
    }

    String text(double value) {
      return String.format(Locale.ROOT, form, value);
    }
  }

  /**
   * Looks for a spec.
   *
   * @param load what is asked of each shard
   * @param shards how many there are
   * @param target the most that may be
   * @param prices dollars for what is asked of the store in a month
   */
  public static Advice advise(Load load, int shards, Target target, ToDoubleFunction<Cost> prices) {
    List<Limit> limits =
        Stream.of(
                new Limit("runs", "%.0f", target.runs, p -> p.bounds.runs()),
                new Limit(
                    "write amplification", "%.2f", target.writes, p -> p.bounds.writesAtWorst()),
                new Limit("space amplification", "%.2f", target.space, p -> p.bounds.space()),
                new Limit("dollars a month", "%.2f", target.dollars, p -> p.dollars))
            .filter(limit -> limit.most != Double.POSITIVE_INFINITY)
            .toList();
    List<Proposal> all =
        candidates(load.runs()).map(spec -> Proposal.of(spec, load, shards, prices)).toList();
    if (all.isEmpty()) {
      int most = FAN_INS[FAN_INS.length - 1] / 2;
      return new Advice(
          Optional.empty(),
          List.of(
              load.runs()
                  + " runs a commit: a fresh batch may have half of fan-in, here at most "
                  + most));
    }
    Predicate<Proposal> meets = p -> limits.stream().allMatch(limit -> limit.isMet(p));
    Optional<Proposal> best =
        all.stream()
            .filter(meets)
            .min(
                Comparator.<Proposal, Boolean>comparing(p -> !p.spec.equals(SpineSpec.DEFAULT))
                    .thenComparing(Proposal::score));
    return best.isPresent()
        ? new Advice(best, List.of())
        : new Advice(Optional.empty(), inTheWay(limits, all));
  }

  /** Limits that no spec meets by itself; else those but for which the others could be met. */
  private static List<String> inTheWay(List<Limit> limits, List<Proposal> all) {
    List<String> lines = new ArrayList<>();
    for (Limit limit : limits) {
      double least = least(limit, all.stream());
      if (least > limit.most) {
        lines.add(
            limit.name
                + " at most "
                + limit.text(limit.most)
                + ": for this load the least is "
                + limit.text(least));
      }
    }
    if (!lines.isEmpty()) {
      return lines;
    }
    for (Limit limit : limits) {
      Predicate<Proposal> others =
          p -> limits.stream().allMatch(other -> other.equals(limit) || other.isMet(p));
      double least = least(limit, all.stream().filter(others));
      if (least < Double.POSITIVE_INFINITY) {
        lines.add(
            limit.name
                + " at most "
                + limit.text(limit.most)
                + ": where the other limits are met the least is "
                + limit.text(least));
      }
    }
    return lines.isEmpty()
        ? List.of("each limit can be met by itself, but no two of them together: ease several")
        : lines;
  }

  private static double least(Limit limit, Stream<Proposal> among) {
    return among.mapToDouble(limit.figure).min().orElse(Double.POSITIVE_INFINITY);
  }

  private static Stream<SpineSpec> candidates(int runs) {
    List<SpineSpec> specs = new ArrayList<>();
    for (int fanIn : FAN_INS) {
      for (long base : BASES) {
        for (double space : SPACES) {
          SpineSpec spec = new SpineSpec(fanIn, 2 * fanIn, 3 * fanIn, base, space, true);
          if (runs <= spec.freshRuns()) {
            specs.add(spec);
          }
        }
      }
    }
    return specs.stream();
  }
}
