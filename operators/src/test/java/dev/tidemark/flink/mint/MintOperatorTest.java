package dev.tidemark.flink.mint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.flink.StopForGoodException;
import dev.tidemark.flink.message.DescriptionSerializer;
import dev.tidemark.flink.message.Update;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

final class MintOperatorTest {
  private OneInputStreamOperatorTestHarness<Update, BatchDescription> mint;
  private long checkpoint;

  @BeforeEach
  void start() throws Exception {
    start(null);
  }

  private void start(OperatorSubtaskState state) throws Exception {
    start(new MintOperator(), state);
  }

  private void start(MintOperator operator, OperatorSubtaskState state) throws Exception {
    mint = new OneInputStreamOperatorTestHarness<>(operator);
    mint.setup(DescriptionSerializer.INSTANCE);
    if (state == null) {
      mint.initializeEmptyState();
    } else {
      mint.initializeState(state);
    }
    mint.open();
  }

  @AfterEach
  void stop() throws Exception {
    mint.close();
  }

  @Test
  void describesNothingBeforeTheFirstWatermark() throws Exception {
    barrier();
    assertThat(out()).isEmpty();
    mint.processWatermark(Long.MIN_VALUE);
    barrier();
    assertThat(out()).isEmpty();
  }

  @Test
  @DisplayName("persist 18: one description a barrier, however many times lie in it")
  void describesWhatTheWatermarkHasPassedBeforeEachBarrier() throws Exception {
    mint.processWatermark(99);
    mint.processWatermark(199);
    assertThat(out()).as("before the barrier").isEmpty();
    barrier();
    assertThat(out()).containsExactly("[min, 200)", "W 199");
    mint.processWatermark(1_000_000_000_000L);
    barrier();
    assertThat(out()).containsExactly("[200, 1000000000001)", "W 1000000000000");
  }

  @Test
  void describesTimesBeforeTheEpoch() throws Exception {
    mint.processWatermark(-5_001);
    barrier();
    mint.processWatermark(-1);
    barrier();
    assertThat(out()).containsExactly("[min, -5000)", "W -5001", "[-5000, 0)", "W -1");
  }

  @Test
  @DisplayName("persist 2: without an advance there is no description")
  void describesNothingWithoutAnAdvance() throws Exception {
    mint.processWatermark(99);
    barrier();
    out();
    barrier();
    mint.processWatermark(99);
    barrier();
    assertThat(out()).isEmpty();
  }

  @Test
  void describesUpToTheEndAtOnceAndNothingAfterIt() throws Exception {
    mint.processWatermark(99);
    barrier();
    out();
    mint.processWatermark(150);
    mint.processWatermark(Long.MAX_VALUE);
    assertThat(out()).containsExactly("[100, end)", "W " + Long.MAX_VALUE);
    barrier();
    mint.endInput();
    barrier();
    assertThat(out()).isEmpty();
  }

  @Test
  void keepsIdlenessToItself() throws Exception {
    mint.processWatermark(99);
    mint.processWatermarkStatus(WatermarkStatus.IDLE);
    barrier();
    mint.processWatermarkStatus(WatermarkStatus.ACTIVE);
    assertThat(out()).containsExactly("[min, 100)", "W 99");
  }

  @Test
  @DisplayName("persist 1: from the upper on, to what the watermark has passed")
  void goesOnWhereTheRestoredDescriptionsEnd() throws Exception {
    mint.processWatermark(99);
    OperatorSubtaskState state = barrier();
    mint.close();
    start(state);
    mint.processWatermark(50);
    barrier();
    assertThat(out()).as("passed before").isEmpty();
    mint.processWatermark(149);
    barrier();
    assertThat(out()).containsExactly("[100, 150)", "W 149");
  }

  /** What is described but in no checkpoint is described again, maybe otherwise. */
  @Test
  void describesAnewWhatNoCheckpointHolds() throws Exception {
    mint.processWatermark(99);
    OperatorSubtaskState state = barrier();
    mint.processWatermark(149);
    mint.prepareSnapshotPreBarrier(++checkpoint);
    mint.close();
    start(state);
    mint.processWatermark(179);
    barrier();
    assertThat(out()).containsExactly("[100, 180)", "W 179");
  }

  @Test
  void refusesToGoOnFromTheStateOfAnEndedInput() throws Exception {
    mint.processWatermark(Long.MAX_VALUE);
    OperatorSubtaskState state = barrier();
    mint.close();
    start(state);
    assertThatThrownBy(() -> mint.processWatermark(99))
        .isInstanceOf(StopForGoodException.class)
        .hasMessageContaining("without --drain");
  }

  /** A finished input may be restored as such: then there is nothing left to say. */
  @Test
  void endsAgainFromTheStateOfAnEndedInput() throws Exception {
    mint.processWatermark(Long.MAX_VALUE);
    OperatorSubtaskState state = barrier();
    mint.close();
    start(state);
    mint.processWatermark(Long.MAX_VALUE);
    assertThat(out()).containsExactly("W " + Long.MAX_VALUE);
  }

  private void startByTheClock(OperatorSubtaskState state) throws Exception {
    mint.close();
    start(new MintOperator(Duration.ofMillis(100)), state);
  }

  @Test
  @DisplayName("persist 18: by the clock one description a tick, none at a barrier")
  void ticksByTheClock() throws Exception {
    startByTheClock(null);
    mint.processWatermark(99);
    mint.processWatermark(199);
    barrier();
    assertThat(out()).as("before the first tick").isEmpty();
    mint.setProcessingTime(100);
    assertThat(out()).containsExactly("[min, 200)", "W 199");
    mint.processWatermark(1_000_000_000_000L);
    mint.setProcessingTime(199);
    assertThat(out()).isEmpty();
    mint.setProcessingTime(200);
    assertThat(out()).containsExactly("[200, 1000000000001)", "W 1000000000000");
  }

  @Test
  @DisplayName("persist 2: a tick without an advance makes no description")
  void aTickWithoutAnAdvanceIsSilent() throws Exception {
    startByTheClock(null);
    mint.setProcessingTime(100);
    mint.processWatermark(99);
    mint.setProcessingTime(200);
    assertThat(out()).containsExactly("[min, 100)", "W 99");
    for (int tick = 3; tick < 10; tick++) {
      mint.processWatermark(99);
      mint.setProcessingTime(tick * 100);
    }
    assertThat(out()).isEmpty();
  }

  @Test
  @DisplayName("persist 1: from the upper 5 on: frontier 3, then 8, makes [5, 8)")
  void byTheClockItGoesOnWhereTheCheckpointWas() throws Exception {
    startByTheClock(null);
    mint.processWatermark(4);
    mint.setProcessingTime(100);
    OperatorSubtaskState state = barrier();
    mint.processWatermark(6);
    mint.setProcessingTime(200);
    out();
    startByTheClock(state);
    mint.processWatermark(2);
    mint.setProcessingTime(100);
    assertThat(out()).isEmpty();
    mint.processWatermark(7);
    mint.setProcessingTime(200);
    assertThat(out()).containsExactly("[5, 8)", "W 7");
  }

  @Test
  void byTheClockTheEndOfInputIsDescribedAtOnce() throws Exception {
    startByTheClock(null);
    mint.processWatermark(99);
    mint.processWatermark(Long.MAX_VALUE);
    assertThat(out()).containsExactly("[min, end)", "W " + Long.MAX_VALUE);
    mint.setProcessingTime(1_000);
    barrier();
    assertThat(out()).isEmpty();
  }

  private OperatorSubtaskState barrier() throws Exception {
    mint.prepareSnapshotPreBarrier(++checkpoint);
    return mint.snapshot(checkpoint, 0);
  }

  private List<String> out() {
    List<String> out = new ArrayList<>();
    for (Object next : mint.getOutput()) {
      if (next instanceof Watermark mark) {
        out.add("W " + mark.getTimestamp());
      } else if (next instanceof StreamRecord<?> record) {
        BatchDescription description = (BatchDescription) record.getValue();
        out.add("[" + text(description.lower()) + ", " + text(description.upper()) + ")");
      } else {
        out.add(next.toString());
      }
    }
    mint.getOutput().clear();
    return out;
  }

  private static String text(Frontier frontier) {
    return frontier.isMinimum() ? "min" : frontier.isEnd() ? "end" : "" + frontier.time();
  }
}
