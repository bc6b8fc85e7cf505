package dev.tidemark.part;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.KeyValue;

/**
 * Between which rows each row group of a part lies, as the footer says it in {@link #KEY}: the
 * least and an upper bound, cut as a part's bounds are, {@code least-most} a group, by comma. A
 * part of an earlier build doesn't say.
 */
final class RowGroups {
  static final String KEY = "tidemark.groups";

  private RowGroups() {}

  /**
   * The rows of a group lie between these.
   *
   * @param least lower-case hex
   * @param most lower-case hex; empty when there is no bound
   */
  record Bounds(String least, String most) {}

  static String text(List<Bounds> groups) {
    List<String> texts = new ArrayList<>();
    groups.forEach(group -> texts.add(group.least + '-' + group.most));
    return String.join(",", texts);
  }

  /** The bounds of the groups in their order; none when the footer doesn't say. */
  static List<Bounds> of(FileMetaData footer) throws IOException {
    List<Bounds> groups = new ArrayList<>();
    if (footer.isSetKey_value_metadata()) {
      for (KeyValue pair : footer.getKey_value_metadata()) {
        if (pair.getKey().equals(KEY)) {
          for (String group : pair.getValue().split(",", -1)) {
            int dash = group.indexOf('-');
            if (dash < 0) {
              throw new IOException("the bounds of its row groups can't be read");
            }
            groups.add(new Bounds(group.substring(0, dash), group.substring(dash + 1)));
          }
        }
      }
    }
    if (!groups.isEmpty() && groups.size() != footer.getRow_groupsSize()) {
      throw new IOException("it has bounds for another number of row groups");
    }
    return groups;
  }
}
