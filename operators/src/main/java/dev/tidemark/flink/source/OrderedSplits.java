package dev.tidemark.flink.source;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.assigners.FileSplitAssigner;
import org.jspecify.annotations.Nullable;

/** Hands splits out by their number, those that a failure gave back among them. */
final class OrderedSplits implements FileSplitAssigner {
  private final TreeMap<String, FileSourceSplit> remaining = new TreeMap<>();

  OrderedSplits(Collection<FileSourceSplit> splits) {
    addSplits(splits);
  }

  @Override
  public Optional<FileSourceSplit> getNext(@Nullable String hostname) {
    return Optional.ofNullable(remaining.pollFirstEntry()).map(Map.Entry::getValue);
  }

  @Override
  public void addSplits(Collection<FileSourceSplit> splits) {
    splits.forEach(split -> remaining.put(split.splitId(), split));
  }

  @Override
  public Collection<FileSourceSplit> remainingSplits() {
    return List.copyOf(remaining.values());
  }
}
