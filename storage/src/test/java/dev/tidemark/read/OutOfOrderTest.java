package dev.tidemark.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.gc.GcWorld;
import dev.tidemark.gc.GcWorld.VirtualTime;
import dev.tidemark.hold.Holds;
import dev.tidemark.log.Author;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.LogEntry;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.TestShard.Update;
import dev.tidemark.row.Seeds;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.ObjectStore.Created;
import dev.tidemark.store.StoreException;
import dev.tidemark.time.Frontier;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Puts of versions that are on their way for long while others write, and versions that are seen
 * later than those after them. A follower asks for news all the while. One thread, virtual time.
 */
@Timeout(60)
class OutOfOrderTest {
  private static final SpineSpec SPEC = new SpineSpec(8, 1_000_000, 1_000_000, 1 << 20, 2.0, false);
  private static final HeldReader.Terms TERMS =
      new HeldReader.Terms("follower", "here", Duration.ofDays(1).toMillis());

  private interface Event {
    void happen() throws Exception;
  }

  private static void happen(Event event) throws StoreException {
    try {
      event.happen();
    } catch (Exception e) {
      throw new StoreException(StoreException.Reason.OTHER, false, "meanwhile", e);
    }
  }

  private static boolean isVersion(String key) {
    return key.startsWith("log/0");
  }

  /** A request that nobody waits for any more; the bucket may get it yet. */
  private record Stray(String key, byte[] body) {}

  /** A client's way to the bucket: its puts of versions arrive when the test likes. */
  private static final class Way extends ForwardingStore {
    /** What happens while a put of a version is on its way. */
    Event meanwhile = () -> {};

    /** How many puts of versions the client gives up before they arrive. */
    int givenUp;

    final Deque<Stray> strays = new ArrayDeque<>();

    Way(ObjectStore bucket) {
      super(bucket);
    }

    @Override
    public Created putIfAbsent(String key, byte[] body) throws StoreException {
      if (isVersion(key)) {
        if (givenUp > 0) {
          givenUp--;
          strays.add(new Stray(key, body));
          throw new StoreException(StoreException.Reason.UNAVAILABLE, true, "no answer", null);
        }
        happen(meanwhile);
      }
      return super.putIfAbsent(key, body);
    }

    Created deliver() throws StoreException {
      Stray stray = strays.remove();
      return super.putIfAbsent(stray.key(), stray.body());
    }
  }

  /** A view of the bucket in which some versions aren't to be seen yet. */
  private static final class Blind extends ForwardingStore {
    final Set<Long> unseen = new HashSet<>();

    Blind(ObjectStore bucket) {
      super(bucket);
    }

    private boolean shows(String key) {
      return !isVersion(key) || !unseen.contains(Long.parseLong(key.substring(4, 24)));
    }

    @Override
    public Optional<byte[]> get(String key) throws StoreException {
      return shows(key) ? super.get(key) : Optional.empty();
    }

    @Override
    public List<ObjectInfo> list(String prefix, String startAfter, int limit)
        throws StoreException {
      return super.list(prefix, startAfter, limit).stream()
          .filter(object -> shows(object.key()))
          .toList();
    }
  }

  /** A writer of its own. */
  private record Client(String name, TestShard shard) {
    ShardLog log() {
      return shard.log();
    }

    int version() {
      return number(shard.state());
    }

    Author by() {
      return new Author(new WriterAttempt(name, "2026-11-30T00:00:00Z", "1", "here"), name);
    }

    /** Appends one row where it believes the upper to be. */
    CommitResult append(long id) throws Exception {
      long lower = shard.state().upper().time();
      List<List<Part>> runs =
          List.of(shard.inlineRun(List.of(new Update(id, "v" + id, lower + 5, 1))));
      Batch batch = shard.batch(lower + 10, runs, List.of(), false);
      return log().commit(new Command.Append(by().attempt(), List.of(batch)), by());
    }

    /** Changes what an append doesn't ask for. */
    CommitResult alter() throws Exception {
      int queue = shard.state().spec().queue() - 1;
      return log().commit(new Command.AlterSpec(null, queue, null, null, null, null), by());
    }
  }

  /** One that takes each version and each update in turn, and never one before its time. */
  private final class Follower {
    final ShardLog log;
    final Listen listen;
    final List<LogEntry> entries = new ArrayList<>();
    final List<Update> updates = new ArrayList<>();

    Follower(ObjectStore store) throws Exception {
      log = log(store);
      listen = HeldReader.open(log, new Holds(log), TERMS, AsOf.at(9)).listen();
    }

    SeqNo seen() {
      return new SeqNo(entries.size());
    }

    void poll() throws Exception {
      ShardState state = log.refresh();
      for (LogEntry entry : log.entries(seen().next(), 1000)) {
        assertThat(entry.seqno()).isEqualTo(seen().next());
        entries.add(entry);
      }
      assertThat(seen()).isEqualTo(state.seqno());
      while (true) {
        Frontier from = listen.progress();
        Optional<Listen.Stretch> stretch = listen.next();
        if (stretch.isEmpty()) {
          assertThat(from).isEqualTo(state.upper());
          return;
        }
        assertThat(stretch.get().from()).isEqualTo(from);
        updates.addAll(other.shard.drain(stretch.get().updates()));
      }
    }

    /** It has what a reader has that begins now, in order, each once. */
    void checkAll() throws Exception {
      poll();
      ShardLog cold = log(bucket);
      ShardState head = cold.refresh();
      assertThat(entries).isEqualTo(cold.entries(new SeqNo(1), 1000)).hasSize(number(head));
      long last = head.upper().time() - 1;
      assertThat(GcWorld.sum(updates))
          .isEqualTo(GcWorld.sum(other.shard.drain(new ShardReader(cold).snapshot(head, last))));
      assertThat(updates).extracting(Update::id).doesNotHaveDuplicates();
      assertThat(updates).extracting(Update::time).isSorted();
    }
  }

  private final VirtualTime time = new VirtualTime();
  private final MemoryStore bucket = new MemoryStore("order", time::storeNow);
  private final Way way = new Way(bucket);

  /** The client whose puts are slow. */
  private final Client slow = new Client("slow", new TestShard(log(way), SPEC, 1 << 20));

  /** A client whose puts are not. */
  private final Client other = client("other", bucket, 1);

  OutOfOrderTest() throws Exception {
    other.shard.append(10);
    slow.log().refresh();
  }

  private ShardLog log(ObjectStore store) {
    return new ShardLog(store, time, GcWorld.SHORT);
  }

  private Client client(String name, ObjectStore store, int index) throws Exception {
    return new Client(name, TestShard.open(log(store), 1 << 20, 1_000 * index));
  }

  private static int number(ShardState state) {
    return (int) state.seqno().value();
  }

  /** What happens in ten seconds in which a put is on its way: another appends twice. */
  private Event tenSeconds(Follower follower) {
    return () -> {
      way.meanwhile = () -> {};
      int before = other.version();
      for (int second = 1; second <= 10; second++) {
        time.pass(Duration.ofSeconds(1));
        if (second == 3 || second == 6) {
          assertThat(other.append(second)).isInstanceOf(CommitResult.Committed.class);
        }
        follower.poll();
        assertThat(follower.seen().value())
            .isEqualTo(before + (second < 3 ? 0 : second < 6 ? 1 : 2));
      }
    };
  }

  @Test
  @DisplayName("P-CC-05: a put that is late finds its number taken, and its command a later one")
  void aLatePutGetsALaterNumber() throws Exception {
    Follower follower = new Follower(bucket);
    follower.poll();
    int before = other.version();
    way.meanwhile = tenSeconds(follower);
    CommitResult result = slow.alter();
    assertThat(result).isInstanceOf(CommitResult.Committed.class);
    assertThat(number(result.state())).isEqualTo(before + 3);
    follower.checkAll();
    assertThat(follower.entries.subList(before, before + 3))
        .extracting(LogEntry::command)
        .containsExactly("append", "append", "alter");
    assertThat(follower.updates).extracting(Update::id).containsExactly(3L, 6L);
  }

  @Test
  @DisplayName("P-CC-05: rows whose append is late get in nowhere behind a follower")
  void aLateAppendIsRefused() throws Exception {
    Follower follower = new Follower(bucket);
    follower.poll();
    way.meanwhile = tenSeconds(follower);
    assertThat(slow.append(99)).isInstanceOf(CommitResult.Refused.class);
    follower.checkAll();
    assertThat(follower.updates).extracting(Update::id).containsExactly(3L, 6L);
    assertThat(slow.append(99)).as("anew").isInstanceOf(CommitResult.Committed.class);
    follower.checkAll();
    assertThat(follower.updates).extracting(Update::id).containsExactly(3L, 6L, 99L);
  }

  @Test
  @DisplayName("P-CC-05: a put that arrives after its client gave it up is no version out of turn")
  void aStrayPutTakesNoTurn() throws Exception {
    Follower follower = new Follower(bucket);
    way.givenUp = 1;
    assertThat(slow.append(1)).as("tried again").isInstanceOf(CommitResult.Committed.class);
    follower.poll();
    other.log().refresh();
    assertThat(other.append(2)).isInstanceOf(CommitResult.Committed.class);
    follower.poll();
    assertThat(way.deliver()).isEqualTo(Created.EXISTS);
    follower.checkAll();

    slow.log().refresh();
    way.givenUp = Integer.MAX_VALUE;
    assertThatThrownBy(() -> slow.append(3)).isInstanceOf(StoreException.class);
    int tried = way.strays.size();
    assertThat(tried).isGreaterThan(1);
    follower.poll();
    assertThat(way.deliver()).as("the first that arrives").isEqualTo(Created.YES);
    follower.poll();
    other.log().refresh();
    assertThat(other.append(4)).isInstanceOf(CommitResult.Committed.class);
    for (int stray = 1; stray < tried; stray++) {
      assertThat(way.deliver()).isEqualTo(Created.EXISTS);
      follower.checkAll();
    }
    assertThat(follower.updates).extracting(Update::id).containsExactly(1L, 2L, 3L, 4L);
  }

  @Test
  @DisplayName("P-CC-05: a follower that finds a gap waits before it, warm or cold")
  void aGapIsWaitedAt() throws Exception {
    Blind view = new Blind(bucket);
    Follower follower = new Follower(view);
    follower.poll();
    for (int id = 1; id <= 12; id++) {
      int next = other.version() + 1;
      view.unseen.add((long) next);
      assertThat(other.append(2 * id)).isInstanceOf(CommitResult.Committed.class);
      assertThat(other.append(2 * id + 1)).isInstanceOf(CommitResult.Committed.class);
      for (int second = 0; second < 100; second++) { // the check of a quiet log included
        time.pass(Duration.ofSeconds(1));
        follower.poll();
        assertThat(follower.seen().value()).isEqualTo(next - 1);
      }
      // only a rollup, which holds them all, takes one who begins anew past the gap
      boolean rolledUp = next % GcWorld.SHORT.rollup() == 0 || (next + 1) % 4 == 0;
      assertThat(number(log(view).refresh())).isEqualTo(rolledUp ? next + 1 : next - 1);
      view.unseen.clear();
      follower.checkAll();
    }
    assertThat(follower.updates).hasSize(24);
  }

  @Test
  @DisplayName("P-CC-05: one who doesn't see the newest version writes none after it")
  void nobodyWritesBehindAGap() throws Exception {
    Blind view = new Blind(bucket);
    Client blind = client("blind", view, 2);
    Follower follower = new Follower(bucket);
    int next = other.version() + 1;
    view.unseen.add((long) next);
    assertThat(other.append(1)).isInstanceOf(CommitResult.Committed.class);
    assertThatThrownBy(() -> blind.alter())
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("races in a row");
    follower.checkAll();
    assertThat(number(log(bucket).refresh())).isEqualTo(next);
    view.unseen.clear();
    assertThat(number(blind.alter().state())).isEqualTo(next + 1);
    follower.checkAll();
  }

  @Test
  @DisplayName("P-CC-05: clients whose puts overtake each other at random, and a follower")
  void randomDelays() {
    Seeds.each(20, random -> new OutOfOrderTest().overtake(random));
  }

  /** Any put of a version may have to wait for whole commits of clients that have nothing to do. */
  private void overtake(Random random) throws Exception {
    Follower follower = new Follower(bucket);
    Deque<Client> idle = new ArrayDeque<>();
    Map<Boolean, List<Long>> rows = Map.of(true, new ArrayList<>(), false, new ArrayList<>());
    long[] id = {0};
    Event[] act = new Event[1];
    Event delay =
        () -> {
          follower.poll();
          while (!idle.isEmpty() && id[0] < 40 && random.nextInt(3) > 0) {
            time.pass(Duration.ofSeconds(random.nextInt(10)));
            act[0].happen();
            follower.poll();
          }
        };
    act[0] =
        () -> {
          Client client = idle.remove();
          if (random.nextInt(4) == 0) {
            client.alter(); // nothing to do when another has done the same
          } else {
            long row = ++id[0];
            boolean in = client.append(row) instanceof CommitResult.Committed;
            rows.get(in).add(row);
          }
          idle.add(client);
        };
    for (int client = 0; client < 4; client++) {
      Way its = new Way(bucket);
      its.meanwhile = delay;
      idle.add(client("w" + client, its, 10 + client));
    }
    for (int turn = 0; turn < 10; turn++) {
      act[0].happen();
    }
    follower.checkAll();
    assertThat(follower.updates)
        .extracting(Update::id)
        .containsExactlyInAnyOrderElementsOf(rows.get(true));
    assertThat(rows.get(true)).isNotEmpty();
    assertThat(rows.get(false)).as("some were overtaken").isNotEmpty();
  }
}
