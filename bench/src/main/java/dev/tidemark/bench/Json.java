package dev.tidemark.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;

/** Figures as a line of JSON. */
final class Json {
  private Json() {}

  static String line(Map<String, Object> figures) throws JsonProcessingException {
    return new ObjectMapper().writeValueAsString(figures);
  }
}
