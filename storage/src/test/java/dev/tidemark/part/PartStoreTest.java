package dev.tidemark.part;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.row.MergeCursor;
import dev.tidemark.row.RowBuffer;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.Schemas;
import dev.tidemark.row.Seeds;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.row.Updates;
import dev.tidemark.row.Updates.One;
import dev.tidemark.schema.Column;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.ColumnType.Kind;
import dev.tidemark.schema.Schema;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.PartLocation;
import dev.tidemark.store.Body;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.store.ObjectStore;
import java.io.IOException;
import java.io.InputStream;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PartStoreTest {
  private final ObjectStore objects = new MemoryStore("parts");

  private PartStore store(long targetBytes) {
    AtomicInteger number = new AtomicInteger();
    return new PartStore(
        objects,
        "SHARD",
        targetBytes,
        () -> "part/2026-11-30/" + number.incrementAndGet() + ".parquet");
  }

  /** Random updates of a schema, some rows often. */
  private static List<One> updates(Schema schema, int count, Random random) throws Exception {
    RowCodec codec = new RowCodec(schema);
    List<One> updates = new ArrayList<>();
    byte[] row = new byte[0];
    for (int i = 0; i < count; i++) {
      if (i == 0 || random.nextInt(3) > 0) {
        row = codec.encode(Schemas.row(schema, random));
      }
      updates.add(One.of(row, random.nextInt(10) - 5L, random.nextInt(3) == 0 ? -1 : 1));
    }
    return Updates.consolidate(updates, Long.MIN_VALUE);
  }

  private static void checkHandle(Part part, List<One> updates, RowCodec codec) {
    long bytes = 0;
    long sum = 0;
    long retracted = 0;
    for (One one : updates) {
      byte[] row = HexFormat.of().parseHex(one.row());
      int counted = codec.countedBytes(row, 0, row.length);
      bytes += counted;
      sum += one.diff();
      retracted += one.diff() < 0 ? counted : 0;
      assertThat(part.minKey().compareTo(one.row())).isLessThanOrEqualTo(0);
      assertThat(part.maxKey().compareTo(one.row())).isGreaterThanOrEqualTo(0);
    }
    assertThat(part.rows()).isEqualTo(updates.size());
    assertThat(part.bytes()).isEqualTo(bytes);
    assertThat(part.sum()).isEqualTo(sum);
    assertThat(part.retracted()).isEqualTo(retracted);
    assertThat(part.minTime()).isEqualTo(updates.stream().mapToLong(One::time).min().getAsLong());
    assertThat(part.maxTime()).isEqualTo(updates.stream().mapToLong(One::time).max().getAsLong());
    assertThat(part.minKey().length()).isLessThanOrEqualTo(128);
    assertThat(part.maxKey().length()).isLessThanOrEqualTo(128);
  }

  @Test
  void everyTypeComesBackStoredAndInline() {
    Schema schema = Schemas.everything();
    RowCodec codec = new RowCodec(schema);
    Seeds.each(
        6,
        random -> {
          List<One> updates = updates(schema, 1 + random.nextInt(400), random);
          if (updates.isEmpty()) {
            return;
          }
          PartStore store = store(Long.MAX_VALUE);
          List<Part> run = store.writeRun(Updates.cursor(updates), schema);
          assertThat(run).hasSize(1);
          checkHandle(run.get(0), updates, codec);
          assertThat(Updates.drain(store.readRun(run, schema, schema))).isEqualTo(updates);

          Part inline = PartStore.inline(RowBlock.encode(Updates.cursor(updates)), schema);
          checkHandle(inline, updates, codec);
          assertThat(Updates.drain(store.read(inline, schema, schema))).isEqualTo(updates);
        });
  }

  private static final Set<Kind> MANY_PAGES =
      EnumSet.of(Kind.BOOLEAN, Kind.BIGINT, Kind.VARCHAR, Kind.ARRAY, Kind.MAP, Kind.ROW);

  @Test
  void eachFormFillsMoreThanOnePage() throws Exception {
    int count = ColumnPages.PAGE_VALUES + 100;
    for (Column column : Schemas.everything().columns()) {
      Kind kind = column.type().kind();
      if (!column.type().nullable() || !MANY_PAGES.contains(kind)) {
        continue;
      }
      Schema schema =
          new Schema(
              1,
              List.of(column, new Column(1, "id", ColumnType.of(Kind.INT, false))),
              List.of("id"));
      RowCodec codec = new RowCodec(schema);
      Random random = new Random(column.id());
      List<One> updates = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        // NULL alone for a while, then as it comes: one run of levels, then many.
        Object value = i < 5000 ? null : Schemas.value(column.type(), random);
        updates.add(One.of(codec.encode(new Object[] {value, i}), i, 1));
      }
      PartStore store = store(Long.MAX_VALUE);
      List<Part> run = store.writeRun(Updates.cursor(updates), schema);
      assertThat(Updates.drain(store.readRun(run, schema, schema)).equals(updates))
          .as(column.toString())
          .isTrue();
    }
  }

  static final Schema KEYED =
      Schemas.of(
          List.of(
              Schemas.text(false),
              Schemas.type(Kind.TIMESTAMP, true, 3, 0),
              Schemas.text(true),
              Schemas.array(true, Schemas.text(true))),
          "c1");

  private static List<One> keyed(int count, int valueBytes, Random random) throws Exception {
    RowCodec codec = new RowCodec(KEYED);
    List<One> updates = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      StringBuilder value = new StringBuilder();
      while (value.length() < valueBytes) {
        value.append(Long.toString(random.nextLong(), 36));
      }
      byte[] row =
          codec.encode(
              new Object[] {
                "k" + random.nextInt(1000), null, value.toString(), Arrays.asList("a", null)
              });
      updates.add(One.of(row, i % 7, 1));
      if (i % 3 == 0) {
        updates.add(One.of(row, 7 + i % 2, -1));
      }
    }
    return Updates.consolidate(updates, Long.MIN_VALUE);
  }

  @Test
  void aLargePartHasRowGroupsAndIsReadInRanges() throws Exception {
    List<One> updates = keyed(900, 20_000, new Random(1));
    PartStore store = store(Long.MAX_VALUE);
    List<Part> run = store.writeRun(Updates.cursor(updates), KEYED);
    PartLocation.Stored stored = (PartLocation.Stored) run.get(0).location();
    assertThat(stored.sizeBytes()).isGreaterThan(PartFile.WHOLE_BYTES);
    long before = objects.requests().gets();
    assertThat(Updates.drain(store.readRun(run, KEYED, KEYED))).isEqualTo(updates);
    assertThat(objects.requests().gets() - before).isBetween(3L, 4L);
  }

  @Test
  void aRunIsCutBetweenDifferentRows() throws Exception {
    List<One> updates = keyed(2000, 50, new Random(2));
    PartStore store = store(10_000);
    List<Part> run = store.writeRun(Updates.cursor(updates), KEYED);
    assertThat(run.size()).isBetween(10, 60);
    String lastRow = "";
    for (Part part : run) {
      List<One> some = Updates.drain(store.read(part, KEYED, KEYED));
      checkHandle(part, some, new RowCodec(KEYED));
      assertThat(some.get(0).row()).isNotEqualTo(lastRow);
      lastRow = some.get(some.size() - 1).row();
    }
    assertThat(Updates.drain(store.readRun(run, KEYED, KEYED))).isEqualTo(updates);
    assertThat(store.writeRun(Updates.cursor(List.of()), KEYED)).isEmpty();
  }

  @Test
  void valuesOfManyMegabytesFit() throws Exception {
    Schema schema = Schemas.of(List.of(ColumnType.of(Kind.INT, false), Schemas.bytes(true)), "c1");
    RowCodec codec = new RowCodec(schema);
    RowBuffer buffer = new RowBuffer();
    Random random = new Random(3);
    byte[] noise = new byte[17 << 20];
    random.nextBytes(noise);
    for (Object[] values :
        List.of(
            new Object[] {2, noise}, new Object[] {1, new byte[2 << 20]}, new Object[] {3, null})) {
      byte[] row = codec.encode(values);
      buffer.add(row, 0, row.length, 5, 1);
    }
    PartStore store = store(Long.MAX_VALUE);
    List<Part> run = store.writeRun(buffer.sorted(), schema);
    try (UpdateCursor read = store.readRun(run, schema, schema)) {
      assertThat(read.next()).isTrue();
      assertThat(read.next()).isTrue();
      Object[] values = codec.decode(read.row(), read.rowOffset(), read.rowLength());
      assertThat(Arrays.equals((byte[]) values[1], noise)).isTrue();
      assertThat(read.next()).isTrue();
      assertThat(read.next()).isFalse();
    }
  }

  @Test
  void mergesOfRunsAgreeWithASortedMap() {
    Seeds.each(
        5,
        random -> {
          PartStore store = store(20_000);
          List<One> all = new ArrayList<>();
          List<UpdateCursor> inputs = new ArrayList<>();
          for (int i = 0; i < 5; i++) {
            List<One> updates = new ArrayList<>(keyed(300, 10, random));
            // What the run before added is taken away again.
            for (One one : all) {
              if (random.nextInt(3) == 0) {
                updates.add(new One(one.row(), 20 + i, -one.diff()));
              }
            }
            updates = Updates.consolidate(updates, Long.MIN_VALUE);
            all.addAll(updates);
            inputs.add(store.readRun(store.writeRun(Updates.cursor(updates), KEYED), KEYED, KEYED));
          }
          List<Part> merged = store.writeRun(new MergeCursor(inputs, 30), KEYED);
          assertThat(Updates.drain(store.readRun(merged, KEYED, KEYED)))
              .isEqualTo(Updates.consolidate(all, 30));
        });
  }

  @Test
  void updatesOutOfOrderAreRefused() {
    One one = new One("01610000" + "00" + "00" + "00", 5, 1);
    for (List<One> bad :
        List.of(
            List.of(one, one),
            List.of(one, new One(one.row(), 4, 1)),
            List.of(one, new One("01600000" + "00" + "00" + "00", 6, 1)))) {
      assertThatThrownBy(() -> store(1000).writeRun(Updates.cursor(bad), KEYED))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("not in order");
    }
    for (String row : List.of("", "0161", "00000000", "01610000000000" + "00")) {
      assertThatThrownBy(
              () -> store(1000).writeRun(Updates.cursor(List.of(new One(row, 0, 1))), KEYED))
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void aNewColumnReadsAsNull() throws Exception {
    ColumnType text = Schemas.text(true);
    Schema old =
        new Schema(
            1,
            List.of(new Column(1, "k", Schemas.text(false)), new Column(2, "v", text)),
            List.of("k"));
    Schema wanted =
        new Schema(
            2,
            List.of(
                new Column(3, "added", ColumnType.of(Kind.INT, true)),
                new Column(1, "key", Schemas.type(Kind.VARCHAR, true, 100, 0)),
                new Column(2, "v", text)),
            List.of("key"));
    byte[] row = new RowCodec(old).encode(new Object[] {"a", "b"});
    byte[] expected = new RowCodec(wanted).encode(new Object[] {null, "a", "b"});
    List<One> updates = List.of(One.of(row, 1, 1));
    PartStore store = store(1000);
    Part stored = store.writeRun(Updates.cursor(updates), old).get(0);
    Part inline = PartStore.inline(RowBlock.encode(Updates.cursor(updates)), old);
    for (Part part : List.of(stored, inline)) {
      assertThat(Updates.drain(store.read(part, old, wanted)))
          .containsExactly(One.of(expected, 1, 1));
      Schema changed =
          new Schema(3, List.of(new Column(1, "k", ColumnType.of(Kind.INT, true))), List.of());
      assertThatThrownBy(() -> store.read(part, old, changed))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("changed its type");
    }
  }

  /** Rows of KEYED, never to be changed: a part of them lies in the tree. */
  static List<One> sample() throws Exception {
    RowCodec codec = new RowCodec(KEYED);
    byte[] first =
        codec.encode(new Object[] {"", LocalDateTime.of(1969, 12, 31, 23, 59), null, null});
    byte[] second = codec.encode(new Object[] {"a\0é", null, "v", Arrays.asList("x", null, "")});
    byte[] third = codec.encode(new Object[] {"b", null, "", List.of()});
    return List.of(
        One.of(first, Long.MIN_VALUE, 1),
        One.of(second, 1000, -1),
        One.of(second, 1001, 2),
        One.of(third, Long.MAX_VALUE, 1));
  }

  /** A part whose footer doesn't say where its row groups begin, and one as they are written. */
  @ParameterizedTest
  @ValueSource(strings = {"part-1.0.parquet", "part-1.0-groups.parquet"})
  void theSamplesOfFormatOneAreRead(String name) throws Exception {
    byte[] file = sampleFile(name);
    PartStore store = store(1000);
    Part written = store.writeRun(Updates.cursor(sample()), KEYED).get(0);
    objects.put("old", Body.of(file));
    PartLocation old =
        new PartLocation.Stored("old", file.length, SegmentOutput.crc32c(Body.of(file)));
    Part part =
        new Part(
            old,
            written.rows(),
            written.bytes(),
            written.sum(),
            written.retracted(),
            written.minKey(),
            written.maxKey(),
            written.minTime(),
            written.maxTime(),
            Map.of());
    assertThat(Updates.drain(store.read(part, KEYED, KEYED))).isEqualTo(sample());
  }

  /** Another zstd or Parquet library may choose other bytes: then this goes, the sample stays. */
  @Test
  void theSampleOfFormatOneIsWritten() throws Exception {
    store(1000).writeRun(Updates.cursor(sample()), KEYED);
    assertThat(objects.get("part/2026-11-30/1.parquet").orElseThrow())
        .isEqualTo(sampleFile("part-1.0-groups.parquet"));
  }

  private static byte[] sampleFile(String name) throws IOException {
    try (InputStream in = PartStoreTest.class.getResourceAsStream("/part/" + name)) {
      return in.readAllBytes();
    }
  }

  @Test
  void aMissingObjectIsNamed() throws Exception {
    PartStore store = store(1000);
    Part part = store.writeRun(Updates.cursor(keyed(3, 3, new Random(1))), KEYED).get(0);
    objects.delete(List.of(((PartLocation.Stored) part.location()).key()));
    assertThatThrownBy(() -> store.read(part, KEYED, KEYED))
        .isInstanceOf(PartGoneException.class)
        .hasMessageContaining("part/2026-11-30/1.parquet");
  }

  @Test
  void wrongBytesAreAnErrorThatNamesThePart() throws Exception {
    for (int valueBytes : new int[] {20, 20_000}) {
      List<One> updates = keyed(900, valueBytes, new Random(4));
      PartStore store = store(Long.MAX_VALUE);
      Part part = store.writeRun(Updates.cursor(updates), KEYED).get(0);
      String key = ((PartLocation.Stored) part.location()).key();
      byte[] good = objects.get(key).orElseThrow();
      Seeds.each(
          valueBytes == 20 ? 40 : 5,
          random -> {
            byte[] bad = good.clone();
            // Also near the end, where the footer is.
            int at =
                random.nextBoolean()
                    ? random.nextInt(bad.length)
                    : bad.length - 1 - random.nextInt(3000);
            bad[at] ^= (byte) (1 << random.nextInt(8));
            if (random.nextInt(4) == 0) {
              bad = Arrays.copyOf(bad, random.nextInt(bad.length));
            }
            objects.put(key, Body.of(bad));
            try {
              List<One> read = Updates.drain(store.read(part, KEYED, KEYED));
              // A flip in what a reader doesn't look at (statistics) may go unnoticed; never rows.
              assertThat(read).isEqualTo(updates);
              assertThat(valueBytes).as("small parts have one checksum").isEqualTo(20_000);
            } catch (IOException e) {
              assertThat(e).hasMessageContaining(key);
            }
          });
    }
  }

  @Test
  void aPartOfAnotherShardIsRefused() throws Exception {
    Part part = store(1000).writeRun(Updates.cursor(keyed(3, 3, new Random(1))), KEYED).get(0);
    PartStore other = new PartStore(objects, "OTHER", 1000, () -> "x");
    assertThatThrownBy(() -> other.read(part, KEYED, KEYED))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("another shard, SHARD");
  }

  @Test
  void longRowsHaveShortBounds() throws Exception {
    Schema schema = Schemas.of(List.of(Schemas.bytes(false)));
    byte[] high = new byte[100];
    Arrays.fill(high, (byte) 0xFF);
    byte[] row = new RowCodec(schema).encode(new Object[] {high});
    Part part = store(1000).writeRun(Updates.cursor(List.of(One.of(row, 0, 1))), schema).get(0);
    assertThat(part.minKey()).isEqualTo("01" + "ff".repeat(63));
    assertThat(part.maxKey()).isEqualTo("02");
    assertThat(part.extra()).isEqualTo(Map.of());
  }
}
