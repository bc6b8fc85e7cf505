package dev.tidemark.store.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.store.StoreSettings;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class S3SettingsTest {
  private static S3Settings of(Map<String, String> s3) {
    return S3Settings.of(new StoreSettings(s3));
  }

  @Test
  void nothingSaid() {
    S3Settings settings = of(Map.of());
    assertThat(settings.endpoint()).isEmpty();
    assertThat(settings.pathStyle()).isFalse();
    assertThat(settings.checksums()).isTrue();
    assertThat(settings.connections()).isEqualTo(new S3Settings.Connections(64, 32, 64));
    assertThat(settings.requestTimeout()).isEqualTo(Duration.ofSeconds(30));
    assertThat(settings.tries()).isEqualTo(5);
  }

  @Test
  void anEndpointWantsTheBucketInThePath() {
    assertThat(of(Map.of("endpoint", "http://localhost:9000")).pathStyle()).isTrue();
    assertThat(of(Map.of("endpoint", "http://localhost:9000", "path-style", "false")).pathStyle())
        .isFalse();
  }

  @Test
  void equalSettingsAreEqual() {
    Map<String, String> s3 = Map.of("access-key", "a", "secret-key", "b", "request-timeout", "1 m");
    assertThat(of(s3)).isEqualTo(of(s3)).hasSameHashCodeAs(of(s3));
    assertThat(of(s3).keys()).hasToString("Optional[a]");
  }

  @ParameterizedTest
  @CsvSource({
    "endpoint, localhost:9000",
    "endpoint, ftp://x",
    "endpoint, 'http://a b'",
    "path-style, yes",
    "checksum, never",
    "sse, DES",
    "sse-key, k",
    "connections.commit, 0",
    "connections.read, many",
    "request-timeout, soon",
    "request-timeout, 0 s",
    "tries, -1",
    "access-key, a",
    "secret-key, a",
    "acces-key, a",
  })
  void refusedByName(String name, String value) {
    assertThatThrownBy(() -> of(Map.of(name, value)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("s3." + name);
  }
}
