package dev.tidemark.store.s3;

import dev.tidemark.store.StoreSettings;
import java.io.IOException;
import java.net.BindException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * An S3 server on this machine, for the demo and for tests: S3Proxy as a process of its own,
 * serving a folder whose sub-folders are the buckets. It listens on loopback only.
 *
 * <p>It ends with {@link #close}, and also when this JVM ends, however it ends: a shell holds the
 * other end of a pipe from here, and kills the server when the pipe closes. Should that shell be
 * killed too, the next start on the same folder finds the leftover by its pid file and stops it.
 */
public final class LocalS3Server implements AutoCloseable {
  /** The access key that the server knows. */
  public static final String ACCESS_KEY = "tidemark";

  /** Its secret: a formality on loopback. */
  public static final String SECRET_KEY = "tidemark-local";

  private static final Duration START_TIMEOUT = Duration.ofSeconds(60);
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration POLL = Duration.ofMillis(50);

  /** Another process may take the port that was found free. */
  private static final int PORT_TRIES = 3;

  /** Starts the server ($@), notes its pid ($0), and ends it when standard input ends. */
  private static final String WATCH =
      "trap '' INT HUP; \"$@\" & child=$!; echo $child > \"$0\"; trap 'kill -9 $child' TERM;"
          + " read -r line; kill -9 $child; wait $child; rm -f \"$0\"";

  private final Process shell;
  private final Path folder;
  private final int port;

  private LocalS3Server(Process shell, Path folder, int port) {
    this.shell = shell;
    this.folder = folder;
    this.port = port;
  }

  /**
   * Starts the server and waits until it serves.
   *
   * @param jar S3Proxy's jar with its dependencies
   * @param folder what it serves, made if need be; its log stands there too, as .s3proxy.log
   * @param port where to listen; 0: any free port
   * @throws IOException when it doesn't serve in time, with the end of its log
   */
  public static LocalS3Server start(Path jar, Path folder, int port) throws IOException {
    if (!Files.isRegularFile(jar)) {
      throw new IOException("there is no S3Proxy jar at " + jar);
    }
    Path base = folder.toAbsolutePath().normalize();
    Files.createDirectories(base);
    stopLeftover(base);
    for (int tries = 1; ; tries++) {
      int chosen = freePort(port);
      LocalS3Server server = launch(jar, base, chosen);
      try {
        server.awaitServing();
        return server;
      } catch (IOException e) {
        server.close();
        if (port != 0 || tries == PORT_TRIES) {
          throw e;
        }
      }
    }
  }

  private static LocalS3Server launch(Path jar, Path folder, int port) throws IOException {
    Path properties = folder.resolve(".s3proxy.properties");
    Files.write(
        properties,
        List.of(
            "s3proxy.endpoint=http://127.0.0.1:" + port,
            "s3proxy.authorization=aws-v2-or-v4",
            "s3proxy.identity=" + ACCESS_KEY,
            "s3proxy.credential=" + SECRET_KEY,
            "jclouds.provider=filesystem-nio2",
            "jclouds.filesystem.basedir=" + folder));
    Path log = folder.resolve(".s3proxy.log");
    Files.deleteIfExists(pidFile(folder));
    Process shell =
        new ProcessBuilder(
                "sh",
                "-c",
                WATCH,
                pidFile(folder).toString(),
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-jar",
                jar.toAbsolutePath().toString(),
                "--properties",
                properties.toString())
            .redirectOutput(log.toFile())
            .redirectErrorStream(true)
            .start();
    return new LocalS3Server(shell, folder, port);
  }

  private static Path pidFile(Path folder) {
    return folder.resolve(".s3proxy.pid");
  }

  private static int freePort(int wanted) throws IOException {
    try (ServerSocket socket = new ServerSocket(wanted, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (BindException e) {
      throw new IOException("port " + wanted + " is taken; choose another or 0 for any", e);
    }
  }

  /** The recorded process, if it still runs and is a server of this very folder. */
  private static Optional<ProcessHandle> recorded(Path folder) throws IOException {
    Path file = pidFile(folder);
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    String text = Files.readString(file).strip();
    if (!text.matches("[0-9]{1,18}")) {
      return Optional.empty();
    }
    String properties = folder.resolve(".s3proxy.properties").toString();
    return ProcessHandle.of(Long.parseLong(text))
        .filter(
            process ->
                process.info().arguments().stream()
                    .anyMatch(arguments -> List.of(arguments).contains(properties)));
  }

  private static void stopLeftover(Path folder) throws IOException {
    Optional<ProcessHandle> leftover = recorded(folder);
    if (leftover.isPresent()) {
      leftover.get().destroyForcibly();
      long deadline = System.nanoTime() + STOP_TIMEOUT.toNanos();
      // An ended process shows no arguments, though its shell may not have noticed yet.
      while (recorded(folder).isPresent()) {
        pause(deadline, "the server left over on " + folder + " doesn't end");
      }
    }
  }

  private void awaitServing() throws IOException {
    long deadline = System.nanoTime() + START_TIMEOUT.toNanos();
    while (!serves()) {
      boolean noted = Files.exists(pidFile(folder)) && Files.size(pidFile(folder)) > 0;
      if (!shell.isAlive() || (noted && recorded(folder).isEmpty())) {
        throw new IOException("the local S3 server ended at once: " + logEnd());
      }
      pause(deadline, "the local S3 server doesn't serve after " + START_TIMEOUT);
    }
    // Whoever answered on that port: it must be ours.
    if (recorded(folder).isEmpty()) {
      throw new IOException("another process serves at " + endpoint());
    }
  }

  /** Any answer will do: without a signature it is a refusal. */
  private boolean serves() {
    try {
      HttpURLConnection connection = (HttpURLConnection) endpoint().toURL().openConnection();
      connection.setConnectTimeout(1_000);
      connection.setReadTimeout(5_000);
      connection.getResponseCode();
      connection.disconnect();
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private static void pause(long deadlineNanos, String onTimeout) throws IOException {
    if (System.nanoTime() - deadlineNanos > 0) {
      throw new IOException(onTimeout);
    }
    try {
      TimeUnit.NANOSECONDS.sleep(POLL.toNanos());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while " + onTimeout, e);
    }
  }

  private String logEnd() throws IOException {
    List<String> lines = Files.readAllLines(folder.resolve(".s3proxy.log"));
    return String.join("\n", lines.subList(Math.max(0, lines.size() - 10), lines.size()));
  }

  /** Where it serves. */
  public URI endpoint() {
    return URI.create("http://127.0.0.1:" + port);
  }

  /** How to reach it. */
  public StoreSettings settings() {
    return new StoreSettings(
        Map.of(
            "endpoint",
            endpoint().toString(),
            "region",
            "us-east-1",
            "access-key",
            ACCESS_KEY,
            "secret-key",
            SECRET_KEY));
  }

  /** Makes a bucket unless it is there. */
  public void createBucket(String name) throws IOException {
    if (!name.matches("[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")) {
      throw new IllegalArgumentException("no bucket's name: " + name);
    }
    Files.createDirectories(folder.resolve(name));
  }

  /** The server's process id, as long as it runs. */
  Optional<ProcessHandle> process() throws IOException {
    return recorded(folder);
  }

  /** Stops the server; what it stored stays in the folder. */
  @Override
  public void close() {
    try {
      shell.getOutputStream().close();
      if (!shell.waitFor(STOP_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
        shell.descendants().forEach(ProcessHandle::destroyForcibly);
        shell.destroyForcibly();
      }
    } catch (IOException e) {
      shell.descendants().forEach(ProcessHandle::destroyForcibly);
      shell.destroyForcibly();
    } catch (InterruptedException e) {
      shell.descendants().forEach(ProcessHandle::destroyForcibly);
      shell.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
