package dev.tidemark.log;

import static dev.tidemark.log.LogFixture.author;
import static dev.tidemark.log.LogFixture.batch;
import static dev.tidemark.log.LogFixture.empty;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.log.LogFixture.TestPacing;
import dev.tidemark.schema.Column;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.CorruptShardException;
import dev.tidemark.shard.Decision;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.store.StoreException;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ShardLogTest {
  private final MemoryStore store = new MemoryStore("test");
  private final ScriptedStore scripted = new ScriptedStore(store);
  private final ShardLog log = new ShardLog(scripted, new TestPacing(1));
  private final ShardLog other = new ShardLog(store, new TestPacing(2));

  private static String log(long n) {
    return String.format("log/%020d.json", n);
  }

  private static SeqNo seqno(CommitResult result) {
    assertThat(result).isInstanceOf(CommitResult.Committed.class);
    return ((CommitResult.Committed) result).seqno();
  }

  private CommitResult create() throws IOException {
    return log.commit(LogFixture.create("shard-1"), author("a"));
  }

  private static void append(ShardLog log, String writer, long lower, long upper)
      throws IOException {
    Frontier from = lower == 0 ? Frontier.MINIMUM : Frontier.of(lower);
    seqno(
        log.commit(
            LogFixture.append(writer, batch(writer + "-" + upper, from, upper)), author(writer)));
  }

  /** Empty appends, which leave one batch however many they are. */
  private static void push(ShardLog log, String writer, int versions) throws IOException {
    for (int i = 0; i < versions; i++) {
      Frontier upper = log.refresh().upper();
      long next = upper.isMinimum() ? 1 : upper.time() + 1;
      seqno(log.commit(LogFixture.append(writer, empty("e" + next, upper, next)), author(writer)));
    }
  }

  @Test
  void whereNothingIsThereIsNoShard() throws IOException {
    assertThat(log.known()).isSameAs(ShardState.EMPTY);
    assertThat(log.refresh().exists()).isFalse();
    assertThat(log.commit(LogFixture.append("a", batch("b", Frontier.MINIMUM, 5)), author("a")))
        .isInstanceOfSatisfying(
            CommitResult.Refused.class,
            refused ->
                assertThat(refused.refusal()).isInstanceOf(Decision.Refusal.Existence.class));
    assertThat(store.requests().puts()).isZero();
  }

  @Test
  void whatOneHandleCommitsAnotherReads() throws IOException {
    assertThat(seqno(create())).isEqualTo(new SeqNo(1));
    append(log, "a", 0, 10);
    append(log, "a", 10, 20);
    ShardState read = other.refresh();
    assertThat(read.seqno()).isEqualTo(new SeqNo(3));
    assertThat(read.facts()).isEqualTo(log.known().facts());
    assertThat(other.entry(new SeqNo(2)).orElseThrow().command()).isEqualTo("append");
    assertThat(other.entry(new SeqNo(4))).isEmpty();
    assertThat(other.entries(new SeqNo(1), 100)).hasSize(3);
    assertThat(other.entries(new SeqNo(2), 1)).hasSize(1);
  }

  @Test
  void aCommitWithoutARaceIsOnePutAndOneCheck() throws IOException {
    create();
    append(log, "a", 0, 10);
    scripted.journal.clear();
    append(log, "a", 10, 20);
    assertThat(scripted.journal)
        .containsExactly("create " + log(3), "get log/closed/0000000000.json");
  }

  @Test
  void aLostRaceIsDecidedAnewOnWhatWon() throws IOException {
    create();
    append(other, "a", 0, 10);
    append(log, "a", 10, 20);
    append(other, "a", 20, 30);
    assertThat(log.refresh().batches()).hasSize(3);
  }

  @Test
  @DisplayName("persist 29: a refusal on an old state is looked at anew")
  void aRefusalIsGivenOnlyOnAFreshState() throws IOException {
    create();
    append(other, "a", 0, 10);
    assertThat(log.known().upper()).isEqualTo(Frontier.MINIMUM);
    // On what it knows the append doesn't begin at the upper; in truth it does.
    append(log, "a", 10, 20);
  }

  @Test
  void pCc01TwoWritersAtOneUpperHaveOneWinnerAndTheLoserIsToldTheUpper() throws IOException {
    create();
    other.refresh();
    append(other, "b", 0, 10);
    CommitResult lost =
        log.commit(LogFixture.append("a", batch("a-1", Frontier.MINIMUM, 7)), author("a"));
    assertThat(lost)
        .isInstanceOfSatisfying(
            CommitResult.Refused.class,
            refused -> {
              assertThat(refused.refusal())
                  .isInstanceOfSatisfying(
                      Decision.Refusal.UpperMismatch.class,
                      mismatch -> assertThat(mismatch.shardUpper()).isEqualTo(Frontier.of(10)));
              assertThat(refused.state().writers().get("b").by().host()).isEqualTo("host-of-b");
            });
  }

  @Test
  void pS301AnAnswerLostAfterTheWriteIsAWinAndOnlyOne() throws IOException {
    create();
    for (int i = 0; i < 10; i++) {
      scripted.creates.add(i % 2 == 0 ? ScriptedStore.ANSWER_LOST : ScriptedStore.REQUEST_LOST);
      append(log, "a", i * 10L, i * 10L + 10);
    }
    assertThat(other.refresh().seqno()).isEqualTo(new SeqNo(11));
    assertThat(other.known().batches()).hasSize(10);
  }

  @Test
  void pS301AnAnswerLostWithACompetitorInBetweenIsDecidedByTheNonce() throws IOException {
    create();
    other.refresh();
    scripted.creates.add(
        request -> {
          try {
            append(other, "b", 0, 5);
          } catch (IOException e) {
            throw new AssertionError(e);
          }
          ScriptedStore.ANSWER_LOST.meet(request);
        });
    CommitResult result =
        log.commit(LogFixture.append("a", batch("a-1", Frontier.MINIMUM, 10)), author("a"));
    assertThat(result).isInstanceOf(CommitResult.Refused.class);
    assertThat(other.refresh().batches()).singleElement().matches(b -> b.id().equals("b-5"));
  }

  @Test
  void pS301TheClientsOwnRetryMeetsItsFirstWrite() throws IOException {
    create();
    byte[][] sent = new byte[1][];
    ShardLog retried =
        new ShardLog(
            new dev.tidemark.store.ForwardingStore(store) {
              @Override
              public Created putIfAbsent(String key, byte[] body) throws StoreException {
                sent[0] = body;
                super.putIfAbsent(key, body);
                return super.putIfAbsent(key, body);
              }
            },
            new TestPacing(3));
    append(retried, "a", 0, 10);
    assertThat(store.get(log(2))).hasValueSatisfying(b -> assertThat(b).isEqualTo(sent[0]));
    assertThat(other.refresh().seqno()).isEqualTo(new SeqNo(2));
  }

  @Test
  void pS302AConflictIsNotALoss() throws IOException {
    create();
    for (int i = 0; i < 3; i++) {
      scripted.creates.add(ScriptedStore.CONFLICT);
    }
    append(log, "a", 0, 10);
    assertThat(other.refresh().seqno()).isEqualTo(new SeqNo(2));
  }

  @Test
  void whenTheTriesAreUsedUpNobodyKnowsAndAskingAgainIsSafe() throws IOException {
    create();
    for (int i = 0; i < LogFiles.TRIES; i++) {
      scripted.creates.add(ScriptedStore.REQUEST_LOST);
    }
    assertThatThrownBy(() -> append(log, "a", 0, 10))
        .isInstanceOfSatisfying(StoreException.class, e -> assertThat(e.indeterminate()).isTrue());
    assertThat(log.known().seqno()).isEqualTo(new SeqNo(1));
    append(log, "a", 0, 10);
  }

  @Test
  void whatCouldNotBeReadBackIsNotWritten() throws IOException {
    ColumnType lengthless =
        new ColumnType(ColumnType.Kind.VARCHAR, false, 0, 0, List.of(), List.of());
    Schema schema = new Schema(1, List.of(new Column(1, "name", lengthless)), List.of());
    assertThatThrownBy(
            () -> log.commit(new Command.Create("shard-1", schema, LogFixture.ROOMY), author("a")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("create")
        .hasMessageContaining("VARCHAR length is 0");
    assertThat(store.requests().puts()).isZero();
    assertThat(seqno(create())).isEqualTo(new SeqNo(1));
  }

  @Test
  void aMissingRightIsToldAtOnceAndCertain() throws IOException {
    create();
    scripted.creates.add(ScriptedStore.DENIED);
    scripted.journal.clear();
    assertThatThrownBy(() -> append(log, "a", 0, 10))
        .isInstanceOfSatisfying(StoreException.class, e -> assertThat(e.indeterminate()).isFalse());
    assertThat(scripted.journal).hasSize(1);
  }

  @Test
  void aWinThatCantBeCheckedIsUnknown() throws IOException {
    create();
    scripted.gets.add(ScriptedStore.DENIED);
    assertThatThrownBy(() -> append(log, "a", 0, 10))
        .isInstanceOfSatisfying(StoreException.class, e -> assertThat(e.indeterminate()).isTrue());
    assertThat(log.known().seqno()).isEqualTo(new SeqNo(1));
    // Asked again it turns out to be done.
    assertThat(log.commit(LogFixture.append("a", batch("a-10", Frontier.MINIMUM, 10)), author("a")))
        .isInstanceOf(CommitResult.Nothing.class);
  }

  @Test
  void pCc04AnAppendSucceedsThoughOthersCommitBeforeItsWriterKnows() throws IOException {
    create();
    other.refresh();
    scripted.creates.add(
        request -> {
          request.run();
          try {
            other.commit(new Command.DowngradeSince(Frontier.of(5)), LogFixture.INSTALLER);
          } catch (IOException e) {
            throw new AssertionError(e);
          }
          throw new StoreException(StoreException.Reason.UNAVAILABLE, true, "answer lost", null);
        });
    append(log, "a", 0, 10);
    assertThat(log.refresh().since()).isEqualTo(Frontier.of(5));
    assertThat(log.known().seqno()).isEqualTo(new SeqNo(3));
  }

  @Test
  void pCc05AFollowerWaitsAtAGap() throws IOException {
    create();
    append(log, "a", 0, 10);
    append(log, "a", 10, 20);
    byte[] second = store.get(log(2)).orElseThrow();
    store.delete(List.of(log(2)));
    assertThat(other.refresh().seqno()).isEqualTo(new SeqNo(1));
    store.putIfAbsent(log(2), second);
    assertThat(other.refresh().seqno()).isEqualTo(new SeqNo(3));
  }

  /** Versions 1 to {@code versions}, then all of block 0 collected. */
  private void closeFirstBlock(int versions) throws IOException {
    push(other, "b", versions);
    store.putIfAbsent("log/closed/0000000000.json", "{}".getBytes(StandardCharsets.UTF_8));
    List<String> keys = new ArrayList<>();
    for (long n = 0; n < LogIntervals.FORMAT.block(); n++) {
      keys.add(log(n));
    }
    store.delete(keys);
  }

  @Test
  void pCc02AFrozenAppenderThatWakesUpAfterTheLogWasDeletedHasNotAppended() throws IOException {
    create();
    append(log, "a", 0, 1);
    other.refresh();
    scripted.creates.add(ScriptedStore.before(() -> closing(1100)));
    CommitResult result =
        log.commit(LogFixture.append("a", batch("late", Frontier.of(1), 2)), author("a"));
    assertThat(store.get(log(3))).as("its write went through, into freed space").isPresent();
    assertThat(result)
        .isInstanceOfSatisfying(
            CommitResult.Refused.class,
            refused ->
                assertThat(refused.refusal()).isInstanceOf(Decision.Refusal.UpperMismatch.class));
    assertThat(log.known().facts()).isEqualTo(other.refresh().facts());
    assertThat(new ShardLog(store, new TestPacing(9)).refresh().facts())
        .isEqualTo(other.known().facts());
  }

  @Test
  void pCc02AnAppenderThatFrozeAfterATrueWinFindsItDone() throws IOException {
    create();
    append(log, "a", 0, 1);
    other.refresh();
    scripted.creates.add(ScriptedStore.after(() -> closing(1100)));
    CommitResult result =
        log.commit(LogFixture.append("a", batch("won", Frontier.of(1), 2)), author("a"));
    assertThat(result).isInstanceOf(CommitResult.Nothing.class);
    assertThat(log.known().batches()).anyMatch(batch -> batch.id().equals("won"));
  }

  @Test
  void aFrozenFollowerThatReadsAStrayDoesNotTrustIt() throws IOException {
    create();
    append(log, "a", 0, 1);
    ShardLog follower = new ShardLog(store, new TestPacing(4));
    follower.refresh();
    byte[] stray = store.get(log(2)).orElseThrow();
    closeFirstBlock(1100);
    store.putIfAbsent(log(3), stray);
    assertThat(follower.refresh().facts()).isEqualTo(other.known().facts());
  }

  private void closing(int versions) {
    try {
      closeFirstBlock(versions);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aLogDeletedWithoutARollupIsCorruptionByName() throws IOException {
    create();
    push(log, "a", 3);
    store.putIfAbsent("log/closed/0000000000.json", "{}".getBytes(StandardCharsets.UTF_8));
    assertThatThrownBy(other::refresh)
        .isInstanceOf(CorruptShardException.class)
        .hasMessageContaining("no newer rollup");
  }

  @Test
  void aColdStartReadsTheNewestRollupThatIsWholeAndWhatFollows() throws IOException {
    create();
    push(log, "a", 150);
    assertThat(log.rollups()).containsExactly(new SeqNo(64), new SeqNo(128));
    scripted.journal.clear();
    ShardLog cold = new ShardLog(scripted, new TestPacing(5));
    assertThat(cold.refresh().facts()).isEqualTo(log.known().facts());
    assertThat(scripted.journal)
        .startsWith("list rollup/", "get rollup/" + log(128).substring(4), "list log/")
        .contains("get " + log(129), "get " + log(152), "get log/closed/0000000000.json")
        .doesNotContain("get " + log(128), "get " + log(153 + 1));

    String newest = "rollup/" + log(128).substring(4);
    byte[] whole = store.get(newest).orElseThrow();
    store.delete(List.of(newest));
    store.putIfAbsent(newest, java.util.Arrays.copyOf(whole, whole.length / 2));
    assertThat(new ShardLog(store, new TestPacing(6)).refresh().facts())
        .isEqualTo(log.known().facts());
  }

  @Test
  void aColdStartSideBySideReadsTheSame() throws IOException {
    create();
    push(log, "a", 55);
    ShardLog cold = new ShardLog(store);
    assertThat(cold.refresh().facts()).isEqualTo(log.known().facts());
    assertThat(cold.entries(SeqNo.ZERO.next(), 40)).hasSize(40);
  }

  @Test
  void anotherShardUnderTheSameNameIsNotTakenForTheOldOne() throws IOException {
    create();
    push(log, "a", 2);
    store.delete(store.list("", "", 100).stream().map(o -> o.key()).toList());
    ShardLog anew = new ShardLog(store, new TestPacing(7));
    anew.commit(LogFixture.create("shard-2"), author("b"));
    push(anew, "b", 5);
    assertThatThrownBy(log::refresh)
        .isInstanceOf(CorruptShardException.class)
        .hasMessageContaining("shard-2");
  }

  @Test
  void anEntryThatCantBeReadIsNamedAndNothingIsWritten() throws IOException {
    create();
    store.putIfAbsent(log(2), "{\"format\":\"2.0\"}".getBytes(StandardCharsets.UTF_8));
    assertThatThrownBy(() -> append(log, "a", 0, 10))
        .isInstanceOfSatisfying(
            LogFormatException.class,
            e -> {
              assertThat(e.newerFormat()).isTrue();
              assertThat(e).hasMessageContaining(log(2));
            });
    assertThatThrownBy(other::refresh).isInstanceOf(LogFormatException.class);
  }

  @Test
  void aRollupThatCantBeWrittenHarmsNothing() throws IOException {
    create();
    push(log, "a", 62);
    scripted.creates.add(ScriptedStore.FINE);
    scripted.creates.add(ScriptedStore.DENIED);
    push(log, "a", 5);
    assertThat(log.rollups()).isEmpty();
    assertThat(other.refresh().facts()).isEqualTo(log.known().facts());
  }
}
