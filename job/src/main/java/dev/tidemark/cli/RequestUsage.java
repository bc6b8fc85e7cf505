package dev.tidemark.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tidemark.log.LogEntry;
import dev.tidemark.log.ShardLog;
import dev.tidemark.shard.Fact;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.PartLocation;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;

/**
 * The requests that a shard's newest versions stand for, by cause: a PUT for each entry and each
 * part that it brought, a GET for each part that a merge read. What readers and lost races ask for
 * is in no log.
 *
 * @param causes by command
 * @param span from the first of the versions to the last, by the clocks of who wrote them
 */
record RequestUsage(Map<String, Requests> causes, Duration span) {
  /** Versions looked at: some hours of a busy shard. */
  private static final int MOST_VERSIONS = 1024;

  private static final Duration MONTH = Duration.ofDays(30);

  /** What a shorter time says of a month is noise: a load or a demo is over in seconds. */
  private static final Duration LEAST_SPAN = Duration.ofMinutes(10);

  /** What to say then. */
  static final String TOO_SHORT =
      "the log tells of less than "
          + LEAST_SPAN.toMinutes()
          + " min, too little to reckon a month's requests by";

  /** How many. */
  record Requests(long versions, long puts, long gets) {
    private static Requests sum(Requests one, Requests other) {
      return new Requests(
          one.versions + other.versions, one.puts + other.puts, one.gets + other.gets);
    }
  }

  static RequestUsage of(ShardLog log, ShardState state) throws IOException {
    long oldest = log.oldestEntry().map(SeqNo::value).orElse(1L);
    long from = Math.max(oldest, state.seqno().value() - MOST_VERSIONS + 1);
    List<LogEntry> entries = log.entries(new SeqNo(from), MOST_VERSIONS);
    Map<String, Requests> causes = new TreeMap<>();
    for (LogEntry entry : entries) {
      boolean merge = entry.command().equals("install");
      long gets = merge ? parts(entry.diff().remove()) : 0;
      boolean uploads = merge || entry.command().equals("append");
      long puts = 1 + (uploads ? parts(entry.diff().add()) : 0);
      causes.merge(entry.command(), new Requests(1, puts, gets), Requests::sum);
    }
    Duration span =
        entries.isEmpty()
            ? Duration.ZERO
            : between(entries.get(0).at(), entries.get(entries.size() - 1).at());
    return new RequestUsage(causes, span);
  }

  private static Duration between(String first, String last) {
    try {
      Duration span = Duration.between(Instant.parse(first), Instant.parse(last));
      return span.isNegative() ? Duration.ZERO : span;
    } catch (DateTimeException e) {
      return Duration.ZERO; // the times are for people only, and nobody checked them
    }
  }

  private static long parts(List<Fact> facts) {
    long stored = 0;
    for (Fact fact : facts) {
      if (fact instanceof Fact.BatchFact batch) {
        stored += stored(batch.batch());
      }
    }
    return stored;
  }

  private static long stored(Batch batch) {
    long stored = batch.errors().stream().filter(RequestUsage::isStored).count();
    for (List<Part> run : batch.runs()) {
      stored += run.stream().filter(RequestUsage::isStored).count();
    }
    return stored;
  }

  private static boolean isStored(Part part) {
    return part.location() instanceof PartLocation.Stored;
  }

  /** Puts the causes into a JSON object, as {@code requests}. */
  void putCauses(ObjectNode node) {
    ArrayNode list = node.putArray("requests");
    causes.forEach(
        (cause, of) ->
            list.addObject()
                .put("cause", cause)
                .put("versions", of.versions())
                .put("puts", of.puts())
                .put("gets", of.gets()));
  }

  /** Dollars for all of them. */
  double dollars(Prices prices) {
    return causes.values().stream()
        .mapToDouble(requests -> prices.requests(requests.puts(), requests.gets()))
        .sum();
  }

  /** Dollars for a month that goes on like the span; none where that is too short to tell. */
  OptionalDouble month(Prices prices) {
    return span.compareTo(LEAST_SPAN) < 0
        ? OptionalDouble.empty()
        : OptionalDouble.of(dollars(prices) * MONTH.toMillis() / span.toMillis());
  }

  /** Puts what a month costs into a JSON object; requests: null when that can't be told. */
  void putDollars(ObjectNode node, Prices prices, long storedBytes) {
    ObjectNode dollars = node.putObject("dollarsAMonth");
    dollars.put("storage", prices.month(storedBytes));
    OptionalDouble month = month(prices);
    if (month.isPresent()) {
      dollars.put("requests", month.getAsDouble());
    } else {
      dollars.putNull("requests");
    }
  }
}
