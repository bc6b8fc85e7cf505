package dev.tidemark.flink.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.flink.message.RawRecord;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.connector.file.src.util.CheckpointedPosition;
import org.apache.flink.connector.file.src.util.RecordAndPosition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From bytes of files to raw records. */
class RawFilesTest {
  private static final String BOM = "\uFEFF";

  @TempDir Path folder;

  private static List<RawRecord> records(String text, boolean csv, int maxBytes)
      throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    List<RawRecord> records = new ArrayList<>();
    try (RawLines lines = new RawLines(new OneByOne(bytes), "file", "files", csv, maxBytes)) {
      RawRecord next;
      while ((next = lines.next()) != null) {
        records.add(next);
      }
    }
    return records;
  }

  /** A stream that gives as little as it may. */
  private static final class OneByOne extends ByteArrayInputStream {
    OneByOne(byte[] bytes) {
      super(bytes);
    }

    @Override
    public synchronized int read(byte[] to, int offset, int length) {
      return super.read(to, offset, Math.min(length, 1));
    }
  }

  private static List<String> texts(String text, boolean csv) throws IOException {
    return records(text, csv, 1_000).stream().map(RawFilesTest::text).toList();
  }

  private static String text(RawRecord record) {
    return new String(Objects.requireNonNull(record.value), StandardCharsets.UTF_8);
  }

  /** P-IN-01. */
  @Test
  void aByteOrderMarkIsDroppedAtTheFilesBeginningOnly() throws Exception {
    List<RawRecord> csv = records(BOM + "id,name\n1,north\n" + BOM + "2,south\n", true, 1_000);
    assertThat(new String(csv.get(0).header, StandardCharsets.UTF_8)).isEqualTo("id,name");
    assertThat(csv.stream().map(RawFilesTest::text)).containsExactly("1,north", BOM + "2,south");
    assertThat(texts(BOM + "{\"id\":1}\n", false)).containsExactly("{\"id\":1}");
  }

  /** P-IN-02. */
  @Test
  void lineEndsAloneAndMixed() throws Exception {
    assertThat(texts("id,name\r\n1,x\r\n2,y\n3,\"a\r\nb\"\r\n", true))
        .containsExactly("1,x", "2,y", "3,\"a\r\nb\"");
    assertThat(texts("{\"k\":1}\r\n{\"k\":2}\n", false)).containsExactly("{\"k\":1}", "{\"k\":2}");
  }

  /** P-IN-03. */
  @Test
  void theLastLineNeedsNoEnd() throws Exception {
    assertThat(texts("{\"k\":1}\n{\"k\":2}", false)).containsExactly("{\"k\":1}", "{\"k\":2}");
    assertThat(texts("{\"k\":1}\n{\"k\":2,\"v\":\"b", false)).hasSize(2);
  }

  /** P-IN-04. */
  @Test
  void emptyFilesAndFilesOfAHeader() throws Exception {
    assertThat(texts("", false)).isEmpty();
    assertThat(texts("", true)).isEmpty();
    assertThat(texts("id,name\n", true)).isEmpty();
    assertThat(texts("id,name", true)).isEmpty();
  }

  /** P-IN-05. */
  @Test
  void quotedLineEndsAndDelimiters() throws Exception {
    String row = "7,\"first line\nsays \"\"stop\"\", then\nthird\",1714521600000\n";
    List<RawRecord> records = records("id,text,ts\n" + row.repeat(5_000), true, 1_000);
    assertThat(records).hasSize(5_000);
    assertThat(records.get(4_999).number).isEqualTo(2 + 3 * 4_999);
    assertThat(records.get(1).byteOffset).isEqualTo(11 + row.length());
    // Not well formed, but its neighbours must not suffer.
    assertThat(texts("a,b\nx\"\"y,\"z\"\n1,2\n", true)).containsExactly("x\"\"y,\"z\"", "1,2");
  }

  @Test
  void aRecordTooLongIsAFlawAndTheNextIsGood() throws Exception {
    List<RawRecord> records = records("aaaa\n" + "b".repeat(2_000) + "\ncc\n", false, 1_000);
    assertThat(records).hasSize(3);
    assertThat(records.get(1).flaw).isEqualTo("a record of more than 1000 bytes, from byte 5");
    assertThat(records.get(1).value).hasSize(1_000);
    assertThat(text(records.get(2))).isEqualTo("cc");
    assertThat(records.get(2).flaw).isNull();
    assertThat(records.get(2).origin()).isEqualTo("file:3");
  }

  @Test
  void aPositionIsTheNumberOfRecordsRead() throws Exception {
    Path file = folder.resolve("rows.csv");
    StringBuilder text = new StringBuilder("k\n");
    for (int i = 0; i < 2_000; i++) {
      text.append(i).append('\n');
    }
    Files.writeString(file, text);
    org.apache.flink.core.fs.Path path = new org.apache.flink.core.fs.Path(file.toUri());
    FileSourceSplit split =
        new FileSourceSplit("0", path, 0, Files.size(file), 0, Files.size(file));
    RawFileFormat format = new RawFileFormat(true, "auto", true, 1_000);
    for (int skip : new int[] {0, 1, 511, 512, 513, 1_999, 2_000}) {
      FileSourceSplit at =
          split.updateWithCheckpointedPosition(
              new CheckpointedPosition(CheckpointedPosition.NO_OFFSET, skip));
      List<Long> positions = new ArrayList<>();
      List<String> values = new ArrayList<>();
      try (BulkFormat.Reader<RawRecord> reader = format.restoreReader(new Configuration(), at)) {
        BulkFormat.RecordIterator<RawRecord> batch;
        while ((batch = reader.readBatch()) != null) {
          RecordAndPosition<RawRecord> next;
          while ((next = batch.next()) != null) {
            positions.add(next.getRecordSkipCount());
            values.add(text(next.getRecord()));
          }
        }
      }
      assertThat(values).hasSize(2_000 - skip);
      if (skip < 2_000) {
        assertThat(values.get(0)).isEqualTo(String.valueOf(skip));
        assertThat(positions.get(0)).isEqualTo(skip + 1L);
      }
    }
    FileSourceSplit past =
        split.updateWithCheckpointedPosition(
            new CheckpointedPosition(CheckpointedPosition.NO_OFFSET, 2_001));
    assertThatThrownBy(() -> format.restoreReader(new Configuration(), past))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("rows.csv")
        .hasMessageContaining("it was changed");
  }

  @Test
  void filesComeInTheOrderGivenElseByName() throws Exception {
    for (String name : List.of("b/2.json", "b/10.json", "a.json", ".hidden", "_tmp", "c.txt")) {
      Path file = folder.resolve(name);
      Files.createDirectories(file.getParent());
      Files.createFile(file);
    }
    String root = folder.toString();
    assertThat(found(root)).containsExactly("a.json", "10.json", "2.json", "c.txt");
    assertThat(found(root + "/c.txt", root)).startsWith("c.txt", "a.json").hasSize(4);
    assertThat(found(root + "/*.json")).containsExactly("a.json");
    assertThat(found(root + "/**/*.json")).containsExactly("10.json", "2.json");
    assertThat(found(root + "/{c,a}.*")).containsExactly("a.json", "c.txt");
    assertThatThrownBy(() -> found(root + "/missing"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("/missing does not exist");
    assertThatThrownBy(() -> found(root + "/*.csv"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("holds no file");
  }

  private static List<String> found(String... paths) {
    return InputFiles.find(List.of(paths)).stream().map(f -> f.getPath().getName()).toList();
  }

  @Test
  void splitsGivenBackComeFirstAgain() {
    List<FileSourceSplit> splits = new ArrayList<>();
    for (String id : List.of("2", "0", "1")) {
      splits.add(new FileSourceSplit(id, new org.apache.flink.core.fs.Path("/f" + id), 0, 0, 0, 0));
    }
    OrderedSplits assigner = new OrderedSplits(splits);
    FileSourceSplit first = assigner.getNext(null).orElseThrow();
    assertThat(first.splitId()).isEqualTo("0");
    assertThat(assigner.getNext(null).orElseThrow().splitId()).isEqualTo("1");
    assigner.addSplits(List.of(first));
    assertThat(assigner.getNext(null).orElseThrow().splitId()).isEqualTo("0");
    assertThat(assigner.getNext(null).orElseThrow().splitId()).isEqualTo("2");
    assertThat(assigner.getNext(null)).isEmpty();
  }

  @Test
  void generatedRecordsAreAFunctionOfSeedAndNumber() {
    SourceSettings.Datagen settings = new SourceSettings.Datagen(10, 0, 100, 20, 0.2, 0.1, 7);
    int late = 0;
    int deletes = 0;
    for (long i = 0; i < 10_000; i++) {
      RawRecord one = new GeneratedRecords(settings).map(i);
      RawRecord other = new GeneratedRecords(settings).map(i);
      assertThat(one.value).isEqualTo(other.value);
      assertThat(one.key).isEqualTo(other.key);
      late += one.timestampMillis < GeneratedRecords.FIRST_TIME_MILLIS + i ? 1 : 0;
      deletes += one.value == null ? 1 : 0;
    }
    assertThat(late).isBetween(1_800, 2_200);
    assertThat(deletes).isBetween(900, 1_100);
  }
}
