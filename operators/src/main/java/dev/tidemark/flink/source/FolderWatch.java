package dev.tidemark.flink.source;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.core.fs.FileStatus;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks into folders for new files, numbers them as they are found, and hands them out by their
 * numbers, those that a failure gave back among them. It looks once a second, but spends at most a
 * tenth of the time on it: a folder of many files is looked into less often.
 */
final class FolderWatch implements SplitEnumerator<FileSourceSplit, WatchState> {
  private static final Logger LOG = LoggerFactory.getLogger(FolderWatch.class);
  private static final long LOOK_MILLIS = 1_000;
  private static final int REST_PER_LOOK = 9;

  /** A file may go while a folder is listed. */
  private static final int LOOKS_AT_ONCE = 5;

  private final SplitEnumeratorContext<FileSourceSplit> context;
  private final List<String> paths;
  private final SeenFiles seen;
  private final TreeMap<String, FileSourceSplit> pending = new TreeMap<>();
  private final Set<Integer> waiting = new LinkedHashSet<>();
  private long next;
  private @Nullable String lastFailure;

  /** Used by the thread that looks, and by no other. */
  private long restUntilNanos = System.nanoTime();

  FolderWatch(
      SplitEnumeratorContext<FileSourceSplit> context, List<String> paths, WatchState state) {
    this.context = context;
    this.paths = paths;
    this.seen = new SeenFiles(state.seen());
    this.next = state.next();
    put(state.pending());
  }

  private void put(Collection<FileSourceSplit> splits) {
    splits.forEach(split -> pending.put(split.splitId(), split));
  }

  @Override
  public void start() {
    context.metricGroup().setUnassignedSplitsGauge(() -> (long) pending.size());
    context.callAsync(this::look, this::found, 0, LOOK_MILLIS);
  }

  /** The files that are there; null: it isn't time to look yet. */
  private @Nullable List<FileStatus> look() throws IOException {
    long begun = System.nanoTime();
    if (begun - restUntilNanos < 0) {
      return null;
    }
    List<FileStatus> files = lookPatiently();
    long took = System.nanoTime() - begun;
    restUntilNanos = begun + took + took * REST_PER_LOOK;
    LOG.debug("{} files, found in {} ms", files.size(), TimeUnit.NANOSECONDS.toMillis(took));
    return files;
  }

  private List<FileStatus> lookPatiently() throws IOException {
    for (int left = LOOKS_AT_ONCE; ; left--) {
      try {
        return InputFiles.look(paths);
      } catch (FileNotFoundException e) {
        if (left <= 1) {
          throw e;
        }
      }
    }
  }

  private void found(@Nullable List<FileStatus> files, @Nullable Throwable failure) {
    if (failure != null) {
      String text = failure.toString();
      if (!text.equals(lastFailure)) {
        LOG.warn("the watched folders can't be looked into, and are tried again: {}", text);
      }
      lastFailure = text;
      return;
    }
    if (files == null) {
      return;
    }
    if (lastFailure != null) {
      LOG.info("the watched folders can be looked into again");
      lastFailure = null;
    }
    Map<String, FileStatus> byPath = new LinkedHashMap<>();
    List<SeenFiles.Found> found = new ArrayList<>(files.size());
    for (FileStatus file : files) {
      String path = file.getPath().toString();
      byPath.put(path, file);
      found.add(new SeenFiles.Found(path, file.getLen(), file.getModificationTime()));
    }
    for (SeenFiles.Found taken : seen.look(found, System.currentTimeMillis())) {
      FileStatus file = Objects.requireNonNull(byPath.get(taken.path()));
      long size = file.getLen();
      String id = String.format("%019d", next++);
      pending.put(
          id, new FileSourceSplit(id, file.getPath(), 0, size, file.getModificationTime(), size));
    }
    assign();
  }

  private void assign() {
    Iterator<Integer> readers = waiting.iterator();
    while (readers.hasNext() && !pending.isEmpty()) {
      int reader = readers.next();
      readers.remove();
      if (context.registeredReaders().containsKey(reader)) {
        context.assignSplit(pending.pollFirstEntry().getValue(), reader);
      }
    }
  }

  @Override
  public void handleSplitRequest(int subtask, @Nullable String host) {
    waiting.add(subtask);
    assign();
  }

  @Override
  public void addSplitsBack(List<FileSourceSplit> splits, int subtask) {
    put(splits);
    assign();
  }

  @Override
  public void addReader(int subtask) {
    // it asks for files itself
  }

  @Override
  public WatchState snapshotState(long checkpointId) {
    return new WatchState(next, seen.remembered(), List.copyOf(pending.values()));
  }

  @Override
  public void close() {
    // holds nothing
  }
}
