package dev.tidemark.cli;

import dev.tidemark.job.OptionException;
import dev.tidemark.job.OptionFile;
import dev.tidemark.job.Options;
import dev.tidemark.job.StoreKeys;
import dev.tidemark.log.ShardLog;
import dev.tidemark.shard.ShardState;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What every command that reads takes, and the way to the store. */
final class ReaderOptions {
  private static final String CONF_VARIABLE = "TIDEMARK_CONF";

  @Option(names = "--json", description = "One JSON document, or JSON lines.")
  boolean json;

  @Option(
      names = "--conf",
      paramLabel = "FILE",
      description = "Options of the store: s3.*; else TIDEMARK_CONF names it.")
  @Nullable Path conf;

  @Option(names = "--debug", description = "A stack trace with an error.")
  boolean debug;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "This text.")
  boolean help;

  /** A shard that is open. */
  record Shard(String url, ObjectStore store, ShardLog log, ShardState state)
      implements AutoCloseable {
    @Override
    public void close() {
      store.close();
    }
  }

  /** The options of the file and of the command line. */
  static Options options(Context context, @Nullable Path conf) {
    @Nullable String named = context.environment().get(CONF_VARIABLE);
    @Nullable Path path =
        conf != null ? conf : named == null || named.isEmpty() ? null : Path.of(named);
    return Options.of(path == null ? null : OptionFile.read(path), context.options());
  }

  /** Opens the store at a URL or path. */
  ObjectStore open(Context context, String url) {
    refuseMissing(url);
    StoreSettings settings = new StoreSettings(options(context, conf).below(StoreKeys.PREFIX));
    try {
      return Stores.open(url.replaceAll("(?<=[^/:])/+$", ""), settings);
    } catch (IllegalArgumentException e) {
      throw new OptionException(String.valueOf(e.getMessage()));
    }
  }

  /**
   * Opens a shard and reads its state.
   *
   * @throws CommandException when there is none
   */
  Shard shard(Context context, String url) throws IOException {
    ObjectStore store = open(context, url);
    ShardLog log = new ShardLog(store);
    ShardState state = log.refresh();
    if (!state.exists()) {
      store.close();
      throw new CommandException(
          Exit.USAGE,
          url + " is no shard: it has no log; tidemark ls WAREHOUSE shows the shards of a folder");
    }
    return new Shard(store.location(), store, log, state);
  }

  /** A folder that isn't there would read as an empty one. */
  private static void refuseMissing(String url) {
    String path = url.startsWith("file:") ? url.replaceFirst("^file:(//)?", "") : url;
    if (path.matches("[a-z][a-z0-9+.-]+:.*")) {
      return;
    }
    try {
      if (!Files.isDirectory(Path.of(path))) {
        throw new CommandException(Exit.USAGE, "no folder " + path + "; SHARD is a URL or a path");
      }
    } catch (InvalidPathException e) {
      throw new CommandException(Exit.USAGE, path + " is no path: " + e.getReason());
    }
  }
}
