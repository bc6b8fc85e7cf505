package dev.tidemark.cli;

import dev.tidemark.hold.OwnHold;
import dev.tidemark.hold.Renewal;

/**
 * A hold while a command reads: renewed in the background, given up at the end, also when that is a
 * Ctrl-C or a SIGTERM. After a {@code kill -9} it expires.
 */
final class ReadHold implements AutoCloseable {
  private final OwnHold hold;
  private final Renewal renewal;
  private final Thread atExit;

  private ReadHold(OwnHold hold) {
    this.hold = hold;
    this.renewal = Renewal.start(hold);
    this.atExit = new Thread(hold::drop, "tidemark-drop-hold");
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  /** Looks after a hold from now on. */
  static ReadHold keep(OwnHold hold) {
    return new ReadHold(hold);
  }

  @Override
  public void close() {
    renewal.close();
    hold.drop();
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException exiting) {
      return; // the hook drops it too
    }
  }
}
