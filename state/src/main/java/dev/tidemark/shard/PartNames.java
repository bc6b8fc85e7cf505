package dev.tidemark.shard;

import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.PartLocation.Stored;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The keys of the parts that some batches name: each must be named once. */
final class PartNames {
  /** {@code part/2026-11-30/<ulid>.parquet}: where the day begins and ends. */
  private static final int DAY_BEGIN = "part/".length();

  private static final int DAY_END = DAY_BEGIN + "2026-11-30".length();

  private final Set<String> keys = new HashSet<>();

  static PartNames none() {
    return new PartNames();
  }

  static PartNames of(Collection<Batch> batches) {
    PartNames names = new PartNames();
    for (Batch batch : batches) {
      batch.runs().forEach(names::addAll);
      names.addAll(batch.errors());
    }
    return names;
  }

  /**
   * Those of the batches' parts that {@code wanted} name too. For asking whether few batches clash
   * with many: without an index of the many.
   */
  static PartNames shared(List<Batch> batches, Collection<Batch> wanted) {
    return shared(batches, List.of(), wanted);
  }

  /** The same of two stretches of batches. */
  static PartNames shared(List<Batch> first, List<Batch> last, Collection<Batch> wanted) {
    PartNames few = of(wanted);
    PartNames shared = new PartNames();
    if (!few.keys.isEmpty()) {
      shared.addShared(first, few);
      shared.addShared(last, few);
    }
    return shared;
  }

  private void addShared(Collection<Batch> batches, PartNames few) {
    for (Batch batch : batches) {
      for (List<Part> run : batch.runs()) {
        addShared(run, few);
      }
      if (!batch.errors().isEmpty()) {
        addShared(batch.errors(), few);
      }
    }
  }

  private void addShared(List<Part> parts, PartNames few) {
    for (Part part : parts) {
      if (part.location() instanceof Stored stored && few.keys.contains(stored.key())) {
        keys.add(stored.key());
      }
    }
  }

  private void addAll(List<Part> parts) {
    for (Part part : parts) {
      if (part.location() instanceof Stored stored) {
        keys.add(stored.key());
      }
    }
  }

  /**
   * Adds the parts of a batch; what is wrong with them, null when nothing is.
   *
   * @param swept the day up to which no part may be brought in
   * @param known parts that the shard names already, which are not brought in
   */
  @Nullable String faultOf(Batch batch, @Nullable String swept, PartNames known) {
    for (List<Part> run : batch.runs()) {
      String fault = faultOf(run, swept, known);
      if (fault != null) {
        return fault;
      }
    }
    return faultOf(batch.errors(), swept, known);
  }

  private @Nullable String faultOf(List<Part> parts, @Nullable String swept, PartNames known) {
    for (Part part : parts) {
      if (part.location() instanceof Stored stored) {
        String key = stored.key();
        if (!keys.add(key)) {
          return "part " + key + " is named by the shard already";
        }
        if (swept != null && !known.keys.contains(key) && dayOf(key).compareTo(swept) <= 0) {
          return "part "
              + key
              + " is of a day that was swept, up to "
              + swept
              + ": it may have been deleted";
        }
      }
    }
    return null;
  }

  /**
   * A refusal that names the first part of a batch that is of a swept day and isn't one of these;
   * null when there is none.
   */
  Decision.Refusal.@Nullable Swept sweptOf(Batch batch, @Nullable String swept) {
    if (swept == null) {
      return null;
    }
    List<List<Part>> all = new ArrayList<>(batch.runs());
    all.add(batch.errors());
    for (List<Part> parts : all) {
      for (Part part : parts) {
        if (part.location() instanceof Stored stored
            && !keys.contains(stored.key())
            && dayOf(stored.key()).compareTo(swept) <= 0) {
          return new Decision.Refusal.Swept(
              stored.key(),
              swept,
              "batch "
                  + batch.id()
                  + ": part "
                  + stored.key()
                  + " is of a day that was swept, up to "
                  + swept
                  + ", and may have been deleted: restore something younger than gc.orphan-age");
        }
      }
    }
    return null;
  }

  private static String dayOf(String key) {
    return key.length() < DAY_END ? "" : key.substring(DAY_BEGIN, DAY_END);
  }
}
