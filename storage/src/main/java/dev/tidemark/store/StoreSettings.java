package dev.tidemark.store;

import java.io.Serializable;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/**
 * How to reach a store: the {@code s3.*} options as the user wrote them, without the {@code s3.} in
 * front ({@code endpoint, region, path-style, access-key, secret-key, checksum, connections.commit
 * ...}).
 */
public record StoreSettings(Map<String, String> s3) implements Serializable {
  private static final long serialVersionUID = 1L;

  /** Nothing said: the SDK's default chain. */
  public static final StoreSettings DEFAULT = new StoreSettings(Map.of());

  /** The tries that a request gets. */
  public static final int TRIES = 5;

  /** How long one request may take. */
  public static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(30);

  /** Copies the map, sorted. */
  public StoreSettings {
    s3 = new TreeMap<>(s3);
  }

  /** The names of what is set; values may be secret. */
  @Override
  public String toString() {
    return "StoreSettings" + s3.keySet();
  }
}
