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
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * pgbench while a connector watched, with and without REPLICA IDENTITY FULL: the shards hold what
 * the database held, at the end and at two moments in between, at one of which transactions were in
 * flight. The moments are commit times that cut the stream exactly.
 */
class RecordedBenchTest {
  static final Map<String, String> SCHEMAS =
      Map.of(
          "pgbench_accounts",
          "aid INT NOT NULL, bid INT, abalance INT, filler CHAR(84), PRIMARY KEY (aid) NOT ENFORCED",
          "pgbench_branches",
          "bid INT NOT NULL, bbalance INT, filler CHAR(88), PRIMARY KEY (bid) NOT ENFORCED",
          "pgbench_tellers",
          "tid INT NOT NULL, bid INT, tbalance INT, filler CHAR(84), PRIMARY KEY (tid) NOT ENFORCED",
          "pgbench_history",
          "tid INT, bid INT, aid INT, delta INT, mtime TIMESTAMP(6), filler CHAR(22)");

  private final List<ShardTarget> shards = new ArrayList<>();
  private final List<TableMapping> tables = new ArrayList<>();

  private Replay replay(String file, Envelope withKey, Envelope without) throws Exception {
    for (String name : SCHEMAS.keySet().stream().sorted().toList()) {
      shards.add(Replay.shard(name, SCHEMAS.get(name)));
      Match match = new Match(MatchKind.TABLE, "", "public." + name);
      Envelope envelope = name.equals("pgbench_history") ? without : withKey;
      tables.add(new TableMapping(tables.size(), match, envelope, null));
    }
    DebeziumSettings debezium =
        new DebeziumSettings(
            Lines.KEY_VALUE, Shape.ENVELOPE, Decimals.PRECISE, Times.ADAPTIVE, Binary.BASE64);
    DecodeSettings settings =
        Replay.settings(DecodeSettings.Format.DEBEZIUM_JSON, debezium, tables);
    return new Replay(settings, shards).lines(file);
  }

  private void assertHeld(Replay replay, String oracle, long asOfMillis) throws Exception {
    for (int shard = 0; shard < shards.size(); shard++) {
      ShardTarget target = shards.get(shard);
      RowCodec codec = new RowCodec(target.schema());
      Map<ByteBuffer, Long> rows = new HashMap<>();
      for (Object[] row : PgCopy.read(oracle + target.name() + ".csv.gz", target.schema())) {
        rows.merge(ByteBuffer.wrap(codec.encode(row)), 1L, Long::sum);
      }
      // Not isEqualTo: it would print 100,000 rows.
      assertThat(rows.equals(replay.sums(shard, asOfMillis)))
          .as(target.name() + " at " + oracle)
          .isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"CHANGELOG", "UPSERT"})
  void withFullIdentity(Envelope envelope) throws Exception {
    try (Replay replay = replay("demo/events.jsonl.gz", envelope, Envelope.CHANGELOG)) {
      assertThat(replay.errors).isEmpty();
      assertThat(replay.addsUp()).isTrue();
      assertHeld(replay, "cdc/pg-bench-full/oracle/moment1.", 1_795_996_034_048L);
      assertHeld(replay, "cdc/pg-bench-full/oracle/moment2.", 1_795_996_046_375L);
      assertHeld(replay, "demo/final.", Long.MAX_VALUE);
    }
  }

  @Test
  void withDefaultIdentityWhileTheDatabaseWasBusy() throws Exception {
    String file = "cdc/pg-bench-default/events.jsonl.gz";
    try (Replay replay = replay(file, Envelope.UPSERT, Envelope.APPEND)) {
      assertThat(replay.errors).isEmpty();
      assertThat(replay.addsUp()).isTrue();
      assertHeld(replay, "cdc/pg-bench-default/oracle/moment1.", 1_795_996_159_668L);
      assertHeld(replay, "cdc/pg-bench-default/oracle/moment2.", 1_795_996_167_897L);
      assertHeld(replay, "cdc/pg-bench-default/oracle/final.", Long.MAX_VALUE);
    }
  }
}
