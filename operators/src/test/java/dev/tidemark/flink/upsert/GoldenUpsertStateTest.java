package dev.tidemark.flink.upsert;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.flink.GoldenBytes;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** What upsert keeps of each key, as some build put it into a checkpoint. */
final class GoldenUpsertStateTest {
  private static final byte[] ROW = "row".getBytes(StandardCharsets.US_ASCII);

  private static void check(String file, LastRow sample) {
    byte[] golden = GoldenBytes.read(file);
    assertThat(sample.entry()).isEqualTo(golden);
    LastRow read = LastRow.of(golden);
    assertThat(read.time()).isEqualTo(sample.time());
    assertThat(read.row()).isEqualTo(sample.row());
  }

  @Test
  void lastRow() {
    check("last-row-1", new LastRow(1234567890123L, ROW));
  }

  @Test
  void lastRowOfADeletedKey() {
    check("last-row-1-deleted", new LastRow(-1, null));
  }
}
