package dev.tidemark.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.log.ShardLog;
import dev.tidemark.read.TestShard.Update;
import dev.tidemark.read.Verifier.Finding;
import dev.tidemark.read.Verifier.Report;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.MemoryStore;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class VerifierTest {
  private static final SpineSpec ROOMY = new SpineSpec(8, 1000, 1000, 1 << 20, 2.0, true);

  private final MemoryStore store = new MemoryStore("verify");
  private TestShard shard;

  @BeforeEach
  void make() throws Exception {
    shard = new TestShard(store, ROOMY, 1 << 20);
    for (int i = 0; i < 70; i++) {
      shard.append(10L * i + 10, new Update(i, "v", 10L * i + 5, 1));
    }
  }

  private Report verify(boolean deep) throws Exception {
    return new Verifier(new ShardLog(store)).verify(deep);
  }

  private void replace(String key, UnaryOperator<byte[]> change) throws Exception {
    byte[] before = store.get(key).orElseThrow();
    store.delete(List.of(key));
    store.putIfAbsent(key, change.apply(before));
  }

  private static byte[] flipMiddle(byte[] bytes) {
    byte[] other = bytes.clone();
    other[other.length / 2] ^= 0x10;
    return other;
  }

  private static UnaryOperator<byte[]> text(String from, String to) {
    return bytes -> {
      String before = new String(bytes, StandardCharsets.UTF_8);
      assertThat(before).contains(from);
      return before.replace(from, to).getBytes(StandardCharsets.UTF_8);
    };
  }

  private static String log(long n) {
    return String.format("log/%020d.json", n);
  }

  private static final String PART = "part/2026-11-30/000007.parquet";

  @Test
  void aSoundShardHasNoFindings() throws Exception {
    Report shallow = verify(false);
    assertThat(shallow.sound()).isTrue();
    assertThat(shallow.versions()).isEqualTo(71);
    assertThat(shallow.rollups()).isEqualTo(1);
    assertThat(shallow.parts()).isEqualTo(70);
    assertThat(shallow.rows()).isEqualTo(70);
    assertThat(shallow.bytesRead()).isZero();
    Report deep = verify(true);
    assertThat(deep.findings()).isEmpty();
    assertThat(deep.bytesRead()).isPositive();
  }

  @Test
  void aFlippedBitInAPartIsFoundWhenReadDeep() throws Exception {
    replace(PART, VerifierTest::flipMiddle);
    assertThat(verify(false).sound()).isTrue();
    assertThat(verify(true).findings())
        .singleElement()
        .extracting(Finding::toString)
        .asString()
        .contains(PART, "checksum");
  }

  @Test
  void aMissingOrShortPartIsFound() throws Exception {
    store.delete(List.of(PART));
    assertThat(verify(false).findings()).extracting(Finding::where).containsExactly(PART);
    store.putIfAbsent(PART, new byte[3]);
    assertThat(verify(false).findings()).extracting(Finding::where).containsExactly(PART);
  }

  @Test
  void aHandleThatSaysOtherThanItsPartIsFoundWhenReadDeep() throws Exception {
    Part part = shard.storedRun(List.of(new Update(7, "v", 705, 1))).get(0);
    Part wrong =
        new Part(
            part.location(),
            part.rows(),
            part.bytes(),
            part.sum(),
            part.retracted(),
            "ff",
            "00",
            701,
            706,
            part.extra());
    shard.append(shard.batch(710, List.of(List.of(wrong)), List.of(), false));
    List<Part> late = shard.storedRun(List.of(new Update(8, "v", 700, 1)));
    Batch outside = shard.batch(720, List.of(late), List.of(), false);
    shard.append(outside);
    assertThat(verify(true).findings())
        .extracting(Finding::what)
        .anyMatch(what -> what.contains("least time"))
        .anyMatch(what -> what.contains("greatest time"))
        .anyMatch(what -> what.contains("least key"))
        .anyMatch(what -> what.contains("greatest key"))
        .anyMatch(what -> what.contains("is outside [710, 720)"))
        .hasSize(5);
  }

  @Test
  void aMissingEntryIsFound() throws Exception {
    store.delete(List.of(log(40)));
    assertThat(verify(false).findings())
        .extracting(Finding::toString)
        .anyMatch(finding -> finding.contains("version 40") && finding.contains("missing"));
  }

  @Test
  void anEntryThatCantBeReadOrDoesntFitIsNamed() throws Exception {
    replace(log(40), bytes -> new byte[] {'{', '}'});
    assertThat(verify(false).findings()).extracting(Finding::where).contains("version 40");
    store.delete(List.of(log(40)));
    store.putIfAbsent(log(40), store.get(log(39)).orElseThrow());
    assertThat(verify(false).findings()).extracting(Finding::where).contains("version 40");
  }

  @Test
  void aRollupThatDiffersFromTheLogIsFound() throws Exception {
    replace("rollup/00000000000000000064.json", text("\"host\":\"here\"", "\"host\":\"there\""));
    assertThat(verify(false).findings()).extracting(Finding::where).contains("rollup 64");
  }

  @Test
  void replayBeginsAtTheOldestRollupWhenTheLogBeforeItIsGone() throws Exception {
    for (long n = 1; n <= 64; n++) {
      store.delete(List.of(log(n)));
    }
    Report report = verify(true);
    assertThat(report.findings()).isEmpty();
    assertThat(report.versions()).isEqualTo(7);
  }

  @Test
  void whereThereIsNoShardThatIsTheFinding() throws Exception {
    assertThat(new Verifier(new ShardLog(new MemoryStore("none"))).verify(true).findings())
        .singleElement()
        .extracting(Finding::what)
        .asString()
        .contains("no shard");
  }
}
