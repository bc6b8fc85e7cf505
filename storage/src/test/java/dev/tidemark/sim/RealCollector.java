package dev.tidemark.sim;

import dev.tidemark.gc.Collector;
import dev.tidemark.gc.GcReport;
import dev.tidemark.gc.GcSettings;
import java.io.IOException;
import java.time.Duration;

/** The collector that jobs and operators have. */
final class RealCollector extends Participant {
  /** Small, so that a round seldom gets everything. */
  private static final int MOST = 40;

  private final Collector collector;

  RealCollector(Host host) {
    super(host);
    Settings settings = host.world().settings();
    this.collector =
        new Collector(
            log,
            host.author("gc"),
            new GcSettings(
                Duration.ofMillis(host.world().keepMillis()),
                Duration.ofMillis(settings.orphanMillis()),
                MOST,
                MOST));
  }

  /** Takes more requests a turn than others, so it comes less often. */
  @Override
  void rest() {
    host.rest();
    host.await(4 * host.world().settings().pauseMillis());
  }

  @Override
  void turn() throws IOException {
    GcReport report = collector.collect(true);
    host.truth().checkKnown(host.name(), log.known());
    host.tell(() -> "collected: " + report);
  }
}
