package dev.tidemark.store.s3;

import dev.tidemark.store.StoreSettings;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * How to reach an S3 store, checked.
 *
 * @param endpoint where it serves; empty: AWS, by region
 * @param region the region to sign for; empty: by the SDK's default chain
 * @param pathStyle whether the bucket stands in the path instead of the host name; said nothing, it
 *     does when an endpoint is given
 * @param keys access key and secret key; empty: by the SDK's default chain
 * @param checksums whether uploads carry, and downloads ask for, checksums that only newer stores
 *     understand ({@code checksum = supported}); {@code required} is for older ones, as Ceph
 * @param encryption server-side encryption; empty: as the bucket does by itself
 * @param connections the sizes of the three pools
 * @param requestTimeout how long one try may take
 * @param tries how often a request is tried
 */
public record S3Settings(
    Optional<URI> endpoint,
    Optional<String> region,
    boolean pathStyle,
    Optional<Keys> keys,
    boolean checksums,
    Optional<Encryption> encryption,
    Connections connections,
    Duration requestTimeout,
    int tries) {

  private static final Set<String> NAMES =
      new TreeSet<>(
          Set.of(
              "endpoint",
              "region",
              "path-style",
              "access-key",
              "secret-key",
              "checksum",
              "sse",
              "sse-key",
              "connections.commit",
              "connections.upload",
              "connections.read",
              "request-timeout",
              "tries"));

  /** A pair of keys. */
  record Keys(String access, String secret) {
    @Override
    public String toString() {
      return access;
    }
  }

  /**
   * Server-side encryption.
   *
   * @param algorithm AES256, aws:kms or aws:kms:dsse
   * @param key the KMS key; empty: the account's own
   */
  record Encryption(String algorithm, Optional<String> key) {}

  /** The most connections of each pool: commits never queue behind uploads or reads. */
  record Connections(int commit, int upload, int read) {}

  /**
   * Reads the settings as the user wrote them.
   *
   * @throws IllegalArgumentException naming the option that is unknown or makes no sense
   */
  public static S3Settings of(StoreSettings written) {
    Map<String, String> s3 = written.s3();
    for (String name : s3.keySet()) {
      if (!NAMES.contains(name)) {
        throw new IllegalArgumentException(
            "there is no option s3." + name + "; there are s3." + String.join(", s3.", NAMES));
      }
    }
    Reader reader = new Reader(s3);
    Optional<URI> endpoint = reader.text("endpoint").map(S3Settings::endpoint);
    return new S3Settings(
        endpoint,
        reader.text("region"),
        reader.choice("path-style", "true", "false", endpoint.isPresent()),
        reader.keys(),
        reader.choice("checksum", "supported", "required", true),
        reader.encryption(),
        new Connections(
            reader.count("connections.commit", 64),
            reader.count("connections.upload", 32),
            reader.count("connections.read", 64)),
        reader.duration("request-timeout", StoreSettings.REQUEST_TIMEOUT),
        reader.count("tries", StoreSettings.TRIES));
  }

  private static URI endpoint(String text) {
    try {
      URI uri = new URI(text);
      String scheme = uri.getScheme();
      if (uri.getHost() != null && ("http".equals(scheme) || "https".equals(scheme))) {
        return uri;
      }
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("s3.endpoint is no URL: " + text, e);
    }
    throw new IllegalArgumentException(
        "s3.endpoint is no URL: " + text + "; write http://host:port or https://host:port");
  }

  /** Who asks, for messages. */
  String identity() {
    return keys.map(pair -> "access key " + pair.access()).orElse("the default credential chain");
  }

  /** Where the store is, for messages. */
  String place() {
    return endpoint.map(URI::toString).orElseGet(() -> "AWS " + region.orElse("(default region)"));
  }

  /** Takes options out of the map, by kind. */
  private record Reader(Map<String, String> s3) {
    Optional<String> text(String name) {
      return Optional.ofNullable(s3.get(name)).map(String::trim).filter(text -> !text.isEmpty());
    }

    Optional<Keys> keys() {
      Optional<String> access = text("access-key");
      Optional<String> secret = text("secret-key");
      if (access.isPresent() != secret.isPresent()) {
        throw new IllegalArgumentException(
            "s3.access-key and s3.secret-key go together; only one is set");
      }
      return access.map(key -> new Keys(key, secret.orElseThrow()));
    }

    Optional<Encryption> encryption() {
      Optional<String> key = text("sse-key");
      Optional<String> algorithm = text("sse");
      if (key.isPresent() && !algorithm.orElse("").startsWith("aws:kms")) {
        throw new IllegalArgumentException("s3.sse-key needs s3.sse = aws:kms");
      }
      if (algorithm.isPresent()
          && !Set.of("AES256", "aws:kms", "aws:kms:dsse").contains(algorithm.get())) {
        throw wrong("sse", algorithm.get(), "AES256, aws:kms or aws:kms:dsse");
      }
      return algorithm.map(name -> new Encryption(name, key));
    }

    boolean choice(String name, String yes, String no, boolean fallback) {
      Optional<String> text = text(name);
      if (text.isPresent() && !text.get().equals(yes) && !text.get().equals(no)) {
        throw wrong(name, text.get(), yes + " or " + no);
      }
      return text.map(yes::equals).orElse(fallback);
    }

    int count(String name, int fallback) {
      Optional<String> text = text(name);
      try {
        int count = text.map(Integer::parseInt).orElse(fallback);
        if (count >= 1) {
          return count;
        }
      } catch (NumberFormatException e) {
        throw wrong(name, text.orElse(""), "a number from 1 on");
      }
      throw wrong(name, text.orElse(""), "a number from 1 on");
    }

    Duration duration(String name, Duration fallback) {
      Optional<String> text = text(name);
      if (text.isEmpty()) {
        return fallback;
      }
      String compact = text.get().replace(" ", "").toLowerCase(Locale.ROOT);
      try {
        Duration duration =
            compact.endsWith("ms")
                ? Duration.ofMillis(Long.parseLong(compact.substring(0, compact.length() - 2)))
                : Duration.parse("pt" + compact);
        if (!duration.isNegative() && !duration.isZero()) {
          return duration;
        }
      } catch (DateTimeParseException | NumberFormatException e) {
        throw wrong(name, text.get(), "a duration as 30 s or 500 ms");
      }
      throw wrong(name, text.get(), "a duration as 30 s or 500 ms");
    }

    private static IllegalArgumentException wrong(String name, String text, String wanted) {
      return new IllegalArgumentException(
          "s3." + name + " = " + text + " makes no sense; write " + wanted);
    }
  }
}
