package dev.tidemark.flink.pressure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.connector.source.SupportsSplitReassignmentOnRecovery;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Readers behind the gate: real ticks, but short ones; a job master by hand. */
@Timeout(60)
final class ThrottledReaderTest {
  private static final long PATIENCE_SECONDS = 20;
  private static final long TICK_MILLIS = 200;

  /** A split by name. */
  private record Split(String splitId) implements SourceSplit {}

  /** An event from the enumerator. */
  private static final class Event implements SourceEvent {
    private static final long serialVersionUID = 1L;
  }

  /** Writes down what it is told; can end. */
  private static final class Recorder implements SourceReader<Long, Split> {
    final List<String> calls = new ArrayList<>();
    final CompletableFuture<Void> available = new CompletableFuture<>();
    InputStatus next = InputStatus.MORE_AVAILABLE;

    @Override
    public void start() {
      calls.add("start");
    }

    @Override
    public InputStatus pollNext(ReaderOutput<Long> output) {
      calls.add("poll");
      return next;
    }

    @Override
    public List<Split> snapshotState(long checkpoint) {
      calls.add("snapshot " + checkpoint);
      return List.of(new Split("state"));
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
      return available;
    }

    @Override
    public void addSplits(List<Split> splits) {
      calls.add("splits " + splits.size());
    }

    @Override
    public void notifyNoMoreSplits() {
      calls.add("no more");
    }

    @Override
    public void handleSourceEvents(SourceEvent event) {
      calls.add("event " + event.getClass().getSimpleName());
    }

    @Override
    public void pauseOrResumeSplits(Collection<String> pause, Collection<String> resume) {
      calls.add("pause " + pause + " resume " + resume);
    }

    @Override
    public void notifyCheckpointComplete(long checkpoint) {
      calls.add("complete " + checkpoint);
    }

    @Override
    public void notifyCheckpointAborted(long checkpoint) {
      calls.add("aborted " + checkpoint);
    }

    @Override
    public void close() {
      calls.add("close");
    }
  }

  /** Needs its output for nothing. */
  private static final ReaderOutput<Long> OUTPUT = null;

  private final LocalBoard master = new LocalBoard();
  private final PressureBoard board = new PressureBoard(master);
  private final Recorder reader = new Recorder();
  private final SourceGate gate = SourceGate.acquire(master, TICK_MILLIS);
  private final ThrottledReader<Long, Split> throttled = new ThrottledReader<>(reader, gate);

  @AfterEach
  void close() throws Exception {
    throttled.close();
  }

  private interface Condition {
    boolean holds() throws Exception;
  }

  private static void await(Condition condition) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (!condition.holds()) {
      assertThat(System.nanoTime()).as("time is up").isLessThan(deadline);
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  /** As append does each second. */
  private void press(double pressure) throws Exception {
    board.report("append", 0, 1, pressure);
  }

  private void pressUntilClosed() throws Exception {
    press(1);
    await(() -> !gate.isOpen());
  }

  @Test
  void readsAsTheReaderDoesWhileNobodyPresses() throws Exception {
    assertThat(throttled.isAvailable()).isSameAs(reader.available);
    assertThat(throttled.pollNext(OUTPUT)).isEqualTo(InputStatus.MORE_AVAILABLE);
    reader.next = InputStatus.END_OF_INPUT;
    assertThat(throttled.pollNext(OUTPUT)).isEqualTo(InputStatus.END_OF_INPUT);
  }

  @Test
  void standsStillUnderPressureAndGoesOnByItself() throws Exception {
    pressUntilClosed();
    CompletableFuture<Void> waiting = throttled.isAvailable();
    assertThat(waiting).isNotDone();
    int asked = master.requests();
    await(
        () -> {
          press(1);
          assertThat(throttled.pollNext(OUTPUT)).isEqualTo(InputStatus.NOTHING_AVAILABLE);
          assertThat(throttled.isAvailable()).as("nothing to poll for").isSameAs(waiting);
          return gate.heldMillis() > 3 * TICK_MILLIS;
        });
    assertThat(reader.calls).as("not polled once").isEmpty();
    assertThat(master.requests()).isGreaterThan(asked);
    press(0);
    waiting.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    assertThat(throttled.isAvailable()).isSameAs(reader.available);
    assertThat(throttled.pollNext(OUTPUT)).isEqualTo(InputStatus.MORE_AVAILABLE);
  }

  @Test
  void endsOnceThePressureIsGone() throws Exception {
    pressUntilClosed();
    reader.next = InputStatus.END_OF_INPUT;
    assertThat(throttled.pollNext(OUTPUT)).isEqualTo(InputStatus.NOTHING_AVAILABLE);
    CompletableFuture<Void> waiting = throttled.isAvailable();
    press(0);
    waiting.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    assertThat(throttled.pollNext(OUTPUT)).isEqualTo(InputStatus.END_OF_INPUT);
  }

  @Test
  void standsStillForAShareOfTheTime() throws Exception {
    press(0.5);
    await(() -> !gate.isOpen());
    throttled.isAvailable().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    press(0.5);
    await(() -> !gate.isOpen());
    assertThat(gate.heldMillis()).isGreaterThanOrEqualTo(TICK_MILLIS / 2 - 1);
  }

  @Test
  void readsOnWhenTheJobMasterIsOutOfReach() throws Exception {
    pressUntilClosed();
    CompletableFuture<Void> waiting = throttled.isAvailable();
    master.breakDown();
    waiting.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    assertThat(gate.isOpen()).isTrue();
  }

  @Test
  void aClosedReaderLetsGoWhoeverWaits() throws Exception {
    pressUntilClosed();
    CompletableFuture<Void> waiting = throttled.isAvailable();
    throttled.close();
    assertThat(waiting).isDone();
    throttled.close();
    assertThat(reader.calls).containsExactly("close", "close");
  }

  @Test
  void onlyTheLastUserStopsAGate() throws Exception {
    SourceGate second = SourceGate.acquire(master, TICK_MILLIS);
    assertThat(second).isSameAs(gate);
    second.close();
    pressUntilClosed();
  }

  @Test
  void whoIsHeldIsNotIdle() throws Exception {
    var clock = gate.activityClock();
    pressUntilClosed();
    long before = clock.relativeTimeNanos();
    await(() -> gate.heldMillis() > TICK_MILLIS);
    assertThat(clock.relativeTimeNanos()).isEqualTo(before);
    press(0);
    await(() -> clock.relativeTimeMillis() > TimeUnit.NANOSECONDS.toMillis(before));
  }

  @Test
  void passesAllElseOnUnderPressureToo() throws Exception {
    pressUntilClosed();
    throttled.start();
    throttled.addSplits(List.of(new Split("a"), new Split("b")));
    throttled.handleSourceEvents(new Event());
    throttled.pauseOrResumeSplits(List.of("a"), List.of("b"));
    throttled.notifyNoMoreSplits();
    assertThat(throttled.snapshotState(7)).containsExactly(new Split("state"));
    throttled.notifyCheckpointComplete(7);
    throttled.notifyCheckpointAborted(8);
    assertThat(reader.calls)
        .containsExactly(
            "start",
            "splits 2",
            "event Event",
            "pause [a] resume [b]",
            "no more",
            "snapshot 7",
            "complete 7",
            "aborted 8");
  }

  /** A source that has nothing but its marks. */
  private static class Marked implements Source<Long, Split, Void> {
    private static final long serialVersionUID = 1L;

    @Override
    public Boundedness getBoundedness() {
      return Boundedness.CONTINUOUS_UNBOUNDED;
    }

    @Override
    public SplitEnumerator<Split, Void> createEnumerator(SplitEnumeratorContext<Split> context) {
      throw new IllegalStateException("asked for an enumerator");
    }

    @Override
    public SplitEnumerator<Split, Void> restoreEnumerator(
        SplitEnumeratorContext<Split> context, Void checkpoint) {
      throw new IllegalStateException("asked for a restored enumerator");
    }

    @Override
    public SimpleVersionedSerializer<Split> getSplitSerializer() {
      throw new IllegalStateException("asked for the splits' serializer");
    }

    @Override
    public SimpleVersionedSerializer<Void> getEnumeratorCheckpointSerializer() {
      throw new IllegalStateException("asked for the enumerator's serializer");
    }

    @Override
    public SourceReader<Long, Split> createReader(SourceReaderContext context) {
      return new Recorder();
    }
  }

  private static final class MarkedReassigning extends Marked
      implements SupportsSplitReassignmentOnRecovery {
    private static final long serialVersionUID = 1L;
  }

  @Test
  void theSourceIsTheSourceInAllElse() throws Exception {
    Source<Long, Split, Void> source = ThrottledSource.of(new Marked());
    assertThat(source.getBoundedness()).isEqualTo(Boundedness.CONTINUOUS_UNBOUNDED);
    assertThat(source).isNotInstanceOf(SupportsSplitReassignmentOnRecovery.class);
    assertThat(ThrottledSource.of(new MarkedReassigning()))
        .isInstanceOf(SupportsSplitReassignmentOnRecovery.class);
    assertThatThrownBy(() -> source.createEnumerator(null)).hasMessage("asked for an enumerator");
    assertThatThrownBy(() -> source.restoreEnumerator(null, null))
        .hasMessage("asked for a restored enumerator");
    assertThatThrownBy(source::getSplitSerializer).hasMessage("asked for the splits' serializer");
    assertThatThrownBy(source::getEnumeratorCheckpointSerializer)
        .hasMessage("asked for the enumerator's serializer");
    assertThat(source.createReader(null)).as("no way back").isInstanceOf(Recorder.class);
  }

  @Test
  void itsTypeIsFoundAsFlinkFindsIt() {
    var numbers = (ThrottledSource<Long, ?, ?>) ThrottledSource.of(new NumberSequenceSource(1, 2));
    assertThat(numbers.getProducedType()).isEqualTo(Types.LONG);
    var marked = (ThrottledSource<Long, ?, ?>) ThrottledSource.of(new Marked());
    assertThat(marked.getProducedType()).isEqualTo(Types.LONG);
  }
}
