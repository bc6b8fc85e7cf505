package dev.tidemark.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.io.Writer;

/** JSON as the commands print it. */
final class Json {
  private static final ObjectMapper MAPPER =
      JsonMapper.builder().enable(StreamWriteFeature.WRITE_BIGDECIMAL_AS_PLAIN).build();

  private Json() {}

  static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  /** One line. */
  static String text(ObjectNode node) {
    try {
      return MAPPER.writeValueAsString(node);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  static JsonGenerator generator(Writer writer) throws IOException {
    return MAPPER.getFactory().createGenerator(writer);
  }

  /** Milliseconds; the two ends by their words. */
  static void put(ObjectNode node, String key, Frontier frontier) {
    if (frontier.isMinimum() || frontier.isEnd()) {
      node.put(key, frontier.toString());
    } else {
      node.put(key, frontier.time());
    }
  }
}
