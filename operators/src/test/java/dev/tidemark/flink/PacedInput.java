package dev.tidemark.flink;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.connector.source.SplitsAssignment;
import org.apache.flink.api.java.typeutils.ResultTypeQueryable;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * Numbers that come by the clock, in several splits, until the test says where they end: so a test
 * that waits for something can wait as long as it takes, and knows afterwards what was read. All
 * splits of a reader go on side by side, each with a watermark of its own.
 */
final class PacedInput
    implements Source<Long, PacedInput.Split, long[]>, ResultTypeQueryable<Long> {
  private static final long serialVersionUID = 1L;

  /** A number is its split's, above this many bits, and its place in the split. */
  private static final int PLACE_BITS = 40;

  /** By how many numbers a split is behind the one before it: their rows wait for it. */
  static final long LAG = 20;

  private static final long WAIT_MILLIS = 1;
  private static final Executor LATER =
      CompletableFuture.delayedExecutor(WAIT_MILLIS, TimeUnit.MILLISECONDS);

  private static final Map<String, Pace> PACES = new ConcurrentHashMap<>();

  private final String name;
  private final int splits;

  /**
   * The numbers of a run.
   *
   * @param name of the run, by which its pace is found
   */
  PacedInput(String name, int splits) {
    this.name = name;
    this.splits = splits;
  }

  /** How far the splits may be read; one for a run, over all its restarts. */
  static final class Pace {
    private final double perMilli;
    private final long begun = System.nanoTime();
    private volatile long end = Long.MAX_VALUE;
    private volatile long first;
    private volatile long ahead;
    private volatile boolean doomed;

    Pace(double perMilli) {
      this.perMilli = perMilli;
    }

    /** How many numbers of each split may be read by now. */
    long allowed() {
      return Math.min(end, ahead + (long) ((System.nanoTime() - begun) / 1e6 * perMilli));
    }

    /** How many numbers of a split: each is a little behind the one before it. */
    private long allowed(int split) {
      return end != Long.MAX_VALUE && allowed() >= end ? end : allowed() - split * LAG;
    }

    /** Sets the clock on, for a job that was begun elsewhere. */
    void skipTo(long place) {
      ahead = place;
    }

    /** Where a job that begins without state begins to read. */
    void beginAt(long place) {
      first = place;
    }

    /** Lets the input end a little behind where it is. */
    long endSoon(long numbers) {
      end = allowed() + numbers;
      return end;
    }

    /** Lets the input go on. */
    void endLater() {
      end = Long.MAX_VALUE;
    }

    /** Whether the next reader that looks fails. */
    void doom(boolean now) {
      doomed = now;
    }
  }

  static Pace begin(String name, double perMilli) {
    Pace pace = new Pace(perMilli);
    PACES.put(name, pace);
    return pace;
  }

  static int split(long number) {
    return (int) (number >>> PLACE_BITS);
  }

  static long place(long number) {
    return number & ((1L << PLACE_BITS) - 1);
  }

  @Override
  public TypeInformation<Long> getProducedType() {
    return Types.LONG;
  }

  @Override
  public Boundedness getBoundedness() {
    return Boundedness.CONTINUOUS_UNBOUNDED;
  }

  @Override
  public SourceReader<Long, Split> createReader(SourceReaderContext context) {
    Killer.of(name).begins(false);
    return new Reader(name);
  }

  @Override
  public SplitEnumerator<Split, long[]> createEnumerator(SplitEnumeratorContext<Split> context) {
    List<Split> all = new ArrayList<>();
    for (int i = 0; i < splits; i++) {
      all.add(new Split(i, PACES.get(name).first));
    }
    return new Enumerator(context, all);
  }

  @Override
  public SplitEnumerator<Split, long[]> restoreEnumerator(
      SplitEnumeratorContext<Split> context, long[] state) {
    List<Split> left = new ArrayList<>();
    for (int i = 0; i < state.length; i += 2) {
      left.add(new Split((int) state[i], state[i + 1]));
    }
    return new Enumerator(context, left);
  }

  @Override
  public SimpleVersionedSerializer<Split> getSplitSerializer() {
    return new SplitSerializer();
  }

  @Override
  public SimpleVersionedSerializer<long[]> getEnumeratorCheckpointSerializer() {
    return new StateSerializer();
  }

  /** A split and the place that is read next. */
  record Split(int index, long next) implements SourceSplit {
    @Override
    public String splitId() {
      return Integer.toString(index);
    }
  }

  private static final class Reader implements SourceReader<Long, Split> {
    private final Pace pace;
    private final Map<Integer, Long> next = new TreeMap<>();
    private final Map<Integer, SourceOutput<Long>> outputs = new HashMap<>();
    private boolean noMore;
    private int turn;
    private CompletableFuture<Void> available = CompletableFuture.completedFuture(null);

    Reader(String name) {
      pace = PACES.get(name);
    }

    @Override
    public void start() {}

    @Override
    public InputStatus pollNext(ReaderOutput<Long> output) {
      if (pace.doomed) {
        throw new CountedRows.InjectedFailure();
      }
      List<Integer> mine = List.copyOf(next.keySet());
      for (int i = 0; i < mine.size(); i++) {
        int split = mine.get((turn + i) % mine.size());
        long place = next.get(split);
        if (place >= pace.end) {
          output.releaseOutputForSplit(Integer.toString(split));
          next.remove(split);
          return InputStatus.MORE_AVAILABLE;
        }
        if (place < pace.allowed(split)) {
          turn += i + 1;
          next.put(split, place + 1);
          outputs
              .computeIfAbsent(split, made -> output.createOutputForSplit(Integer.toString(made)))
              .collect((long) split << PLACE_BITS | place);
          return InputStatus.MORE_AVAILABLE;
        }
      }
      if (mine.isEmpty() && noMore) {
        return InputStatus.END_OF_INPUT;
      }
      available = CompletableFuture.runAsync(() -> {}, LATER);
      return InputStatus.NOTHING_AVAILABLE;
    }

    @Override
    public List<Split> snapshotState(long checkpoint) {
      List<Split> splits = new ArrayList<>();
      next.forEach((split, place) -> splits.add(new Split(split, place)));
      return splits;
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
      return available;
    }

    @Override
    public void addSplits(List<Split> splits) {
      splits.forEach(split -> next.put(split.index(), split.next()));
    }

    @Override
    public void notifyNoMoreSplits() {
      noMore = true;
    }

    @Override
    public void close() {}
  }

  /** Gives the splits out, in turn, once all readers are there. */
  private static final class Enumerator implements SplitEnumerator<Split, long[]> {
    private final SplitEnumeratorContext<Split> context;
    private final List<Split> left;

    Enumerator(SplitEnumeratorContext<Split> context, List<Split> left) {
      this.context = context;
      this.left = left;
    }

    @Override
    public void start() {}

    @Override
    public void handleSplitRequest(int subtask, String host) {}

    @Override
    public void addSplitsBack(List<Split> splits, int subtask) {
      left.addAll(splits);
    }

    @Override
    public void addReader(int subtask) {
      int readers = context.currentParallelism();
      if (context.registeredReaders().size() < readers) {
        return;
      }
      // at once: a reader that had one split and not yet the next would go on without its watermark
      Map<Integer, List<Split>> ofReaders = new HashMap<>();
      for (Split split : left) {
        ofReaders.computeIfAbsent(split.index() % readers, reader -> new ArrayList<>()).add(split);
      }
      context.assignSplits(new SplitsAssignment<>(ofReaders));
      left.clear();
      for (int reader = 0; reader < readers; reader++) {
        context.signalNoMoreSplits(reader);
      }
    }

    @Override
    public long[] snapshotState(long checkpoint) {
      return left.stream()
          .flatMapToLong(split -> java.util.stream.LongStream.of(split.index(), split.next()))
          .toArray();
    }

    @Override
    public void close() {}
  }

  private static final class SplitSerializer implements SimpleVersionedSerializer<Split> {
    @Override
    public int getVersion() {
      return 1;
    }

    @Override
    public byte[] serialize(Split split) {
      return ByteBuffer.allocate(12).putInt(split.index()).putLong(split.next()).array();
    }

    @Override
    public Split deserialize(int version, byte[] bytes) {
      ByteBuffer in = ByteBuffer.wrap(bytes);
      return new Split(in.getInt(), in.getLong());
    }
  }

  private static final class StateSerializer implements SimpleVersionedSerializer<long[]> {
    @Override
    public int getVersion() {
      return 1;
    }

    @Override
    public byte[] serialize(long[] state) throws IOException {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      DataOutputStream out = new DataOutputStream(bytes);
      for (long value : state) {
        out.writeLong(value);
      }
      return bytes.toByteArray();
    }

    @Override
    public long[] deserialize(int version, byte[] bytes) {
      long[] state = new long[bytes.length / Long.BYTES];
      ByteBuffer.wrap(bytes).asLongBuffer().get(state);
      return state;
    }
  }
}
