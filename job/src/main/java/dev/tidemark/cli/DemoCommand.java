package dev.tidemark.cli;

import dev.tidemark.job.JobOptions;
import dev.tidemark.job.OptionFile;
import dev.tidemark.job.Options;
import dev.tidemark.store.s3.LocalS3Server;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code tidemark demo}: the main job on recorded input, with everything it needs, and the proof.
 */
@Command(
    name = "demo",
    description = {
      "Stores a recorded change stream in S3 on loopback, reads it back and compares.",
      "Four tables, 149,271 events: each shard is compared with the database's own final table."
    },
    footer = {
      "",
      "Everything lies under DIR. Killed or stopped, the same command goes on where it was."
    })
final class DemoCommand implements Callable<Integer> {
  static final String BUCKET = "demo";

  private final Context context;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      defaultValue = "tidemark-demo",
      description = "Where everything lies (default: ./${DEFAULT-VALUE}).")
  private Path dir = Path.of("tidemark-demo");

  @Option(
      names = "--port",
      paramLabel = "UI",
      defaultValue = "8081",
      description = "The web UI's port; busy: the next free one (default: ${DEFAULT-VALUE}).")
  private int port = 8081;

  @Option(names = "--json", description = "The summary as one JSON document.")
  private boolean json;

  @Option(names = "--debug", description = "A stack trace with an error.")
  boolean debug;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "This text.")
  boolean help;

  DemoCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() throws Exception {
    Path root = root();
    Path folder = dir.toAbsolutePath().normalize();
    Files.createDirectories(folder.resolve("tmp"));
    JobLog.to(folder.resolve("logs/demo.log"));
    try (FileChannel channel =
            FileChannel.open(
                folder.resolve(".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        @Nullable FileLock lock = lock(channel)) {
      if (lock == null) {
        throw new CommandException(
            Exit.USAGE, "another demo runs on " + folder + "; end it, or take another --dir");
      }
      say("everything lies under " + folder);
      try (LocalS3Server server = server(root, folder)) {
        server.createBucket(BUCKET);
        say(
            "S3 server on "
                + server.endpoint()
                + ", bucket "
                + BUCKET
                + " in "
                + folder.resolve("s3"));
        JobOptions options = options(root, folder, server);
        return new DemoRun(options, root, folder, dir, context, json).run();
      }
    }
  }

  private void say(String line) {
    if (json) {
      context.err().println(line);
    } else {
      context.out().line(line);
      context.out().flush();
    }
  }

  private static @Nullable FileLock lock(FileChannel channel) throws IOException {
    try {
      return channel.tryLock();
    } catch (OverlappingFileLockException e) {
      return null;
    }
  }

  /** The project's folder, which scripts/tidemark names. */
  private static Path root() {
    @Nullable String root = System.getProperty("tidemark.root");
    if (root == null || !Files.isDirectory(Path.of(root, "demo"))) {
      throw new CommandException(
          Exit.USAGE, "the demo's data isn't there; start it by scripts/tidemark");
    }
    return Path.of(root);
  }

  private static LocalS3Server server(Path root, Path folder) throws IOException {
    try (Stream<Path> jars = Files.list(root.resolve("storage/target/s3proxy"))) {
      Path jar =
          jars.filter(path -> path.toString().endsWith(".jar"))
              .findFirst()
              .orElseThrow(
                  () ->
                      new CommandException(
                          Exit.USAGE, "the S3 server's jar isn't built; mvn package makes it"));
      return LocalS3Server.start(jar, folder.resolve("s3"), 0);
    } catch (IOException e) {
      throw new CommandException(
          Exit.STORE, "the local S3 server doesn't start: " + e.getMessage(), e);
    }
  }

  private JobOptions options(Path root, Path folder, LocalS3Server server) {
    Map<String, String> set = new LinkedHashMap<>();
    set.put("source.path", root.resolve("demo/events.jsonl.gz").toString());
    set.put("shard.warehouse", "s3://" + BUCKET);
    set.put("checkpoint.dir", folder.resolve("checkpoints").toString());
    set.put("ui.port", Integer.toString(port));
    set.put("flink.io.tmp.dirs", folder.resolve("tmp").toString());
    server.settings().s3().forEach((key, value) -> set.put("s3." + key, value));
    return JobOptions.of(Options.of(OptionFile.read(root.resolve("conf/demo.yaml")), set));
  }
}
