package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.testing.Seeds;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.random.RandomGenerator;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * Bytes as some build put them into a checkpoint, kept under {@code golden/} as hexadecimal text. A
 * form that was ever written stays readable: a new version gets a file of its own, the old file
 * stays.
 */
public final class GoldenBytes {
  private GoldenBytes() {}

  /** The bytes of a file. */
  public static byte[] read(String file) {
    try (InputStream in = GoldenBytes.class.getResourceAsStream("/golden/" + file + ".hex")) {
      assertThat(in).as("golden file " + file).isNotNull();
      String text = new String(in.readAllBytes(), StandardCharsets.US_ASCII);
      return HexFormat.of().parseHex(text.replaceAll("\\s", ""));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * What a serializer wrote then is read now as it was meant, to the last byte, and the sample is
   * written now as it was then.
   */
  public static <T> void check(String file, TypeSerializer<T> serializer, T sample) {
    byte[] golden = read(file);
    try {
      DataInputDeserializer in = new DataInputDeserializer(golden);
      T read = serializer.deserialize(in);
      assertThat(in.available()).as("bytes left over in " + file).isZero();
      assertThat(hex(serializer, sample)).as("the sample in " + file).isEqualTo(hex(golden));
      assertThat(hex(serializer, read)).as("what is read from " + file).isEqualTo(hex(golden));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Seeds.check(50, random -> damage(golden, serializer, random));
  }

  /** Damaged bytes are read as something or refused by an IOException; nothing else is thrown. */
  private static <T> void damage(
      byte[] golden, TypeSerializer<T> serializer, RandomGenerator random) {
    for (int i = 0; i < 40; i++) {
      int length = random.nextInt(4) == 0 ? random.nextInt(golden.length) : golden.length;
      byte[] bad = Arrays.copyOf(golden, length);
      for (int n = random.nextInt(4); n > 0 && length > 0; n--) {
        int at = random.nextInt(length);
        bad[at] = random.nextBoolean() ? (byte) 0x7F : (byte) (bad[at] ^ 1 << random.nextInt(8));
      }
      try {
        T read = serializer.deserialize(new DataInputDeserializer(bad));
        assertThat(hex(serializer, read)).isNotEmpty();
      } catch (IOException e) {
        assertThat(e).isNotInstanceOf(EOFException.class).hasMessageMatching(".+");
      }
    }
  }

  private static <T> String hex(TypeSerializer<T> serializer, T value) throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(64);
    serializer.serialize(value, out);
    return hex(out.getCopyOfBuffer());
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }
}
