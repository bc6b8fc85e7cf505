package dev.tidemark.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tidemark.log.LogEntry;
import dev.tidemark.log.ShardLog;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What a report shows: a point for each version that can still be told, the newest few thousand.
 *
 * @param url where the shard lies
 * @param last its newest state
 * @param points one a version, oldest first
 * @param requests of the newest versions
 * @param prices what the store bills
 */
record ReportData(
    String url, ShardState last, List<Point> points, RequestUsage requests, Prices prices) {
  /** Each version is a request. */
  private static final int MOST_VERSIONS = 4096;

  /**
   * A version.
   *
   * @param seqno its number
   * @param at when it was made by its writer's clock, milliseconds; empty when that can't be read
   * @param command what was asked
   * @param levels runs by level
   * @param figures runs and amplifications against their bounds
   * @param bytes row bytes of all batches
   * @param stored bytes of the objects that it names
   */
  record Point(
      long seqno,
      Optional<Long> at,
      String command,
      Map<Integer, Integer> levels,
      SpineFigures figures,
      long bytes,
      long stored) {}

  /** Copies the list. */
  ReportData {
    points = List.copyOf(points);
  }

  static ReportData of(String url, ShardLog log, ShardState last, Prices prices)
      throws IOException {
    long head = last.seqno().value();
    long from = Math.max(1, head - MOST_VERSIONS + 1);
    ShardState state = start(log, from);
    List<Point> points = new ArrayList<>();
    while (state.seqno().value() < head) {
      int most = (int) Math.min(256, head - state.seqno().value());
      List<LogEntry> entries = log.entries(state.seqno().next(), most);
      if (entries.isEmpty()) {
        break; // collected meanwhile: the page shows what could be read
      }
      for (LogEntry entry : entries) {
        state = ShardLog.replay(state, entry);
        if (state.seqno().value() >= from) {
          points.add(point(state, entry));
        }
      }
    }
    return new ReportData(url, last, points, RequestUsage.of(log, last), prices);
  }

  /** The newest state before {@code from} that the log goes on from, else the oldest behind it. */
  private static ShardState start(ShardLog log, long from) throws IOException {
    long oldest = log.oldestEntry().map(SeqNo::value).orElse(1L);
    ShardState best = ShardState.EMPTY;
    for (SeqNo seqno : log.rollups()) {
      boolean goesOn = seqno.value() + 1 >= oldest;
      boolean later = seqno.value() >= from && (best.exists() || oldest <= 1);
      if (goesOn && !later) {
        best = log.rollup(seqno).orElse(best);
      }
    }
    return best;
  }

  private static Point point(ShardState state, LogEntry entry) {
    Map<Integer, Integer> levels = new TreeMap<>();
    for (Batch batch : state.batches()) {
      levels.merge(batch.level(), batch.runCount(), Integer::sum);
    }
    Optional<Long> at;
    try {
      at = Optional.of(Instant.parse(entry.at()).toEpochMilli());
    } catch (DateTimeException e) {
      at = Optional.empty(); // for people only: nobody checked it
    }
    return new Point(
        state.seqno().value(),
        at,
        entry.command(),
        levels,
        SpineFigures.of(state),
        state.batches().stream().mapToLong(Batch::bytes).sum(),
        ShardPortrait.storedBytes(state));
  }

  long from() {
    return points.isEmpty() ? last.seqno().value() : points.get(0).seqno();
  }

  long to() {
    return points.isEmpty() ? last.seqno().value() : points.get(points.size() - 1).seqno();
  }

  /** A commit's distance from the one before it. */
  record Interval(long seqno, double seconds) {}

  /** From each append to the next, by their writers' clocks. */
  List<Interval> commitIntervals() {
    List<Interval> intervals = new ArrayList<>();
    Optional<Long> before = Optional.empty();
    for (Point point : points) {
      if (point.command().equals("append") && point.at().isPresent()) {
        if (before.isPresent() && point.at().get() >= before.get()) {
          intervals.add(new Interval(point.seqno(), (point.at().get() - before.get()) / 1000.0));
        }
        before = point.at();
      }
    }
    return intervals;
  }

  ObjectNode json() {
    ObjectNode node = Json.object();
    node.put("shard", url).put("id", last.shard()).put("from", from()).put("to", to());
    ArrayNode list = node.putArray("versions");
    for (Point point : points) {
      ObjectNode one = list.addObject().put("seqno", point.seqno());
      point.at().ifPresent(at -> one.put("at", at));
      one.put("command", point.command());
      ObjectNode levels = one.putObject("levels");
      point.levels().forEach((level, runs) -> levels.put(level.toString(), runs));
      SpineFigures figures = point.figures();
      one.put("runs", figures.runs()).put("runsBound", figures.runsBound());
      figures
          .writeAmplification()
          .ifPresent(
              now ->
                  one.put("writeAmplification", ShardPortrait.rounded(now))
                      .put("writeAmplificationBound", ShardPortrait.rounded(figures.writeBound())));
      one.put("spaceAmplification", ShardPortrait.rounded(figures.spaceAmplification()));
      one.put("spaceAmplificationBound", ShardPortrait.rounded(figures.spaceBound()));
      one.put("bytes", point.bytes()).put("stored", point.stored());
    }
    requests.putCauses(node);
    requests.putDollars(node, prices, ShardPortrait.storedBytes(last));
    return node;
  }
}
