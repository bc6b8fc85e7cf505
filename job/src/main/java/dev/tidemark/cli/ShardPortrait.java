package dev.tidemark.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tidemark.hold.Holds;
import dev.tidemark.job.Amounts;
import dev.tidemark.schema.Column;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.Fact;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.PartLocation;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.spine.Written;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A shard as {@code inspect} shows it; the JSON form is stable (docs/format.md).
 *
 * @param url where it lies
 * @param state its state
 * @param figures how it stands against its bounds
 * @param sizes what it takes
 * @param holds who holds it
 * @param now for the lag
 */
record ShardPortrait(
    String url,
    ShardState state,
    SpineFigures figures,
    Sizes sizes,
    List<Holds.Listed> holds,
    Instant now) {
  /**
   * Bytes in the store.
   *
   * @param parts parts that the state names
   * @param log versions
   * @param rollups rollups
   * @param garbage parts that the state doesn't name: merged away, on their way, or orphans
   */
  record Sizes(long parts, long log, long rollups, long garbage) {}

  private static final int PICTURE_WIDTH = 60;

  /** The bytes of the objects that a state names. */
  static long storedBytes(ShardState state) {
    return state.batches().stream()
        .flatMap(b -> Stream.concat(b.runs().stream().flatMap(List::stream), b.errors().stream()))
        .mapToLong(
            part -> part.location() instanceof PartLocation.Stored stored ? stored.sizeBytes() : 0)
        .sum();
  }

  /** The row bytes of full merges that nobody but a user wanted. */
  private long forced() {
    Written written = state.written();
    return written == null ? 0 : written.forced();
  }

  ObjectNode json() {
    ObjectNode node = Json.object();
    node.put("shard", url).put("id", state.shard()).put("format", state.format());
    node.put("seqno", state.seqno().value());
    Json.put(node, "upper", state.upper());
    Json.put(node, "since", state.since());
    node.put("sealed", state.upper().isEnd());
    schema(node.putObject("schema"));
    SpineSpec spec = state.spec();
    node.putObject("spec")
        .put("fanIn", spec.fanIn())
        .put("queue", spec.queue())
        .put("rest", spec.rest())
        .put("baseBytes", spec.baseBytes())
        .put("space", spec.space())
        .put("merging", spec.merging());
    ObjectNode bounds = node.putObject("bounds");
    bounds.putObject("runs").put("now", figures.runs()).put("bound", figures.runsBound());
    ObjectNode write = bounds.putObject("writeAmplification");
    figures
        .writeAmplification()
        .ifPresentOrElse(now -> write.put("now", rounded(now)), () -> write.putNull("now"));
    if (figures.writeAmplification().isPresent()) {
      write.put("bound", rounded(figures.writeBound()));
    } else {
      write.putNull("bound");
    }
    if (forced() > 0) {
      write.put("forcedBytes", forced());
    }
    bounds
        .putObject("spaceAmplification")
        .put("now", rounded(figures.spaceAmplification()))
        .put("bound", rounded(figures.spaceBound()));
    levels(node.putArray("levels"));
    ArrayNode inMerge = node.putArray("inMerge");
    if (state.consolidating() != null) {
      state.batches().stream()
          .filter(b -> b.bounds().lower().isBefore(state.consolidating()))
          .forEach(b -> inMerge.add(b.id()));
    }
    ArrayNode held = node.putArray("holds");
    for (Holds.Listed hold : holds) {
      ObjectNode one = held.addObject().put("id", hold.id());
      Json.put(one, "since", hold.hold().since());
      one.put("purpose", hold.hold().purpose()).put("host", hold.hold().host());
      one.put("expires", Times.text(hold.expires().toEpochMilli()));
    }
    ArrayNode writers = node.putArray("writers");
    for (Fact.WriterFact writer : state.writers().values()) {
      ObjectNode one = writers.addObject().put("id", writer.by().writer());
      Json.put(one, "upto", writer.upto());
      one.put("host", writer.by().host()).put("started", writer.by().started());
      one.put("readOnly", writer.readOnly());
    }
    node.putObject("sizes")
        .put("parts", sizes.parts())
        .put("log", sizes.log())
        .put("rollups", sizes.rollups())
        .put("garbage", sizes.garbage());
    node.put("errors", LsCommand.errors(state));
    return node;
  }

  private void schema(ObjectNode node) {
    Schema schema = state.schema();
    node.put("id", schema.id());
    ArrayNode columns = node.putArray("columns");
    for (Column column : schema.columns()) {
      columns
          .addObject()
          .put("id", column.id())
          .put("name", column.name())
          .put("type", column.type().withNullable(true).toString())
          .put("nullable", column.type().nullable());
    }
    schema.key().forEach(node.putArray("key")::add);
  }

  private void levels(ArrayNode levels) {
    byLevel()
        .forEach(
            (level, batches) -> {
              ObjectNode node = levels.addObject();
              node.put("level", level)
                  .put("runs", batches.stream().mapToInt(Batch::runCount).sum())
                  .put("bytes", batches.stream().mapToLong(Batch::bytes).sum());
              ArrayNode list = node.putArray("batches");
              for (Batch batch : batches) {
                ObjectNode one = list.addObject().put("id", batch.id());
                Json.put(one, "lower", batch.bounds().lower());
                Json.put(one, "upper", batch.bounds().upper());
                one.put("rows", batch.rows())
                    .put("bytes", batch.bytes())
                    .put("runs", batch.runCount())
                    .put("cut", batch.cut());
              }
            });
  }

  /** Highest level first, and in each the oldest batch first: from old to new. */
  private Map<Integer, List<Batch>> byLevel() {
    return state.batches().stream()
        .collect(
            Collectors.groupingBy(
                Batch::level, () -> new TreeMap<>(Comparator.reverseOrder()), Collectors.toList()));
  }

  List<String> text() {
    List<String> lines = new ArrayList<>();
    SpineSpec spec = state.spec();
    lines.add("shard      " + url + "   (id " + state.shard() + ", format " + state.format() + ")");
    lines.add("version    " + state.seqno());
    lines.add(
        "upper      " + Times.text(state.upper()) + "   lag " + Times.lag(state.upper(), now));
    lines.add("since      " + Times.text(state.since()));
    lines.add("schema " + pad(state.schema().id() + "", 4) + state.schema());
    lines.add(
        "spec       fan-in "
            + spec.fanIn()
            + ", queue "
            + spec.queue()
            + ", rest "
            + spec.rest()
            + ", base "
            + Amounts.text(spec.baseBytes())
            + ", space "
            + spec.space()
            + ", merging "
            + (spec.merging() ? "on" : "off"));
    lines.add("");
    lines.add("                     now      bound");
    lines.add(figure("runs", figures.runs() + "", figures.runsBound() + ""));
    lines.add(
        figure(
            "write amplif.",
            figures.writeAmplification().isPresent()
                ? oneDigit(figures.writeAmplification().getAsDouble())
                : "unknown",
            oneDigit(figures.writeBound())));
    if (forced() > 0) {
      lines.add("  full merges wrote " + Amounts.text(forced()) + ", which no bound speaks of");
    }
    lines.add(
        figure(
            "space amplif.",
            oneDigit(figures.spaceAmplification()),
            oneDigit(figures.spaceBound())));
    lines.add("");
    picture(lines);
    lines.add("");
    lines.add(
        "rows       "
            + String.format(Locale.ROOT, "%,d", LsCommand.rows(state))
            + "   errors "
            + LsCommand.errors(state));
    lines.add(
        "sizes      parts "
            + Amounts.text(sizes.parts())
            + ", log "
            + Amounts.text(sizes.log())
            + ", rollups "
            + Amounts.text(sizes.rollups())
            + ", garbage "
            + Amounts.text(sizes.garbage()));
    for (Fact.WriterFact writer : state.writers().values()) {
      lines.add(
          "writer     "
              + writer.by().writer()
              + " up to "
              + Times.text(writer.upto())
              + ", since "
              + writer.by().started()
              + " on "
              + writer.by().host()
              + (writer.readOnly() ? ", read-only" : ""));
    }
    for (Holds.Listed hold : holds) {
      lines.add(
          "hold       "
              + hold.id()
              + " from "
              + Times.text(hold.hold().since())
              + " for "
              + hold.hold().purpose()
              + " on "
              + hold.hold().host()
              + (now.isAfter(hold.expires())
                  ? ", expired"
                  : ", until " + Times.text(hold.expires().toEpochMilli())));
    }
    if (holds.isEmpty()) {
      lines.add("holds      none");
    }
    return lines;
  }

  /** The levels, old to new, each batch as wide as its share of the bytes. */
  private void picture(List<String> lines) {
    long all = Math.max(1, state.batches().stream().mapToLong(Batch::bytes).sum());
    lines.add("level   runs      bytes        rows   batches, oldest first, by share of the bytes");
    byLevel()
        .forEach(
            (level, batches) -> {
              StringBuilder line = new StringBuilder();
              for (Batch batch : batches) {
                int width = (int) Math.max(1, PICTURE_WIDTH * batch.bytes() / all);
                line.append('[')
                    .append((batch.runs().isEmpty() ? "." : batch.cut() ? "x" : "=").repeat(width))
                    .append(']');
              }
              lines.add(
                  String.format(
                      Locale.ROOT,
                      "%5d %6d %10s %,11d   %s",
                      level,
                      batches.stream().mapToInt(Batch::runCount).sum(),
                      Amounts.text(batches.stream().mapToLong(Batch::bytes).sum()),
                      batches.stream().mapToLong(Batch::rows).sum(),
                      line));
            });
  }

  private static String figure(String name, String now, String bound) {
    return pad(name, 15) + String.format(Locale.ROOT, "%9s  %9s", now, bound);
  }

  private static String pad(String text, int width) {
    return text + " ".repeat(Math.max(0, width - text.length()));
  }

  static String oneDigit(double number) {
    return Double.isNaN(number) ? "unknown" : String.format(Locale.ROOT, "%.1f", number);
  }

  static double rounded(double number) {
    return Math.round(number * 1000) / 1000.0;
  }
}
