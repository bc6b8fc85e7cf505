package dev.tidemark.cli;

import dev.tidemark.hold.Holds;
import dev.tidemark.hold.OwnHold;
import dev.tidemark.hold.Renewal;
import dev.tidemark.job.UpkeepKeys;
import dev.tidemark.log.Hold;
import dev.tidemark.store.StoreException;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

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
    this.atExit = new Thread(hold::drop, "tidemark-drop-hold");
    Runtime.getRuntime().addShutdownHook(atExit);
    this.renewal = Renewal.start(hold);
  }

  /** Looks after a hold from now on. */
  static ReadHold keep(OwnHold hold) {
    return new ReadHold(hold);
  }

  /**
   * Takes a hold on the parts of a shard from its known version on; empty, and said so, where the
   * credentials only read.
   *
   * @param conf where hold.expiry is, if anywhere
   * @param doing what, for people: verifying
   * @param purpose what for, in the hold: verify
   * @param without what may be without a hold, for people
   */
  static Optional<ReadHold> take(
      Context context,
      @Nullable Path conf,
      ReaderOptions.Shard shard,
      String doing,
      String purpose,
      String without)
      throws IOException {
    long lease = UpkeepKeys.holdExpiry(ReaderOptions.options(context, conf)).toMillis();
    String host = Admin.author(context).attempt().host();
    Hold wanted = new Hold(shard.state().seqno(), Frontier.END, lease, purpose, host);
    return unlessDenied(context, doing, without, () -> keep(new Holds(shard.log()).create(wanted)));
  }

  /** Something that writes a hold. */
  interface Taking<T> {
    T take() throws IOException;
  }

  /**
   * What {@code taking} gives; empty, and said so in a line, where the credentials only read.
   *
   * @param doing what, for people: verifying
   * @param without what may be without a hold, for people
   */
  static <T> Optional<T> unlessDenied(
      Context context, String doing, String without, Taking<T> taking) throws IOException {
    try {
      return Optional.of(taking.take());
    } catch (StoreException e) {
      if (e.reason() != StoreException.Reason.DENIED) {
        throw e;
      }
      String why = Failures.oneLine(String.valueOf(e.getMessage()));
      context.err().println("tidemark: " + doing + " without a hold, as " + why + ": " + without);
      return Optional.empty();
    }
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
