package dev.tidemark.flink.pressure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

final class GateTest {
  private final Gate gate = new Gate();

  @Test
  void whoWaitsGoesOnWhenItOpens() {
    assertThat(gate.isOpen()).isTrue();
    assertThat(gate.opened()).isDone();
    gate.close(100);
    assertThat(gate.isOpen()).isFalse();
    CompletableFuture<Void> waiting = gate.opened();
    assertThat(waiting).isNotDone();
    gate.close(150);
    assertThat(gate.opened()).as("one future for the whole pause").isSameAs(waiting);
    gate.open(300);
    assertThat(waiting).isDone();
    assertThat(gate.isOpen()).isTrue();
  }

  @Test
  void itIsOpenBeforeItSaysSo() {
    gate.close(0);
    boolean[] open = new boolean[1];
    var unused = gate.opened().thenRun(() -> open[0] = gate.isOpen());
    gate.open(1);
    assertThat(open[0]).isTrue();
  }

  @Test
  void pausesAddUp() {
    gate.open(50);
    gate.close(100);
    assertThat(gate.heldNanos(130)).isEqualTo(30);
    gate.open(200);
    assertThat(gate.heldNanos(999)).isEqualTo(100);
    gate.close(1_000);
    assertThat(gate.heldNanos(1_001)).isEqualTo(101);
  }
}
