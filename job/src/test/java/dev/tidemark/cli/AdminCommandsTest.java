package dev.tidemark.cli;

import static dev.tidemark.cli.Said.say;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.hold.Holds;
import dev.tidemark.log.Author;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.Hold;
import dev.tidemark.log.ShardLog;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.Body;
import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import dev.tidemark.time.Frontier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands that change a shard, as a user meets them. */
class AdminCommandsTest {
  private static final Author BY =
      new Author(new WriterAttempt("orders", "2026-11-30T00:00:00Z", "1", "here"), "append");

  @TempDir private Path folder;

  private String shard = "";
  private ObjectStore store;

  @BeforeEach
  void makeAShard() throws Exception {
    shard = folder.resolve("orders").toString();
    store = Stores.open("file://" + shard, new StoreSettings(Map.of()));
    Schema schema = Schema.parse("id BIGINT NOT NULL, PRIMARY KEY (id) NOT ENFORCED", 1);
    CommitResult created =
        new ShardLog(store).commit(new Command.Create("id-1", schema, SpineSpec.DEFAULT), BY);
    assertThat(created).isInstanceOf(CommitResult.Committed.class);
  }

  @AfterEach
  void close() {
    store.close();
  }

  private void refused(int code, String message, String... words) {
    Said said = say(words);
    assertThat(said.code()).as(String.join(" ", words)).isEqualTo(code);
    assertThat(said.err()).contains(message).hasLineCount(1);
  }

  @Test
  void theSpecIsAlteredKnobByKnob() throws Exception {
    assertThat(say("alter", shard, "--spec", "queue=32,base-bytes=2 MiB", "--merging", "off"))
        .isEqualTo(
            new Said(
                0,
                shard
                    + ": alter is version 2\n"
                    + shard
                    + ": about 32 appends are left at 1 run each (level 0 counts 0 of at most 32 runs);"
                    + " then they wait until merging is on\n",
                ""));
    SpineSpec spec = new ShardLog(store).refresh().spec();
    assertThat(spec).isEqualTo(new SpineSpec(8, 32, 24, 2 << 20, 2.0, false));
    assertThat(say("alter", shard, "--merging", "off", "--json").out())
        .contains("\"committed\":false")
        .contains("\"seqno\":2")
        .contains("\"appendsLeft\":32,\"runsAnAppend\":1");
    refused(Exit.NO, "queue is 3", "alter", shard, "--spec", "queue=3");
    refused(Exit.USAGE, "no knob speed", "alter", shard, "--spec", "speed=3");
    refused(Exit.USAGE, "is no such number", "alter", shard, "--spec", "queue=many");
    refused(Exit.USAGE, "write on or off", "alter", shard, "--merging", "maybe");
    refused(Exit.USAGE, "alter what?", "alter", shard);
    assertThat(say("alter", shard, "--merging", "on").out())
        .isEqualTo(shard + ": alter is version 3\n");
    assertThat(new ShardLog(store).refresh().spec().merging()).isTrue();
  }

  @Test
  void aSpecIsTurnedAround() throws Exception {
    String prices =
        Files.writeString(
                folder.resolve("prices.yaml"),
                "put-per-thousand: 0.005\nget-per-thousand: 0.0004\ngb-month: 0.023\n")
            .toString();
    Said bounds = say("spec", "--rate", "1 MiB", "--prices", prices);
    assertThat(bounds.err()).isEmpty();
    assertThat(bounds.out())
        .contains("fan-in=8,queue=16,rest=24", "write amplification at most", "PUT", "merges must");
    assertThat(say("spec", "--rate", "1 MiB", "--prices", prices, "--json").out())
        .startsWith("{\"spec\":{\"fanIn\":8,")
        .contains("\"month\":{\"shards\":1,\"commits\":259200,");
    assertThat(
            say("spec", "--rows", "1000", "--max-writes", "9", "--prices", prices, "--json").out())
        .contains("\"bounds\":{\"runs\":");
    refused(
        Exit.NO,
        "no solution: runs at most 3: for this load the least is",
        "spec",
        "--rate",
        "1 MiB",
        "--max-runs",
        "3",
        "--prices",
        prices);
    refused(
        Exit.NO,
        "no solution: a fresh batch may have half",
        "spec",
        "--rate",
        "1 MiB",
        "--runs",
        "5",
        "--prices",
        prices);
    refused(Exit.USAGE, "how much is appended?", "spec");
    refused(Exit.USAGE, "the unit is missing", "spec", "--rate", "5");
    refused(
        Exit.USAGE,
        "--spec: queue is 3",
        "spec",
        "--rate",
        "1 B",
        "--spec",
        "queue=3",
        "--prices",
        prices);
    refused(
        Exit.USAGE,
        "not both",
        "spec",
        "--rate",
        "1 B",
        "--spec",
        "queue=32",
        "--max-runs",
        "3",
        "--prices",
        prices);
  }

  @Test
  void aReportIsOnePageThatNeedsNothingElse() throws Exception {
    String prices =
        Files.writeString(
                folder.resolve("prices.yaml"),
                "put-per-thousand: 0.005\nget-per-thousand: 0.0004\ngb-month: 0.023\n")
            .toString();
    assertThat(say("alter", shard, "--spec", "queue=32").code()).isZero();
    Path page = folder.resolve("page.html");
    assertThat(say("report", shard, "--out", page.toString(), "--prices", prices))
        .isEqualTo(new Said(0, page + ": versions 1 to 2\n", ""));
    assertThat(Files.readString(page))
        .startsWith("<!DOCTYPE html>")
        .contains("Runs by level", "Write amplification", "<svg", "</html>", "A month costs")
        .doesNotContain("http://", "https://", "<script", "src=", "NaN");
    assertThat(say("report", shard, "--json", "--prices", prices).out())
        .contains("\"from\":1,\"to\":2", "\"runsBound\":64", "\"dollarsAMonth\":{");
    assertThat(ReportPage.escaped("<a href='x'>\"&"))
        .isEqualTo("&lt;a href=&#39;x&#39;&gt;&quot;&amp;");
    refused(Exit.USAGE, "where to?", "report", shard);
    refused(
        Exit.USAGE,
        "name a file in a folder",
        "report",
        shard,
        "--out",
        folder.resolve("no/page.html").toString(),
        "--prices",
        prices);
  }

  @Test
  void aShardIsHandedOverHeldSealedAndRetired() throws Exception {
    assertThat(say("hand-over", shard, "--writer", "blue").out())
        .contains("hand-over is version 2");
    assertThat(
            say("hand-over", "--warehouse", folder.toString(), "--all", "--writer", "blue").out())
        .contains("orders: nothing to do");
    refused(Exit.USAGE, "name shards", "hand-over", "--writer", "blue");

    Hold hold = new Hold(new SeqNo(1), Frontier.of(5), 900_000, "a report", "far away");
    String id = new Holds(new ShardLog(store)).create(hold).id();
    assertThat(say("holds", shard).out()).contains(id, "a report", "far away");
    assertThat(say("inspect", shard).out()).contains("a report on far away");
    assertThat(say("inspect", shard, "--json").out()).contains("\"purpose\":\"a report\"");
    refused(Exit.NO, "is held by " + id, "retire", shard);
    refused(Exit.USAGE, "no hold nobody", "holds", shard, "--drop", "nobody");

    assertThat(say("seal", shard).out()).contains("seal is version 3");
    assertThat(say("seal", shard).out()).contains("nothing to do, the shard is sealed already");
    assertThat(say("holds", shard, "--drop", id).code()).isZero();
    assertThat(say("retire", shard).out()).contains("retire is version 4");
    refused(Exit.NO, "retired", "alter", shard, "--merging", "off");
    refused(Exit.NO, "retired", "snapshot", shard);
  }

  @Test
  void garbageIsShownAndCollected() throws Exception {
    store.put("part/2020-01-01/orphan.parquet", Body.of(new byte[7]));
    assertThat(say("usage", folder.toString()).out()).contains("orders", "orphans");
    assertThat(say("usage", shard, "--json").out())
        .contains("\"orphans\":{\"objects\":1,\"bytes\":7}")
        .contains("{\"cause\":\"create\",\"versions\":1,\"puts\":1,\"gets\":0}")
        .contains("\"dollarsAMonth\":{\"storage\":", "\"requests\":null}");
    assertThat(say("usage", shard).out())
        .contains("$ a month", "create, 1 version ", "too little to reckon a month's requests by");
    assertThat(say("gc", shard, "--dry-run").out()).contains("would delete").contains("1 orphan,");
    assertThat(store.list("part/", "", 10)).hasSize(1);
    assertThat(say("gc", shard, "--keep-orphans", "--json").out()).contains("\"orphansDeleted\":0");
    assertThat(say("gc", shard, "--json").out()).contains("\"orphansDeleted\":1");
    assertThat(store.list("part/", "", 10)).isEmpty();
    refused(Exit.USAGE, "must be from", "gc", shard, "--keep", "1 s");
    assertThat(say("gc", shard, "--keep", "1 s", "--unsafe").code()).isZero();
    refused(Exit.USAGE, "hold.expiry", "snapshot", shard, "--as-of", "1", "--hold.expiry", "1 s");
    refused(Exit.USAGE, "must be from", "gc", shard, "--orphan-age", "1 h");
    refused(Exit.USAGE, "--keep", "gc", shard, "--keep", "5");
  }

  @Test
  @DisplayName("P-OP-04: gc without the right to list uploads warns, naming it, and is done")
  void gcWithoutTheRightToListUploadsIsDone() throws Exception {
    MemoryStore memory = new MemoryStore("no-uploads");
    Stores.putMemory(
        "no-uploads",
        new ForwardingStore(memory) {
          @Override
          public int dropUploads(String prefix, Instant before, int limit) throws StoreException {
            throw new StoreException(
                StoreException.Reason.DENIED, false, "needs s3:ListBucketMultipartUploads", null);
          }
        });
    ObjectStore uploadsDenied = Stores.open("memory:no-uploads/orders", StoreSettings.DEFAULT);
    Schema schema = Schema.parse("id BIGINT NOT NULL", 1);
    CommitResult created =
        new ShardLog(uploadsDenied)
            .commit(new Command.Create("id-2", schema, SpineSpec.DEFAULT), BY);
    assertThat(created).isInstanceOf(CommitResult.Committed.class);
    uploadsDenied.put("part/2020-01-01/orphan.parquet", Body.of(new byte[7]));
    Said said = say("gc", "memory:no-uploads/orders");
    assertThat(said.code()).isZero();
    assertThat(said.out()).contains("1 orphan,");
    assertThat(said.err())
        .contains("unfinished uploads stay", "s3:ListBucketMultipartUploads")
        .hasLineCount(1);
    assertThat(say("gc", "memory:no-uploads/orders", "--json").out())
        .contains("\"uploadsDenied\":\"needs s3:ListBucketMultipartUploads\"");
  }

  @Test
  void errorRowsAreForgottenOnDemandOnly() {
    assertThat(say("errors", shard, "--forget", "--before", "1000").out())
        .contains("nothing to do");
    refused(Exit.USAGE, "go together", "errors", shard, "--forget");
  }
}
