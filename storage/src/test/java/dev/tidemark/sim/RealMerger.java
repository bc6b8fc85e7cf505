package dev.tidemark.sim;

import dev.tidemark.merge.Compactor;
import dev.tidemark.part.PartGoneException;
import java.io.IOException;

/** The compactor that operators at a terminal have. */
final class RealMerger extends Participant {
  private final Compactor compactor;

  RealMerger(Host host) {
    super(host);
    this.compactor =
        new Compactor(
            log,
            Parquet.parts(host.store(), host::partKey),
            host.author("install"),
            host::freshName);
  }

  @Override
  void turn() throws IOException {
    if (!refresh().exists() || log.known().retired()) {
      return;
    }
    try {
      boolean done = compactor.step();
      host.tell(() -> done ? "merged or promoted" : "had nothing to do");
    } catch (PartGoneException e) {
      host.tell(() -> "an input is gone: " + e.getMessage());
    }
  }
}
