package dev.tidemark.flink.decode;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.tidemark.row.InvalidRowException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/**
 * Reads JSON texts strictly: UTF-8 only, one object a text, no name twice, nothing behind it,
 * numbers with all their digits (docs/decisions/0001-own-json-decoder.md).
 */
final class JsonText {
  /** A number with more digits is refused: it fits no column and costs time squared. */
  static final int MAX_NUMBER_DIGITS = 1000;

  /** Deeper texts are refused before they reach the stack. */
  private static final int MAX_DEPTH = 500;

  private final ObjectReader reader;
  private final CharsetDecoder strict =
      StandardCharsets.UTF_8
          .newDecoder()
          .onMalformedInput(CodingErrorAction.REPORT)
          .onUnmappableCharacter(CodingErrorAction.REPORT);

  JsonText() {
    JsonFactory factory =
        JsonFactory.builder()
            .streamReadConstraints(
                StreamReadConstraints.builder()
                    .maxNumberLength(MAX_NUMBER_DIGITS)
                    .maxNestingDepth(MAX_DEPTH)
                    .maxStringLength(Integer.MAX_VALUE)
                    .build())
            .build();
    this.reader =
        JsonMapper.builder(factory)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)
            .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
            .build()
            .readerFor(JsonNode.class);
  }

  /** Whether there is nothing but white space. */
  static boolean isBlank(byte[] text) {
    return firstOther(text) == text.length;
  }

  private static int firstOther(byte[] text) {
    int i = 0;
    while (i < text.length
        && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' || text[i] == '\n')) {
      i++;
    }
    return i;
  }

  /**
   * An object.
   *
   * @param firstByte where the text begins in its file, for messages
   * @throws InvalidRowException with what is wrong and at which byte, without content
   */
  JsonNode object(byte[] text, long firstByte) throws InvalidRowException {
    int first = firstOther(text);
    if (first == text.length || text[first] != '{') {
      // Also keeps Jackson from taking the text for UTF-16, or a mark within a file for a BOM.
      throw new InvalidRowException("not a JSON object");
    }
    if (first + 1 < text.length && text[first + 1] == 0) {
      throw new InvalidRowException("not JSON in UTF-8: NUL at byte " + (firstByte + first + 1));
    }
    return value(text, firstByte);
  }

  /** Any JSON value, in UTF-8. */
  JsonNode value(byte[] text, long firstByte) throws InvalidRowException {
    checkUtf8(text);
    try {
      JsonNode node = reader.readTree(text);
      if (node == null || node.isMissingNode()) {
        throw new InvalidRowException("no JSON value");
      }
      return node;
    } catch (JsonProcessingException e) {
      throw new InvalidRowException(reason(e, firstByte));
    } catch (IOException e) {
      throw new InvalidRowException("not JSON: " + e.getMessage());
    }
  }

  private static String reason(JsonProcessingException e, long firstByte) {
    String what = e.getOriginalMessage();
    int detail = what.indexOf('\n');
    String at =
        e.getLocation() == null ? "" : " at byte " + (firstByte + e.getLocation().getByteOffset());
    return "not JSON" + at + ": " + (detail < 0 ? what : what.substring(0, detail));
  }

  /** Refuses bytes that aren't UTF-8, overlong forms and lone surrogates among them. */
  void checkUtf8(byte[] text) throws InvalidRowException {
    int i = 0;
    while (i < text.length && text[i] >= 0) {
      i++;
    }
    if (i == text.length) {
      return;
    }
    try {
      strict.decode(ByteBuffer.wrap(text, i, text.length - i));
    } catch (CharacterCodingException e) {
      throw new InvalidRowException("not UTF-8");
    }
  }
}
