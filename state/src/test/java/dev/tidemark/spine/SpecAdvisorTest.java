package dev.tidemark.spine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.spine.SpecAdvisor.Advice;
import dev.tidemark.spine.SpecAdvisor.Proposal;
import dev.tidemark.spine.SpecAdvisor.Target;
import dev.tidemark.testing.Seeds;
import java.util.function.ToDoubleFunction;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** Knobs from a budget. */
final class SpecAdvisorTest {
  private static final double ANY = Double.POSITIVE_INFINITY;
  private static final ToDoubleFunction<Cost> PRICES =
      cost -> cost.puts() * 5e-6 + cost.gets() * 4e-7 + cost.storedBytes() * 2.3e-11;
  private static final Load LOAD = new Load(1_000_000, 10_000, 1, 12, 0.2, 3_600_000);

  private static Advice advise(Target target) {
    return SpecAdvisor.advise(LOAD, 1, target, PRICES);
  }

  @Test
  void theDefaultIsKeptWhereItWillDo() {
    assertThat(advise(Target.NONE).proposal().orElseThrow().spec()).isEqualTo(SpineSpec.DEFAULT);
    Bounds bounds = LOAD.bounds(SpineSpec.DEFAULT);
    Target just = new Target(bounds.runs(), bounds.writesAtWorst(), bounds.space(), ANY);
    assertThat(advise(just).proposal().orElseThrow().spec()).isEqualTo(SpineSpec.DEFAULT);
  }

  @Test
  void fewerRunsAreBoughtWithMoreWritingAndBack() {
    Proposal fewRuns = advise(new Target(100, ANY, ANY, ANY)).proposal().orElseThrow();
    Proposal fewWrites = advise(new Target(ANY, 9, ANY, ANY)).proposal().orElseThrow();
    assertThat(fewRuns.bounds().runs()).isLessThanOrEqualTo(100);
    assertThat(fewWrites.bounds().writesAtWorst()).isLessThanOrEqualTo(9);
    assertThat(fewRuns.spec().fanIn()).isLessThan(fewWrites.spec().fanIn());
  }

  @Test
  void whatIsInTheWayIsNamed() {
    assertThat(advise(new Target(10, ANY, ANY, ANY)).inTheWay())
        .singleElement()
        .asString()
        .startsWith("runs at most 10: for this load the least is ");
    assertThat(advise(new Target(ANY, ANY, 1.01, 0.01)).inTheWay())
        .hasSize(2)
        .anyMatch(line -> line.startsWith("space amplification at most 1.01: for this load the"))
        .anyMatch(line -> line.startsWith("dollars a month at most 0.01: for this load the"));
    // Each can be had, not both.
    assertThat(advise(new Target(100, 9, ANY, ANY)).inTheWay())
        .hasSize(2)
        .anyMatch(line -> line.matches("runs at most 100: where the other limits are met .*"))
        .anyMatch(line -> line.matches("write amplification at most 9.00: where the other .*"));
  }

  @Test
  void moreRunsACommitThanAnyFreshBatchMayHaveIsNoSolution() {
    Load wide = new Load(1e6, 10_000, 33, 12, 1, 0);
    assertThat(SpecAdvisor.advise(wide, 1, Target.NONE, PRICES).inTheWay())
        .singleElement()
        .asString()
        .contains("33 runs a commit");
  }

  @Test
  void whatIsProposedMeetsTheTargetAndWhatIsRefusedCannotBeHadByAnEasierLoad() {
    Seeds.check(
        40,
        random -> {
          Load load = load(random);
          Target target =
              new Target(
                  maybe(random, 20 + random.nextInt(300)),
                  maybe(random, 4 + random.nextDouble(0, 20)),
                  maybe(random, 1 + random.nextDouble(0, 3)),
                  maybe(random, Math.exp(random.nextDouble(0, 12))));
          int shards = 1 + random.nextInt(5);
          Advice advice = SpecAdvisor.advise(load, shards, target, PRICES);
          if (advice.proposal().isEmpty()) {
            assertThat(advice.inTheWay()).isNotEmpty();
            return;
          }
          SpineSpec spec = advice.proposal().get().spec();
          Bounds bounds = load.bounds(spec);
          assertThat((double) bounds.runs()).isLessThanOrEqualTo(target.runs());
          assertThat(bounds.writesAtWorst()).isLessThanOrEqualTo(target.writes());
          assertThat(bounds.space()).isLessThanOrEqualTo(target.space());
          assertThat(PRICES.applyAsDouble(Cost.of(spec, load).times(shards)))
              .isLessThanOrEqualTo(target.dollars() * (1 + 1e-9));
          assertThat(load.runs()).isLessThanOrEqualTo(spec.freshRuns());
          assertThat(spec.queue()).isGreaterThanOrEqualTo(2 * spec.fanIn());
        });
  }

  @Test
  void boundsAndCostsAreMonotoneInTheKnobs() {
    Seeds.check(
        200,
        random -> {
          Load load = load(random);
          int fanIn = Math.max(2, 2 * load.runs()) + random.nextInt(20);
          int queue = 2 * fanIn + random.nextInt(20);
          long base = 1L << random.nextInt(10, 30);
          double space = 1.1 + random.nextDouble(0, 3);
          SpineSpec spec = new SpineSpec(fanIn, queue, 3 * fanIn, base, space, true);
          Bounds bounds = load.bounds(spec);

          SpineSpec longer = new SpineSpec(fanIn, queue + 1, 3 * fanIn, base, space, true);
          assertThat(load.bounds(longer).runs()).isGreaterThan(bounds.runs());
          assertThat(load.bounds(longer).writesAtWorst()).isEqualTo(bounds.writesAtWorst());

          SpineSpec looser = new SpineSpec(fanIn, queue, 3 * fanIn, base, space + 0.1, true);
          assertThat(load.bounds(looser).writes()).isLessThan(bounds.writes());
          assertThat(load.bounds(looser).writesAtWorst()).isLessThan(bounds.writesAtWorst());
          assertThat(load.bounds(looser).space()).isGreaterThan(bounds.space());
          assertThat(load.mergeBytesPerSecond(looser)).isLessThan(load.mergeBytesPerSecond(spec));

          SpineSpec larger = new SpineSpec(fanIn, queue, 3 * fanIn, base * 2, space, true);
          assertThat(load.bounds(larger).depth()).isLessThanOrEqualTo(bounds.depth());
          assertThat(load.bounds(larger).runs()).isLessThanOrEqualTo(bounds.runs());

          SpineSpec wider = new SpineSpec(fanIn + 1, 2 * queue, 4 * fanIn, base, space, true);
          assertThat(Cost.of(wider, load).merges()).isLessThan(Cost.of(spec, load).merges());

          Load more =
              new Load(
                  load.bytesPerSecond() * 2,
                  load.commitMillis(),
                  load.runs(),
                  load.months(),
                  load.kept(),
                  load.retainMillis());
          assertThat(more.bounds(spec).runs()).isGreaterThanOrEqualTo(bounds.runs());
          assertThat(Cost.of(spec, more).storedBytes())
              .isGreaterThanOrEqualTo(Cost.of(spec, load).storedBytes());
        });
  }

  private static double maybe(RandomGenerator random, double limit) {
    return random.nextBoolean() ? limit : ANY;
  }

  private static Load load(RandomGenerator random) {
    return new Load(
        Math.exp(random.nextDouble(0, 19)),
        random.nextLong(100, 600_000),
        1 + random.nextInt(4),
        random.nextDouble(0.1, 36),
        random.nextInt(3) == 0 ? 1 : random.nextDouble(),
        random.nextLong(0, 100_000_000));
  }
}
