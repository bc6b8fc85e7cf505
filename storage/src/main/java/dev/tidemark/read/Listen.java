package dev.tidemark.read;

import dev.tidemark.row.UpdateCursor;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.util.Optional;

/**
 * The updates of a shard from a frontier on, each once, a stretch of time after another, until the
 * shard is sealed. Whoever adds them up has, at each progress, exactly the shard before that
 * frontier. Used by one thread.
 */
public final class Listen {
  private final HeldReader reader;
  private Frontier progress;

  Listen(HeldReader reader, Frontier from) {
    this.reader = reader;
    this.progress = from;
  }

  /**
   * A stretch of time, complete.
   *
   * @param from the progress before
   * @param upto the progress once all of {@code updates} was taken
   * @param updates what happened between them, in order of rows, then times; perhaps nothing. To be
   *     read to its end before the next stretch is asked for
   */
  public record Stretch(Frontier from, Frontier upto, UpdateCursor updates) {}

  /** All updates before this were given. */
  public Frontier progress() {
    return progress;
  }

  /** Whether nothing comes any more. */
  public boolean ended() {
    return progress.isEnd();
  }

  /**
   * The next stretch; empty when there is nothing new yet, as of a look at the log just now. The
   * progress moves on with the call, so a listener that stops before the end of a stretch begins
   * anew from its {@code from}.
   *
   * @throws dev.tidemark.hold.HoldLostException when the hold was lost and the updates can't be
   *     told apart any more
   */
  public Optional<Stretch> next() throws IOException {
    if (ended()) {
      return Optional.empty();
    }
    ShardState state = reader.state();
    if (!state.upper().isAfter(progress)) {
      state = reader.refresh();
    }
    if (!state.upper().isAfter(progress)) {
      return Optional.empty();
    }
    reader.moveOn(state.seqno(), progress);
    reader.tick();
    Frontier from = progress;
    Frontier upto = endOfBatch(state, from);
    Frontier held = Frontier.of(from.time() - 1);
    UpdateCursor updates =
        new HeldCursor(
            reader,
            (now, wanted) -> {
              reader.checkMerges(now, from, Frontier.of(upto.time() - 1), held);
              return reader.reader().openUpdates(now, wanted, from, upto);
            });
    progress = upto;
    return Optional.of(new Stretch(from, upto, updates));
  }

  /** One batch at a time, so that progress comes as often as there are intervals. */
  private static Frontier endOfBatch(ShardState state, Frontier from) {
    for (Batch batch : state.batches()) {
      if (batch.bounds().upper().isAfter(from)) {
        return batch.bounds().upper();
      }
    }
    return state.upper();
  }
}
