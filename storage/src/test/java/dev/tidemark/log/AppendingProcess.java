package dev.tidemark.log;

import dev.tidemark.shard.Command;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.spine.Batch;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import dev.tidemark.time.Frontier;
import java.util.List;

/**
 * A writer in a process of its own: {@code URL WRITER ATTEMPT STARTED APPENDS}. Prints each version
 * it won, and why it stopped; others' appends don't stop it, a younger attempt does.
 */
final class AppendingProcess {
  static final LogIntervals SHORT = new LogIntervals(4, 8);

  private AppendingProcess() {}

  public static void main(String[] words) throws Exception {
    WriterAttempt attempt = new WriterAttempt(words[1], words[3], words[2], "host");
    try (ObjectStore store = Stores.open(words[0], StoreSettings.DEFAULT)) {
      ShardLog log = new ShardLog(store, Pacing.system(), SHORT);
      Frontier upper = log.refresh().upper();
      for (int appended = 0; appended < Integer.parseInt(words[4]); ) {
        long next = upper.isMinimum() ? 1 : upper.time() + 1;
        Batch batch = LogFixture.batch(words[2] + "-" + next, upper, next);
        CommitResult result =
            log.commit(new Command.Append(attempt, List.of(batch)), new Author(attempt, "append"));
        if (result instanceof CommitResult.Committed won) {
          appended++;
          System.out.println("won " + won.seqno() + " " + batch.id());
        } else if (result instanceof CommitResult.Refused refused
            && refused.refusal() instanceof dev.tidemark.shard.Decision.Refusal.Fenced fenced) {
          System.out.println("stopped: " + fenced.message());
          return;
        }
        upper = result.state().upper();
      }
    }
    System.out.println("done");
  }
}
