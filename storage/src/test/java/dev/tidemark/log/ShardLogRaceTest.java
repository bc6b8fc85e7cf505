package dev.tidemark.log;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.log.LogFixture.TestPacing;
import dev.tidemark.row.Seeds;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.store.StoreException;
import dev.tidemark.store.UnreliableStore;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/**
 * Writers, an installer and readers at once on a store that loses requests and answers: nothing is
 * appended twice, nothing acknowledged is lost, versions have no gap (cases P-CC-01, P-CC-04,
 * P-CC-06, P-S3-01).
 */
class ShardLogRaceTest {
  private static final int WRITERS = 3;
  private static final int APPENDS = 40;

  /** Appends its own batches wherever the upper is, asking until there is an answer. */
  private static final class Writer {
    private final String id;
    private final ShardLog log;
    private final List<String> appended = new ArrayList<>();

    Writer(String id, ShardLog log) {
      this.id = id;
      this.log = log;
    }

    List<String> run() throws IOException {
      Frontier upper = Frontier.MINIMUM;
      while (appended.size() < APPENDS) {
        long next = upper.isMinimum() ? 1 : upper.time() + 1;
        Batch batch = LogFixture.batch(id + "-" + next, upper, next);
        CommitResult result =
            untilAnswered(log, new Command.Append(LogFixture.attempt(id), List.of(batch)));
        if (!(result instanceof CommitResult.Refused)) {
          appended.add(batch.id());
        }
        upper = result.state().upper();
      }
      return appended;
    }
  }

  private static CommitResult untilAnswered(ShardLog log, Command command) throws IOException {
    while (true) {
      try {
        return log.commit(command, LogFixture.author("any"));
      } catch (StoreException e) {
        assertThat(e.retryable()).as(e.getMessage()).isTrue();
      }
    }
  }

  @Test
  void nothingTwiceNothingLostNoGap() {
    Seeds.each(5, random -> race(random, true));
  }

  /** One thread after the other in small turns: any failure comes again with its seed. */
  @Test
  void nothingTwiceNothingLostInTurns() {
    Seeds.each(20, random -> race(random, false));
  }

  private void race(Random random, boolean threads) throws Exception {
    MemoryStore truth = new MemoryStore("race");
    UnreliableStore store =
        new UnreliableStore(
            truth, new Random(random.nextLong()), new UnreliableStore.Rates(0.05, 0.1, 0.1));
    ShardLog first = new ShardLog(truth, new TestPacing(random.nextLong()));
    first.commit(LogFixture.create("race"), LogFixture.author("any"));

    List<Writer> writers = new ArrayList<>();
    for (int i = 0; i < WRITERS; i++) {
      writers.add(new Writer("w" + i, new ShardLog(store, new TestPacing(random.nextLong()))));
    }
    ShardLog reader = new ShardLog(store, new TestPacing(random.nextLong()));
    if (threads) {
      inThreads(writers, reader);
    } else {
      inTurns(writers, reader, random);
    }

    Set<String> acknowledged = new HashSet<>();
    for (Writer writer : writers) {
      assertThat(acknowledged.addAll(writer.appended)).isTrue();
    }
    ShardState end = new ShardLog(truth, new TestPacing(1)).refresh();
    assertThat(end.batches()).extracting(Batch::id).doesNotHaveDuplicates();
    assertThat(end.batches())
        .extracting(Batch::id)
        .containsExactlyInAnyOrderElementsOf(acknowledged);
    List<LogEntry> entries = first.entries(new SeqNo(1), 10_000);
    assertThat(entries).hasSize((int) end.seqno().value());
    assertThat(entries).extracting(LogEntry::nonce).doesNotHaveDuplicates();
    ShardState replayed = ShardState.EMPTY;
    for (LogEntry entry : entries) {
      replayed = ShardLog.replay(replayed, entry);
    }
    assertThat(replayed.facts()).isEqualTo(end.facts());
  }

  private void inThreads(List<Writer> writers, ShardLog reader) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(WRITERS);
    try {
      List<Future<List<String>>> running = new ArrayList<>();
      for (Writer writer : writers) {
        running.add(pool.submit(writer::run));
      }
      SeqNo seen = SeqNo.ZERO;
      while (running.stream().anyMatch(r -> !r.isDone())) {
        SeqNo now = refreshed(reader);
        assertThat(now).isGreaterThanOrEqualTo(seen);
        seen = now;
      }
      for (Future<List<String>> one : running) {
        one.get();
      }
    } finally {
      pool.shutdownNow();
    }
  }

  private static SeqNo refreshed(ShardLog reader) throws IOException {
    try {
      return reader.refresh().seqno();
    } catch (StoreException e) {
      return reader.known().seqno();
    }
  }

  private void inTurns(List<Writer> writers, ShardLog reader, Random random) throws IOException {
    for (int turn = 0; turn < WRITERS * APPENDS; turn++) {
      Writer writer = writers.get(random.nextInt(WRITERS));
      Frontier upper = writer.log.known().exists() ? writer.log.known().upper() : Frontier.MINIMUM;
      long next = upper.isMinimum() ? 1 : upper.time() + 1;
      Batch batch = LogFixture.batch(writer.id + "-" + next, upper, next);
      CommitResult result =
          untilAnswered(
              writer.log, new Command.Append(LogFixture.attempt(writer.id), List.of(batch)));
      if (!(result instanceof CommitResult.Refused)) {
        writer.appended.add(batch.id());
      }
      if (random.nextInt(5) == 0) {
        refreshed(reader);
      }
      if (random.nextInt(10) == 0) {
        untilAnswered(
            reader,
            new Command.DowngradeSince(
                reader.known().exists() ? reader.known().upper() : Frontier.MINIMUM));
      }
    }
  }
}
