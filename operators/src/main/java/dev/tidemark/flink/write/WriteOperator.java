package dev.tidemark.flink.write;

import dev.tidemark.flink.Attempts;
import dev.tidemark.flink.ShardHandle;
import dev.tidemark.flink.ShardHandles;
import dev.tidemark.flink.StateSchemas;
import dev.tidemark.flink.Workers;
import dev.tidemark.flink.message.Update;
import dev.tidemark.flink.message.WrittenBatch;
import dev.tidemark.log.Author;
import dev.tidemark.part.PartStore;
import dev.tidemark.schema.Schema;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.io.File;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Stream;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects rows by slot and, when a description closes, lets those below its upper leave as one
 * sorted run a slot. What memory has no room for lies on disk until the barrier. Input 1: rows,
 * keyed by slot. Input 2: descriptions, to every subtask.
 *
 * <ol>
 *   <li>Descriptions close in order, one at a time; each batch lies within one description.
 *   <li>A description closes once the rows' own watermark has passed it, or before a barrier: an
 *       aligned barrier proves that its rows are in, whatever the watermark says.
 *   <li>No description is open at a barrier; rows that wait for later ones are in keyed state then.
 *   <li>What is emitted is uploaded.
 *   <li>With commit = frontier a row keeps its own time or doesn't enter ({@link Arrival}).
 * </ol>
 */
public final class WriteOperator extends AbstractStreamOperator<WrittenBatch>
    implements TwoInputStreamOperator<Update, BatchDescription, WrittenBatch> {
  private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(WriteOperator.class);

  /** Uploads at the same time in a subtask: enough to hide a store's latency, few in memory. */
  private static final int UPLOADS = 4;

  /** Small uploads at the same time: of many shards each has one, and waits for the store only. */
  private static final int SMALL_UPLOADS = 32;

  /** What a slot lets leave up to this is small. */
  private static final long SMALL_BYTES = 1 << 20;

  private final WriteOptions options;

  private transient MailboxExecutor mailbox;
  private transient HeldRows heldRows;
  private transient HeldRows heldErrors;
  private transient StateSchemas schemas;
  private transient BroadcastState<Integer, Long> closedState;
  private transient LeftOut leftOut;
  private transient SpillFolder folder;
  private transient ExecutorService executor;
  private transient ExecutorService smallExecutor;
  private transient Author author;
  private transient List<ShardHandle> handles;
  private transient List<LongCounter> staged;
  private transient List<LongCounter> retimed;

  private transient Slots slots;
  private transient OpenDescriptions open;
  private transient @Nullable Arrivals arrivals;
  private transient @Nullable Closing closing;
  private transient Frontier passed;

  /** A shard as its handle has it. */
  private record HandledShard(ShardHandle handle, Author author) implements CloseSlot.Shard {
    @Override
    public Schema schema() throws IOException {
      return handle.schema(author);
    }

    @Override
    public PartStore parts() throws IOException {
      return handle.parts(author);
    }
  }

  /** A description on its way out. */
  private static final class Closing {
    final BatchDescription description;
    final List<WrittenBatch> batches = new ArrayList<>();
    int running;

    Closing(BatchDescription description) {
      this.description = description;
    }
  }

  /** For these shards. */
  public WriteOperator(WriteOptions options) {
    this.options = options;
  }

  @Override
  public void setMailboxExecutor(MailboxExecutor mailboxExecutor) {
    super.setMailboxExecutor(mailboxExecutor);
    this.mailbox = mailboxExecutor;
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    heldRows = new HeldRows("rows", this, context.getKeyedStateStore());
    heldErrors = new HeldRows("errors", this, context.getKeyedStateStore());
    schemas = StateSchemas.of(context, options.shards());
    closedState =
        context
            .getOperatorStateStore()
            .getBroadcastState(new MapStateDescriptor<>("closed-1", Types.INT, Types.LONG));
    leftOut =
        new LeftOut(
            options.shards(),
            getRuntimeContext(),
            getMetricGroup(),
            context.getOperatorStateStore());
    Frontier closed = Frontier.MINIMUM;
    for (Map.Entry<Integer, Long> entry : closedState.immutableEntries()) {
      closed = closed.max(Frontier.of(entry.getValue()));
    }
    open = new OpenDescriptions(closed);
  }

  @Override
  public void open() throws Exception {
    super.open();
    executor = Workers.pool("tidemark-write", UPLOADS);
    smallExecutor = Workers.pool("tidemark-write-small", SMALL_UPLOADS);
    folder =
        new SpillFolder(
            Stream.of(getContainingTask().getEnvironment().getIOManager().getSpillingDirectories())
                .map(File::toPath)
                .toList(),
            getRuntimeContext().getTaskInfo().getIndexOfThisSubtask());
    slots =
        new Slots(
            options.shards().size(),
            heldRows,
            heldErrors,
            folder,
            options.settings().bufferBytes());
    MetricGroup group = getMetricGroup().addGroup("tidemark");
    group.gauge("bufferedBytes", this::bufferedBytes);
    group.gauge("spilledBytes", this::spilledBytes);
    group.gauge("uploadsInFlight", this::uploadsInFlight);
    author = Attempts.author(options.settings().writer(), Clock.systemUTC(), "write");
    handles = new ArrayList<>();
    staged = new ArrayList<>();
    retimed = new ArrayList<>();
    passed = Frontier.MINIMUM;
    for (var shard : options.shards()) {
      handles.add(ShardHandles.acquire(getRuntimeContext(), shard, options.settings()));
      staged.add(counter(shard.name(), "staged"));
      retimed.add(counter(shard.name(), "retimed"));
    }
    slots.restore(schemas);
    if (options.settings().commit().isFrontier()) {
      arrivals =
          new Arrivals(
              options,
              leftOut,
              StoredUppers.read(handles),
              getProcessingTimeService()::getCurrentProcessingTime);
    }
  }

  /** The slots of the description at hand whose rows are on their way to the store, about. */
  private int uploadsInFlight() {
    Closing current = closing;
    return current == null ? 0 : Math.max(0, current.running - 1);
  }

  /** What rows take in memory that aren't in state, about. */
  long bufferedBytes() {
    return slots.bytes();
  }

  /** What rows take on disk that aren't in state. */
  long spilledBytes() {
    return folder.bytes();
  }

  private LongCounter counter(String shard, String name) {
    LongCounter counter = new LongCounter();
    getMetricGroup()
        .addGroup("tidemark")
        .addGroup(shard)
        .gauge(name, counter::getLocalValuePrimitive);
    getRuntimeContext().addAccumulator("tidemark." + shard + "." + name, counter);
    return counter;
  }

  /** Rows touch no state, so Flink need not set the key for each. */
  @Override
  public boolean hasKeyContext1() {
    return false;
  }

  @Override
  public void processElement1(StreamRecord<Update> element) throws Exception {
    Update update = element.getValue();
    if (arrivals != null && !arrivals.takes(update, open.closed())) {
      return;
    }
    slots.add(update);
  }

  @Override
  public void processElement2(StreamRecord<BatchDescription> element) throws Exception {
    open.add(element.getValue());
    maybeClose(false);
    if (passed.isEnd()) {
      drain(false);
    }
  }

  @Override
  public void processWatermark1(Watermark mark) throws Exception {
    passed = passed.max(Frontier.ofWatermark(mark.getTimestamp()));
    maybeClose(false);
    if (passed.isEnd()) {
      drain(false);
    }
  }

  /** The description is the message; its watermark adds nothing. */
  @Override
  public void processWatermark2(Watermark mark) {}

  @Override
  public void processWatermarkStatus(WatermarkStatus status) {}

  @Override
  protected void processWatermarkStatus(WatermarkStatus status, int input) {}

  @Override
  public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
    drain(true);
  }

  /** Waits until nothing is on its way out, and nothing is open that may close. */
  private void drain(boolean barrier) throws Exception {
    maybeClose(barrier);
    while (closing != null) {
      mailbox.yield();
      maybeClose(barrier);
    }
  }

  /** Begins to close the first open description if it may close and no other is closing. */
  private void maybeClose(boolean barrier) throws Exception {
    while (closing == null) {
      BatchDescription next = open.next(passed, barrier);
      if (next == null) {
        return;
      }
      close(next);
    }
  }

  private void close(BatchDescription description) throws Exception {
    Closing begun = new Closing(description);
    closing = begun;
    begun.running = 1;
    for (Slot slot : slots.all()) {
      Slots.Taken taken = slots.take(slot, description.upper());
      if (!taken.isEmpty()) {
        ShardHandle handle = handles.get(slot.shard());
        begun.running++;
        submit(
            taken.bytes() <= SMALL_BYTES ? smallExecutor : executor,
            slot,
            new CloseSlot(
                slot,
                description,
                taken.rows(),
                taken.errors(),
                options,
                folder,
                new HandledShard(handle, author)));
      }
    }
    maybeFinish(begun);
  }

  private void submit(ExecutorService threads, Slot slot, CloseSlot job) {
    threads.execute(
        () -> {
          CloseSlot.Closed closed = null;
          Exception failure = null;
          try {
            closed = job.run();
          } catch (Exception e) {
            failure = e;
          }
          report(slot, closed, failure);
        });
  }

  private void report(Slot slot, CloseSlot.@Nullable Closed closed, @Nullable Exception failure) {
    try {
      mailbox.execute(() -> closed(slot, closed, failure), "slot closed");
    } catch (RejectedExecutionException taskIsClosing) {
      LOG.debug("a slot closed after its task: what it uploaded is an orphan");
    }
  }

  private void closed(Slot slot, CloseSlot.@Nullable Closed closed, @Nullable Exception failure)
      throws Exception {
    Closing current = closing;
    if (failure != null || closed == null || current == null) {
      throw new IllegalStateException(
          "slot "
              + slot.key()
              + " of shard "
              + options.shards().get(slot.shard()).name()
              + " could not be written",
          failure);
    }
    slots.putBack(slot, closed.stayRows(), closed.stayErrors());
    if (closed.batch() != null) {
      current.batches.add(closed.batch());
      staged.get(slot.shard()).add(closed.updates());
      retimed.get(slot.shard()).add(closed.retimed());
    }
    maybeFinish(current);
    maybeClose(false);
  }

  /** One of the description's slots is done; after the last it leaves. */
  private void maybeFinish(Closing current) {
    if (--current.running > 0) {
      return;
    }
    closing = null;
    current.batches.sort(Comparator.comparingInt(WrittenBatch::slot));
    for (WrittenBatch batch : current.batches) {
      output.collect(new StreamRecord<>(batch));
    }
    Frontier upper = current.description.upper();
    LOG.debug("closed {}: {} batches", current.description, current.batches.size());
    output.emitWatermark(new Watermark(upper.watermark()));
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    if (closing != null || !open.isEmpty()) {
      throw new IllegalStateException("a description is open at a barrier");
    }
    slots.hold();
    closedState.put(0, open.closed().time());
    leftOut.snapshot();
  }

  @Override
  public void finish() throws Exception {
    for (Slot slot : slots.all()) {
      if (!slot.isEmpty() || slot.rows().held() || slot.errors().held()) {
        throw new IllegalStateException(
            "rows of shard "
                + options.shards().get(slot.shard()).name()
                + " are left at the end of input");
      }
    }
    super.finish();
  }

  @Override
  public void close() throws Exception {
    if (executor != null) {
      Workers.stop(List.of(executor, smallExecutor));
    }
    if (folder != null) {
      folder.close();
    }
    if (handles != null) {
      handles.forEach(ShardHandle::close);
    }
    super.close();
  }
}
