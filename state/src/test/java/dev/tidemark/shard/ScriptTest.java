package dev.tidemark.shard;

import dev.tidemark.testing.Scripts;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The stories of src/test/resources, one a file: those of persist by the number of the scenario.
 */
final class ScriptTest {
  static Stream<Path> scripts() throws IOException {
    return Stream.of(
            Scripts.in("spine"), Scripts.in("shard"), Scripts.in("persist"), Scripts.in("cases"))
        .flatMap(List::stream);
  }

  @ParameterizedTest
  @MethodSource("scripts")
  void theScriptPrintsWhatItSays(Path script) throws IOException {
    Scripts.run(script, new ShardScript()::run);
  }
}
