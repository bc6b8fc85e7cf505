package dev.tidemark.flink.decode;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.decode.DebeziumSettings.Binary;
import dev.tidemark.flink.decode.DebeziumSettings.Decimals;
import dev.tidemark.flink.decode.DebeziumSettings.Lines;
import dev.tidemark.flink.decode.DebeziumSettings.Shape;
import dev.tidemark.flink.decode.DebeziumSettings.Times;
import dev.tidemark.flink.decode.TableMapping.Match;
import dev.tidemark.flink.decode.TableMapping.MatchKind;
import dev.tidemark.row.RowCodec;
import java.math.BigDecimal;
import java.time.LocalDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Recordings of a real connector, in every representation, come to what the database itself held at
 * the end. What they can't give is named where it is left out.
 */
class RecordedChangesTest {
  private static final String TYPES =
      "id BIGINT NOT NULL, n204 DECIMAL(20, 4), nfree STRING, n38 DECIMAL(38, 0),"
          + " tstz TIMESTAMP_LTZ(6), tstz3 TIMESTAMP_LTZ(3), ts TIMESTAMP(6), ts3 TIMESTAMP(3),"
          + " d DATE, t BIGINT, t3 TIME(3), j STRING, jb STRING, ba BYTES, u STRING, txt STRING,"
          + " vc STRING, ch CHAR(10), r FLOAT, dbl DOUBLE, si SMALLINT, i INT, bi BIGINT,"
          + " b BOOLEAN, bit1 BOOLEAN, bits BYTES, ia ARRAY<INT>, ta ARRAY<STRING>,"
          + " na ARRAY<DECIMAL(10, 2)>, e STRING, ip STRING, rng STRING, x STRING,"
          + " PRIMARY KEY (id) NOT ENFORCED";
  static final String TOAST =
      "id INT NOT NULL, counter INT NOT NULL, big_text STRING, big_bytes BYTES, big_json STRING,"
          + " big_ta ARRAY<STRING>, big_ia ARRAY<INT>, small STRING,"
          + " PRIMARY KEY (id) NOT ENFORCED";
  static final String KEYS_TEXT = "k STRING NOT NULL, v INT, PRIMARY KEY (k) NOT ENFORCED";
  static final String KEYS_COMPOSITE =
      "tenant INT NOT NULL, code STRING NOT NULL, day DATE NOT NULL, v DECIMAL(12, 2),"
          + " PRIMARY KEY (tenant, code, day) NOT ENFORCED";
  private static final String DEVICE =
      "id INT NOT NULL, title STRING, reading BIGINT, extra STRING, level INT,"
          + " note DECIMAL(12, 3), PRIMARY KEY (id) NOT ENFORCED";

  private final List<ShardTarget> shards = new ArrayList<>();
  private final List<TableMapping> tables = new ArrayList<>();

  private RecordedChangesTest table(String name, String schema, Envelope envelope) {
    shards.add(Replay.shard(name, schema));
    Match match = new Match(MatchKind.TABLE, "", "public." + name);
    tables.add(new TableMapping(shards.size() - 1, match, envelope, null));
    return this;
  }

  /** The recordings of one run, by connectors set differently. */
  private enum Recording {
    PRECISE_ADAPTIVE("precise-adaptive", Shape.ENVELOPE, Decimals.PRECISE, Times.ADAPTIVE, true),
    STRING_CONNECT("string-connect", Shape.ENVELOPE, Decimals.STRING, Times.CONNECT, true),
    DOUBLE_ISOSTRING("double-isostring", Shape.ENVELOPE, Decimals.DOUBLE, Times.ISOSTRING, false),
    SCHEMAS("schemas", Shape.ENVELOPE, Decimals.DOUBLE, Times.CONNECT, true),
    UNWRAPPED("unwrapped", Shape.UNWRAPPED, Decimals.STRING, Times.ADAPTIVE, false);

    private final String file;
    private final Shape shape;
    private final Decimals decimals;
    private final Times times;
    private final boolean truncates;

    Recording(String file, Shape shape, Decimals decimals, Times times, boolean truncates) {
      this.file = file;
      this.shape = shape;
      this.decimals = decimals;
      this.times = times;
      this.truncates = truncates;
    }
  }

  private Replay replay(Recording recording) throws Exception {
    Binary binary = recording == Recording.DOUBLE_ISOSTRING ? Binary.HEX : Binary.BASE64;
    return replay(
        "pg-types/" + recording.file + ".jsonl.gz",
        recording.shape,
        recording.decimals,
        recording.times,
        binary);
  }

  private Replay replay(String file, Shape shape, Decimals decimals, Times times, Binary binary)
      throws Exception {
    DebeziumSettings debezium =
        new DebeziumSettings(Lines.KEY_VALUE, shape, decimals, times, binary);
    DecodeSettings settings =
        new DecodeSettings(
            DecodeSettings.Format.DEBEZIUM_JSON,
            debezium,
            tables,
            false,
            false,
            Long.MAX_VALUE - 1,
            Long.MAX_VALUE);
    Replay replay = new Replay(settings, shards).lines("cdc/" + file);
    assertThat(replay.addsUp()).as("read = stored + error + ignored").isTrue();
    return replay;
  }

  /** What differs from the database's own rows, by its nature. */
  private interface Known {
    void apply(String column, Object[] row, int index);
  }

  private Map<String, Long> oracle(String folder, int shard, Known known) throws Exception {
    ShardTarget target = shards.get(shard);
    RowCodec codec = new RowCodec(target.schema());
    Map<String, Long> rows = new TreeMap<>();
    String file = "cdc/" + folder + "/oracle/final." + target.name() + ".csv";
    for (Object[] row : PgCopy.read(file, target.schema())) {
      for (int i = 0; i < row.length; i++) {
        known.apply(target.schema().columns().get(i).name(), row, i);
      }
      byte[] bytes = codec.encode(row);
      rows.merge(Replay.text(codec.decode(bytes, 0, bytes.length)), 1L, Long::sum);
    }
    return rows;
  }

  private void assertTypes(Replay replay, Known known) throws Exception {
    for (int shard = 0; shard < 2; shard++) {
      assertThat(replay.contents(shard))
          .as(shards.get(shard).name())
          .isEqualTo(oracle("pg-types", shard, known));
    }
  }

  private static Object strip(Object number) {
    return number == null || number.equals("NaN") || number.toString().endsWith("nfinity")
        ? null
        : new BigDecimal((String) number).stripTrailingZeros().toPlainString();
  }

  private static void precise(String column, Object[] row, int index) {
    if (column.equals("nfree")) {
      row[index] = strip(row[index]);
    }
  }

  private RecordedChangesTest types(Envelope full) {
    return table("types", TYPES, full).table("types_def", TYPES, Envelope.UPSERT);
  }

  @ParameterizedTest
  @EnumSource(names = {"CHANGELOG", "UPSERT"})
  void typesPreciseAdaptive(Envelope full) throws Exception {
    try (Replay replay =
        types(full)
            .replay(
                "pg-types/precise-adaptive.jsonl.gz",
                Shape.ENVELOPE,
                Decimals.PRECISE,
                Times.ADAPTIVE,
                Binary.BASE64)) {
      assertThat(replay.reasons()).isEmpty();
      assertTypes(replay, RecordedChangesTest::precise);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"CHANGELOG", "UPSERT"})
  void typesWithSchemasNeedNoSettings(Envelope full) throws Exception {
    try (Replay replay =
        types(full)
            .replay(
                "pg-types/schemas.jsonl.gz",
                Shape.ENVELOPE,
                Decimals.STRING,
                Times.CONNECT,
                Binary.BASE64)) {
      assertThat(replay.reasons()).isEmpty();
      assertTypes(replay, RecordedChangesTest::precise);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"CHANGELOG", "UPSERT"})
  void typesStringConnect(Envelope full) throws Exception {
    try (Replay replay =
        types(full)
            .replay(
                "pg-types/string-connect.jsonl.gz",
                Shape.ENVELOPE,
                Decimals.STRING,
                Times.CONNECT,
                Binary.BASE64)) {
      assertThat(replay.reasons()).isEmpty();
      assertTypes(
          replay,
          (column, row, i) -> {
            if (column.equals("ts") && row[i] != null) {
              row[i] = ((LocalDateTime) row[i]).truncatedTo(ChronoUnit.MILLIS);
            } else if (column.equals("t") && row[i] != null) {
              row[i] = (Long) row[i] / 1000;
            }
          });
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"CHANGELOG", "UPSERT"})
  void typesDoubleIsostring(Envelope full) throws Exception {
    // Doubles can't hold numeric, bit(n) is base64 even in hex mode, and time(6) is a text.
    String schema =
        TYPES
            .replace(" n204 DECIMAL(20, 4), nfree STRING, n38 DECIMAL(38, 0),", "")
            .replace(" t BIGINT,", "")
            .replace(" bits BYTES,", "");
    try (Replay replay =
        table("types", schema, full)
            .table("types_def", schema, Envelope.UPSERT)
            .replay(
                "pg-types/double-isostring.jsonl.gz",
                Shape.ENVELOPE,
                Decimals.DOUBLE,
                Times.ISOSTRING,
                Binary.HEX)) {
      assertThat(replay.reasons()).isEmpty();
      assertTypes(replay, (column, row, i) -> {});
    }
  }

  @Test
  void typesUnwrapped() throws Exception {
    try (Replay replay =
        table("types", TYPES, Envelope.UPSERT)
            .table("types_def", TYPES, Envelope.UPSERT)
            .replay(
                "pg-types/unwrapped.jsonl.gz",
                Shape.UNWRAPPED,
                Decimals.STRING,
                Times.ADAPTIVE,
                Binary.BASE64)) {
      assertThat(replay.reasons()).isEmpty();
      assertTypes(replay, (column, row, i) -> {});
    }
  }

  @ParameterizedTest
  @EnumSource(Recording.class)
  @DisplayName("P-CD-10: large values are whole under either identity, in every representation")
  void largeValuesAreWhole(Recording recording) throws Exception {
    Envelope full = recording.shape == Shape.ENVELOPE ? Envelope.CHANGELOG : Envelope.UPSERT;
    try (Replay replay =
        table("toast_full", TOAST, full)
            .table("toast_def", TOAST, Envelope.UPSERT)
            .replay(recording)) {
      assertThat(replay.contents(0)).isEqualTo(oracle("pg-types", 0, (column, row, i) -> {}));
      // The big values of row 104 stood under its old key, 4; they are in no message.
      Map<String, Long> rows = oracle("pg-types", 1, (column, row, i) -> {});
      assertThat(rows.keySet().removeIf(row -> row.startsWith("[104, "))).isTrue();
      assertThat(replay.contents(1)).isEqualTo(rows);
      assertThat(replay.errors).isNotEmpty().allMatch(error -> error.shard() == 1);
      assertThat(replay.reasons())
          .allMatch(reason -> reason.startsWith("column big_"))
          .allMatch(reason -> reason.endsWith("set REPLICA IDENTITY FULL on the table"));
    }
  }

  @ParameterizedTest
  @EnumSource(Recording.class)
  @DisplayName("P-CD-05: truncates, and keys of every kind, in every representation")
  void keysOfEveryKind(Recording recording) throws Exception {
    try (Replay replay =
        table("keys_text", KEYS_TEXT, Envelope.UPSERT)
            .table("keys_uuid", KEYS_TEXT, Envelope.UPSERT)
            .table("keys_composite", KEYS_COMPOSITE, Envelope.UPSERT)
            .replay(recording)) {
      assertThat(replay.reasons()).isEmpty();
      for (int shard = 0; shard < 3; shard++) {
        Map<String, Long> rows = oracle("pg-types", shard, (column, row, i) -> {});
        if (recording.truncates) {
          assertThat(replay.contents(shard)).isEqualTo(rows);
        } else { // these connectors left truncates out, so old rows are still there
          assertThat(replay.contents(shard)).containsAllEntriesOf(rows);
        }
        assertThat(replay.contents(shard).values()).containsOnly(1L);
      }
    }
  }

  private RecordedChangesTest transactions(Envelope withoutKey) {
    return table(
            "orders",
            "order_id INT NOT NULL, status STRING, total DECIMAL(12, 2), created TIMESTAMP_LTZ(6),"
                + " updated TIMESTAMP_LTZ(6), PRIMARY KEY (order_id) NOT ENFORCED",
            Envelope.UPSERT)
        .table(
            "order_items",
            "order_id INT NOT NULL, line INT NOT NULL, sku STRING, qty INT, price DECIMAL(10, 2),"
                + " PRIMARY KEY (order_id, line) NOT ENFORCED",
            Envelope.UPSERT)
        .table(
            "uniq_nopk",
            "code STRING NOT NULL, region STRING NOT NULL, v INT,"
                + " PRIMARY KEY (code, region) NOT ENFORCED",
            Envelope.UPSERT)
        .table("audit_nopk", "what STRING, n INT, at TIMESTAMP_LTZ(6)", withoutKey);
  }

  private void assertTransactions(Replay replay, int tables) throws Exception {
    for (int shard = 0; shard < tables; shard++) {
      assertThat(replay.contents(shard))
          .as(shards.get(shard).name())
          .isEqualTo(oracle("pg-tx", shard, (column, row, i) -> {}));
    }
  }

  @Test
  void transactionsPlain() throws Exception {
    try (Replay replay =
        transactions(Envelope.CHANGELOG)
            .replay(
                "pg-tx/plain.jsonl.gz",
                Shape.ENVELOPE,
                Decimals.STRING,
                Times.ADAPTIVE,
                Binary.BASE64)) {
      assertThat(replay.reasons()).isEmpty();
      assertTransactions(replay, 4);
      // 619 tombstones, and the table that nobody asks for: 11 inserts and a truncate
      assertThat(replay.count("tidemark.ignored")).isEqualTo(619 + 12);
      assertThat(replay.count("tidemark.unmatched.public.audit_insertonly")).isEqualTo(12);
    }
  }

  @Test
  void transactionsWithTheirMarksAndHeartbeats() throws Exception {
    try (Replay replay =
        transactions(Envelope.CHANGELOG)
            .replay(
                "pg-tx/with-transaction-metadata.jsonl.gz",
                Shape.ENVELOPE,
                Decimals.PRECISE,
                Times.ADAPTIVE,
                Binary.BASE64)) {
      assertThat(replay.reasons()).isEmpty();
      assertTransactions(replay, 4);
      assertThat(replay.count("tidemark.ignored")).isEqualTo(619 + 12 + 87);
    }
  }

  @Test
  void transactionsUnwrapped() throws Exception {
    try (Replay replay =
        transactions(Envelope.CHANGELOG)
            .replay(
                "pg-tx/unwrapped.jsonl.gz",
                Shape.UNWRAPPED,
                Decimals.STRING,
                Times.ADAPTIVE,
                Binary.BASE64)) {
      assertTransactions(replay, 3);
      // Flat rows have no before-images, so updates without key can't be told.
      assertThat(replay.reasons())
          .hasSize(5)
          .allMatch(reason -> reason.contains("without before-image"));
    }
  }

  @Test
  void columnsThatComeAndGoAreMatchedByName() throws Exception {
    try (Replay replay =
        table("device_def", DEVICE, Envelope.UPSERT)
            .table("device", DEVICE, Envelope.UPSERT)
            .replay(
                "pg-evolve/plain.jsonl.gz",
                Shape.ENVELOPE,
                Decimals.PRECISE,
                Times.ADAPTIVE,
                Binary.BASE64)) {
      // "note" was a text before it was dropped and came back as a number.
      assertThat(replay.reasons()).allMatch(reason -> reason.startsWith("column note of device"));
      assertThat(replay.count("tidemark.unknownColumns")).isPositive();
      assertThat(replay.contents(0)).isEqualTo(oracle("pg-evolve", 0, (column, row, i) -> {}));
      assertOnlyTheDefaultDiffers(replay.contents(1), oracle("pg-evolve", 1, (c, row, i) -> {}));
    }
  }

  /** ADD COLUMN level ... DEFAULT 7 sends no old rows again: 106 of them never changed since. */
  private static void assertOnlyTheDefaultDiffers(Map<String, Long> held, Map<String, Long> there) {
    Map<String, Long> missing = new TreeMap<>(there);
    missing.keySet().removeAll(held.keySet());
    Map<String, Long> surplus = new TreeMap<>(held);
    surplus.keySet().removeAll(there.keySet());
    assertThat(missing).hasSize(106);
    Map<String, Long> withoutDefault = new TreeMap<>();
    missing.forEach(
        (row, n) -> withoutDefault.put(row.replaceFirst(", 7, ([^,]*)]$", ", null, $1]"), n));
    assertThat(surplus).isEqualTo(withoutDefault);
  }

  @Test
  void columnsThatComeAndGoWithSchemas() throws Exception {
    try (Replay replay =
        table("device_def", DEVICE, Envelope.UPSERT)
            .replay(
                "pg-evolve/schemas.jsonl.gz",
                Shape.ENVELOPE,
                Decimals.STRING,
                Times.CONNECT,
                Binary.BASE64)) {
      assertThat(replay.contents(0)).isEqualTo(oracle("pg-evolve", 0, (column, row, i) -> {}));
    }
  }
}
