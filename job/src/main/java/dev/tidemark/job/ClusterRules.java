package dev.tidemark.job;

import dev.tidemark.flink.source.SourceSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What is different about the options of a job that is submitted to a cluster which runs already.
 */
public final class ClusterRules {
  /** What a running cluster has settled for itself, and a job can't change. */
  private static final List<String> CLUSTERS_OWN =
      List.of(
          "taskmanager.",
          "jobmanager.",
          "rest.address",
          "rest.port",
          "rest.bind-",
          "web.",
          "heartbeat.",
          "high-availability",
          "metrics.",
          "cluster.",
          "env.",
          "io.tmp.dirs",
          "s3.",
          "execution.target",
          "execution.attached");

  private ClusterRules() {}

  /**
   * Refuses what says nothing there.
   *
   * @param waits whether who submits waits for the job's end
   * @throws OptionException naming the key, where it stands, and the mend
   */
  public static void check(Options options, boolean waits) {
    refuse(
        options,
        RunKeys.UI_PORT.name(),
        "the cluster has a web UI of its own; leave it out with --target");
    refuse(
        options,
        JobKeys.FIND_INTERVAL.name(),
        "on a cluster the shards are those that are there when it is submitted; leave it out with"
            + " --target");
    for (String key : options.below(Options.FLINK).keySet()) {
      if (CLUSTERS_OWN.stream().anyMatch(key::startsWith)) {
        refuse(
            options,
            Options.FLINK + key,
            "the cluster that runs already has its own; set it in the cluster's configuration, and"
                + " leave it out with --target");
      }
    }
    checkPlaces(options);
    boolean compacts = CompactOptions.wanted(options);
    if (compacts && waits) {
      throw new OptionException(
          "--wait and role = compact: such a job never ends; leave --wait out");
    }
    if (!waits) {
      Main.refuseDetached(settles(options), options.value(RunKeys.SEAL));
    }
  }

  /**
   * What any submission to a cluster needs: its processes stand in folders of their own.
   *
   * @throws OptionException naming the key and the mend
   */
  static void checkPlaces(Options options) {
    Object unused = options.required(RunKeys.CHECKPOINT_DIR);
    refuseRelative(JobKeys.WAREHOUSE.name(), options.required(JobKeys.WAREHOUSE));
    for (String path : options.find(SourceKeys.PATH).orElse(List.of())) {
      refuseRelative(SourceKeys.PATH.name(), path);
    }
  }

  private static void refuseRelative(String key, String place) {
    if (!place.startsWith("/") && !JobOptionsReader.hasScheme(place)) {
      throw new OptionException(
          key
              + " = "
              + place
              + ": a path from the folder that you stand in, where the cluster's processes don't"
              + " stand; write the whole path");
    }
  }

  private static void refuse(Options options, String key, String why) {
    Optional<String> origin = options.origin(key);
    if (origin.isPresent()) {
      String at = origin.get().equals("--" + key) ? "" : " (" + origin.get() + ")";
      throw new OptionException(key + at + ": " + why);
    }
  }

  /** Whether wanted merges are finished by who waits for the end: only where that is asked for. */
  public static boolean settles(Options options) {
    return options.find(RunKeys.SETTLE).orElse(false);
  }

  /**
   * Refuses a checkpoint on this machine where the cluster is on others. An address with a scheme
   * is taken at its word.
   *
   * @throws OptionException with the mend
   */
  public static void refuseLocalRestore(JobOptions options, String target) {
    String restore = options.checkpoints().restore();
    if (!restore.equals(StartPoint.LATEST)
        && !restore.equals(StartPoint.NONE)
        && !JobOptionsReader.hasScheme(restore)) {
      throw new OptionException(
          "restore = "
              + restore
              + ": a path on this machine, and the cluster at "
              + target
              + " is on another; write file:///... if its machines see the folder under that path, or"
              + " give a checkpoint in S3");
    }
  }

  /** The options that name folders of a machine, which all machines of the cluster must see. */
  public static List<String> folders(JobFrame options) {
    List<String> keys = new ArrayList<>();
    if (isFolder(options.warehouse())) {
      keys.add("shard.warehouse");
    }
    if (isFolder(options.writerDirectory())) {
      keys.add("checkpoint.dir");
    }
    return keys;
  }

  /** Likewise, with what a source reads. */
  public static List<String> foldersAndFiles(JobOptions options) {
    List<String> keys = new ArrayList<>(folders(options));
    SourceSettings source = options.source();
    if (source instanceof SourceSettings.Files || source instanceof SourceSettings.WatchedFiles) {
      keys.add("source.path");
    }
    return keys;
  }

  private static boolean isFolder(String place) {
    return place.startsWith("file:") || !JobOptionsReader.hasScheme(place);
  }
}
