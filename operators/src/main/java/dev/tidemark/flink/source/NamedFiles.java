package dev.tidemark.flink.source;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.enumerate.FileEnumerator;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.Path;

/** Makes one split of each file that the paths name, numbered in their order. */
final class NamedFiles implements FileEnumerator {
  private final List<String> paths;
  private final boolean mayBeEmpty;

  NamedFiles(List<String> paths, boolean mayBeEmpty) {
    this.paths = paths;
    this.mayBeEmpty = mayBeEmpty;
  }

  @Override
  public Collection<FileSourceSplit> enumerateSplits(Path[] ignored, int minDesiredSplits)
      throws IOException {
    List<FileSourceSplit> splits = new ArrayList<>();
    for (FileStatus file : mayBeEmpty ? InputFiles.look(paths) : InputFiles.find(paths)) {
      long size = file.getLen();
      String id = String.format("%010d", splits.size());
      splits.add(
          new FileSourceSplit(id, file.getPath(), 0, size, file.getModificationTime(), size));
    }
    return splits;
  }
}
