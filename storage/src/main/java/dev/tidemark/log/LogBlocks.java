package dev.tidemark.log;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.tidemark.shard.SeqNo;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.ObjectStore;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * The log as garbage collection sees it: blocks of versions that are deleted together. Before
 * anything of a block is deleted its marker must be there; markers are made in ascending order and
 * stay for ever, so the number after the greatest is the first block that is open.
 */
public final class LogBlocks {
  private static final int PAGE = 1000;

  private final ObjectStore store;
  private final LogFiles files;
  private final LogIntervals intervals;
  private long open;

  LogBlocks(ObjectStore store, LogFiles files, LogIntervals intervals) {
    this.store = store;
    this.files = files;
    this.intervals = intervals;
  }

  /**
   * An entry as a listing shows it.
   *
   * @param seqno its version
   * @param modified when it was written, by the store's clock
   * @param sizeBytes its length
   */
  public record Listed(SeqNo seqno, Instant modified, long sizeBytes) {}

  /** The first block that isn't closed, as the store says now. */
  public long firstOpen() throws IOException {
    while (true) {
      String after = open == 0 ? "" : LogFiles.closedKey(open - 1);
      List<ObjectInfo> page = files.patiently(() -> store.list("log/closed/", after, PAGE));
      for (ObjectInfo marker : page) {
        OptionalLong block = LogFiles.closedBlock(marker.key());
        if (block.isPresent()) {
          open = Math.max(open, block.getAsLong() + 1);
        }
      }
      if (page.size() < PAGE) {
        return open;
      }
    }
  }

  /** The block that a version lies in. */
  public long blockOf(SeqNo seqno) {
    return seqno.value() / intervals.block();
  }

  /** The first version of a block; 1 in the first. */
  public SeqNo first(long block) {
    return new SeqNo(Math.max(1, block * intervals.block()));
  }

  /** The last version of a block. */
  public SeqNo last(long block) {
    return new SeqNo((block + 1) * intervals.block() - 1);
  }

  /** Whether the block that a version lies in is closed, as the store says now. */
  public boolean closed(SeqNo seqno) throws IOException {
    return files.closed(seqno);
  }

  /**
   * Makes the marker of the first open block; when this returns it is certainly there.
   *
   * @throws IllegalStateException when an earlier block is open, or isn't known to be closed
   */
  public void close(long block) throws IOException {
    if (block != open) {
      throw new IllegalStateException("block " + block + " is not the next to close: " + open);
    }
    String key = LogFiles.closedKey(block);
    byte[] body = ("{\"format\":\"" + LogCodec.FORMAT + "\"}").getBytes(UTF_8);
    files.patiently(() -> store.putIfAbsent(key, body));
    open = block + 1;
  }

  /** The entries after {@code after} that are listed, oldest first, at most {@code most}. */
  public List<Listed> listedAfter(SeqNo after, int most) throws IOException {
    List<Listed> listed = new ArrayList<>();
    String from = LogFiles.entryKey(after);
    while (listed.size() < most) {
      String start = from;
      int limit = Math.min(PAGE, most - listed.size());
      List<ObjectInfo> page = files.patiently(() -> store.list("log/", start, limit));
      for (ObjectInfo object : page) {
        OptionalLong number = LogFiles.number(object.key());
        if (number.isPresent()) {
          SeqNo seqno = new SeqNo(number.getAsLong());
          listed.add(new Listed(seqno, object.modified(), object.sizeBytes()));
        }
      }
      if (page.size() < limit) {
        break;
      }
      from = page.get(page.size() - 1).key();
    }
    return listed;
  }

  /**
   * The keys of closed blocks that are still or again there, strays included, at most {@code most}.
   */
  public List<String> leftovers(int most) throws IOException {
    String end = LogFiles.entryKey(first(open));
    List<String> keys = new ArrayList<>();
    if (open == 0) {
      return keys;
    }
    String from = "";
    while (keys.size() < most) {
      String start = from;
      List<ObjectInfo> page = files.patiently(() -> store.list("log/", start, PAGE));
      for (ObjectInfo object : page) {
        if (object.key().compareTo(end) >= 0 || keys.size() == most) {
          return keys;
        }
        if (LogFiles.number(object.key()).isPresent()) {
          keys.add(object.key());
        }
      }
      if (page.size() < PAGE) {
        break;
      }
      from = page.get(page.size() - 1).key();
    }
    return keys;
  }

  /** The rollup that a version would have. */
  public static String rollupKey(SeqNo seqno) {
    return LogFiles.rollupKey(seqno);
  }
}
