package dev.tidemark.log;

import dev.tidemark.shard.SeqNo;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The names of a shard's log files, and reading them with patience. Knows nothing of their use. */
final class LogFiles {
  /** Tries that a request gets here, on top of the store's own. */
  static final int TRIES = 6;

  private static final long FIRST_PAUSE_MILLIS = 50;
  private static final long LONGEST_PAUSE_MILLIS = 5_000;
  private static final int PAGE = 1000;
  private static final Pattern NUMBERED = Pattern.compile("(?:log|rollup)/([0-9]{20})\\.json");

  private static final Pattern MARKER = Pattern.compile("log/closed/([0-9]{10})\\.json");

  private final ObjectStore store;
  private final Pacing pacing;
  private final LogIntervals intervals;

  LogFiles(ObjectStore store, Pacing pacing, LogIntervals intervals) {
    this.store = store;
    this.pacing = pacing;
    this.intervals = intervals;
  }

  static String entryKey(SeqNo seqno) {
    return "log/" + padded(seqno.value(), 20) + ".json";
  }

  static String rollupKey(SeqNo seqno) {
    return "rollup/" + padded(seqno.value(), 20) + ".json";
  }

  /** The marker of a block. */
  static String closedKey(long block) {
    return "log/closed/" + padded(block, 10) + ".json";
  }

  /** In ASCII digits, whatever the host's locale writes numbers with. */
  private static String padded(long number, int digits) {
    String plain = Long.toString(number);
    return "0".repeat(Math.max(0, digits - plain.length())) + plain;
  }

  /** The version that an entry or a rollup is of; empty for all other keys. */
  static OptionalLong number(String key) {
    return number(NUMBERED.matcher(key));
  }

  /** The block that a marker is of; empty for all other keys. */
  static OptionalLong closedBlock(String key) {
    return number(MARKER.matcher(key));
  }

  private static OptionalLong number(Matcher matcher) {
    if (matcher.matches()) {
      try {
        return OptionalLong.of(Long.parseLong(matcher.group(1)));
      } catch (NumberFormatException e) {
        return OptionalLong.empty(); // twenty digits can say more than 64 bits hold
      }
    }
    return OptionalLong.empty();
  }

  /** A request that only reads. */
  interface Request<T> {
    T ask() throws StoreException;
  }

  <T> T patiently(Request<T> request) throws IOException {
    for (int tried = 1; ; tried++) {
      try {
        return request.ask();
      } catch (StoreException e) {
        if (!e.retryable() || tried == TRIES) {
          throw e;
        }
      }
      backOff(tried);
    }
  }

  /** Waits before try {@code tried + 1}: at random up to a bound that doubles. */
  void backOff(int tried) throws InterruptedIOException {
    long most = Math.min(LONGEST_PAUSE_MILLIS, FIRST_PAUSE_MILLIS << Math.min(tried - 1, 10));
    pacing.pause(Math.floorMod(pacing.random(), most) + 1);
  }

  Optional<byte[]> get(String key) throws IOException {
    return patiently(() -> store.get(key));
  }

  /** Whether the block that {@code seqno} lies in may have been deleted. */
  boolean closed(SeqNo seqno) throws IOException {
    return get(closedKey(seqno.value() / intervals.block())).isPresent();
  }

  /** The bytes of {@code count} entries from {@code first} on, read side by side. */
  List<Optional<byte[]>> entries(SeqNo first, int count) throws IOException {
    List<Optional<byte[]>> read = new ArrayList<>();
    int threads = Math.min(count, pacing.sideBySide());
    if (threads <= 1) {
      for (int i = 0; i < count; i++) {
        read.add(get(entryKey(new SeqNo(first.value() + i))));
      }
      return read;
    }
    ExecutorService readers = Executors.newFixedThreadPool(threads, LogFiles::readerThread);
    try {
      List<Future<Optional<byte[]>>> asked = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        String key = entryKey(new SeqNo(first.value() + i));
        asked.add(readers.submit(() -> get(key)));
      }
      for (Future<Optional<byte[]>> answer : asked) {
        read.add(await(answer));
      }
      return read;
    } finally {
      readers.shutdownNow();
    }
  }

  /** The entry that these bytes, read from its key, are. */
  LogEntry decode(byte[] bytes, SeqNo seqno) throws LogFormatException {
    return LogCodec.decode(bytes, store.location() + "/" + entryKey(seqno));
  }

  private static Thread readerThread(Runnable work) {
    Thread thread = new Thread(work, "tidemark-log-reader");
    thread.setDaemon(true);
    return thread;
  }

  private static Optional<byte[]> await(Future<Optional<byte[]>> answer) throws IOException {
    try {
      return answer.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw (InterruptedIOException)
          new InterruptedIOException("interrupted while reading the log").initCause(e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof StoreException failure) {
        throw new StoreException(
            failure.reason(), failure.indeterminate(), String.valueOf(failure.getMessage()), e);
      }
      throw new IOException("reading the log failed: " + e.getCause(), e);
    }
  }

  /** The versions that rollups are listed for, oldest first. */
  List<SeqNo> rollups() throws IOException {
    return numbers("rollup/", "");
  }

  /** The versions after {@code after} that entries are listed for, oldest first. */
  List<SeqNo> entriesAfter(SeqNo after) throws IOException {
    return numbers("log/", entryKey(after));
  }

  /** The oldest version that an entry is listed for. */
  Optional<SeqNo> oldestEntry() throws IOException {
    for (ObjectInfo object : patiently(() -> store.list("log/", "", 1))) {
      OptionalLong number = number(object.key());
      if (number.isPresent()) {
        return Optional.of(new SeqNo(number.getAsLong()));
      }
    }
    return Optional.empty();
  }

  private List<SeqNo> numbers(String prefix, String startAfter) throws IOException {
    List<SeqNo> numbers = new ArrayList<>();
    String after = startAfter;
    while (true) {
      String from = after;
      List<ObjectInfo> page = patiently(() -> store.list(prefix, from, PAGE));
      for (ObjectInfo object : page) {
        OptionalLong number = number(object.key());
        if (number.isPresent()) {
          numbers.add(new SeqNo(number.getAsLong()));
        }
      }
      if (page.size() < PAGE) {
        return numbers;
      }
      after = page.get(page.size() - 1).key();
    }
  }
}
