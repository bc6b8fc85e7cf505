package dev.tidemark.cli;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a Flink cluster's REST server listens, which is where its web UI is.
 *
 * @param host a name or an address; one of IPv6 in brackets
 * @param port 1 to 65535
 */
record TargetAddress(String host, int port) {
  private static final Pattern FORM =
      Pattern.compile("(?:http://)?(\\[[0-9a-fA-F:.]+]|[^\\s:/@\\[\\]]+):([0-9]{1,5})/?(?:#.*)?");
  private static final int LAST_PORT = 65_535;

  /** Reads what the user wrote: HOST:PORT, or the URL that Flink prints. */
  static TargetAddress of(String text) {
    if (text.contains("@")) {
      // What stands there may be a password: it isn't said again.
      throw refused("an address has no user and no password in it; it takes HOST:PORT");
    }
    if (text.startsWith("https:")) {
      throw refused(
          "it takes HOST:PORT; for a cluster with TLS set flink.security.ssl.rest.enabled: true"
              + " beside it");
    }
    Matcher matcher = FORM.matcher(text.strip());
    if (!matcher.matches()) {
      throw refused(
          "'"
              + text
              + "' is no HOST:PORT; give the address of the cluster's web UI, 127.0.0.1:8081 say");
    }
    int port = Integer.parseInt(matcher.group(2));
    if (port == 0 || port > LAST_PORT) {
      throw refused("'" + text + "': a port is 1 to " + LAST_PORT);
    }
    return new TargetAddress(matcher.group(1), port);
  }

  private static CommandException refused(String why) {
    return new CommandException(Exit.USAGE, "--target: " + why);
  }

  /** Whether it is this machine; a name that nobody knows is not. */
  boolean isHere() {
    try {
      InetAddress address = InetAddress.getByName(host);
      return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public String toString() {
    return host + ":" + port;
  }
}
