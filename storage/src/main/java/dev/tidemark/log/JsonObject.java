package dev.tidemark.log;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A JSON object read from untrusted bytes. Keys are <em>taken</em> one by one, each checked for
 * presence, type and range; what is left at the end are keys of a later format. Every fault is a
 * {@link LogFormatException} that names the place.
 */
final class JsonObject {
  /** The largest entry or rollup: far above any real one, far below what would hurt. */
  static final int MAX_BYTES = 64 << 20;

  /** The deepest nesting: the deepest form of ours (a part in a batch in an entry) takes eight. */
  static final int MAX_DEPTH = 64;

  /** The longest number: 64 bits in decimal take twenty characters. */
  private static final int MAX_NUMBER_LENGTH = 64;

  static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxDocumentLength(MAX_BYTES)
                  .maxStringLength(MAX_BYTES)
                  .maxNameLength(1 << 10)
                  .maxNestingDepth(MAX_DEPTH)
                  .maxNumberLength(MAX_NUMBER_LENGTH)
                  .build())
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .build();

  /** A number as it was written. */
  private record Numeral(String text) {}

  /** A literal: true, false or null. */
  private enum Literal {
    TRUE,
    FALSE,
    NULL
  }

  private final String where;
  private final Map<String, Object> left;

  private JsonObject(String where, Map<String, Object> left) {
    this.where = where;
    this.left = left;
  }

  /**
   * The object that {@code bytes} are, whole.
   *
   * @param origin what they are, for messages
   */
  static JsonObject parse(byte[] bytes, String origin) throws LogFormatException {
    if (bytes.length > MAX_BYTES) {
      throw new LogFormatException(
          origin + ": " + bytes.length + " bytes are more than " + MAX_BYTES, false, null);
    }
    // The second byte tells UTF-8 from what the parser would take for UTF-16 or UTF-32.
    if (bytes.length < 2 || bytes[0] != '{' || bytes[1] == 0) {
      throw new LogFormatException(origin + ": not a JSON object", false, null);
    }
    try (JsonParser in = FACTORY.createParser(bytes)) {
      in.nextToken();
      Object value = read(in, origin);
      if (in.nextToken() != null) {
        throw new LogFormatException(origin + ": more after the object", false, null);
      }
      return new JsonObject(origin, object(value, origin));
    } catch (LogFormatException e) {
      throw e;
    } catch (IOException e) {
      throw new LogFormatException(origin + ": " + firstLine(e), false, e);
    }
  }

  private static String firstLine(IOException e) {
    String message = String.valueOf(e.getMessage());
    int end = message.indexOf('\n');
    return end < 0 ? message : message.substring(0, end);
  }

  private static Object read(JsonParser in, String where) throws IOException {
    JsonToken token = in.currentToken();
    if (token == null) {
      throw new LogFormatException(where + ": ends early", false, null);
    }
    return switch (token) {
      case START_OBJECT -> {
        Map<String, Object> fields = new LinkedHashMap<>();
        for (String name = in.nextFieldName(); name != null; name = in.nextFieldName()) {
          in.nextToken();
          fields.put(checked(name, where), read(in, where));
        }
        yield fields;
      }
      case START_ARRAY -> {
        List<Object> elements = new ArrayList<>();
        while (in.nextToken() != JsonToken.END_ARRAY) {
          elements.add(read(in, where));
        }
        yield elements;
      }
      case VALUE_STRING -> checked(in.getText(), where);
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> new Numeral(in.getText());
      case VALUE_TRUE -> Literal.TRUE;
      case VALUE_FALSE -> Literal.FALSE;
      case VALUE_NULL -> Literal.NULL;
      case FIELD_NAME, END_OBJECT, END_ARRAY, VALUE_EMBEDDED_OBJECT, NOT_AVAILABLE ->
          throw new LogFormatException(where + ": unexpected " + token, false, null);
    };
  }

  /** Refuses text that has no UTF-8 form, so that all that is read can be written. */
  private static String checked(String text, String where) throws LogFormatException {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isSurrogate(c)) {
        if (Character.isHighSurrogate(c)
            && i + 1 < text.length()
            && Character.isLowSurrogate(text.charAt(i + 1))) {
          i++;
        } else {
          throw new LogFormatException(where + ": half a surrogate pair in text", false, null);
        }
      }
    }
    return text;
  }

  @SuppressWarnings("unchecked") // read() makes maps with these types only
  private static Map<String, Object> object(Object value, String where) throws LogFormatException {
    if (value instanceof Map<?, ?> map) {
      return (Map<String, Object>) map;
    }
    throw new LogFormatException(where + ": not an object", false, null);
  }

  String where() {
    return where;
  }

  boolean has(String key) {
    return left.containsKey(key);
  }

  private String at(String key) {
    return where + ": " + key;
  }

  LogFormatException fault(String key, String what) {
    return new LogFormatException(at(key) + " " + what, false, null);
  }

  private Object take(String key) throws LogFormatException {
    Object value = left.remove(key);
    if (value == null) {
      throw fault(key, "is missing");
    }
    return value;
  }

  String text(String key) throws LogFormatException {
    if (take(key) instanceof String text) {
      return text;
    }
    throw fault(key, "is not a string");
  }

  boolean flag(String key) throws LogFormatException {
    Object value = take(key);
    if (value == Literal.TRUE || value == Literal.FALSE) {
      return value == Literal.TRUE;
    }
    throw fault(key, "is neither true nor false");
  }

  long integer(String key) throws LogFormatException {
    return integer(take(key), key);
  }

  private long integer(Object value, String key) throws LogFormatException {
    if (value instanceof Numeral numeral) {
      try {
        return Long.parseLong(numeral.text);
      } catch (NumberFormatException e) {
        throw new LogFormatException(at(key) + " is no 64-bit integer", false, e);
      }
    }
    throw fault(key, "is not a number");
  }

  /** An integer from 0 on. */
  long count(String key) throws LogFormatException {
    long value = integer(key);
    if (value < 0) {
      throw fault(key, "is negative");
    }
    return value;
  }

  /** An integer from 0 on that fits 32 bits. */
  int smallCount(String key) throws LogFormatException {
    long value = count(key);
    if (value > Integer.MAX_VALUE) {
      throw fault(key, "is too large");
    }
    return (int) value;
  }

  /** An integer, or empty for null. */
  @Nullable Long integerOrNull(String key) throws LogFormatException {
    Object value = take(key);
    return value == Literal.NULL ? null : Long.valueOf(integer(value, key));
  }

  double decimal(String key) throws LogFormatException {
    if (take(key) instanceof Numeral numeral) {
      double value = Double.parseDouble(numeral.text);
      if (Double.isFinite(value)) {
        return value;
      }
    }
    throw fault(key, "is not a finite number");
  }

  /** A time: an integer, {@code "min"} or {@code "end"}. */
  Frontier frontier(String key) throws LogFormatException {
    Object value = take(key);
    if ("min".equals(value)) {
      return Frontier.MINIMUM;
    }
    if ("end".equals(value)) {
      return Frontier.END;
    }
    return Frontier.of(integer(value, key));
  }

  JsonObject child(String key) throws LogFormatException {
    return new JsonObject(at(key), object(take(key), at(key)));
  }

  /** The objects of an array. */
  List<JsonObject> children(String key) throws LogFormatException {
    return children(take(key), at(key));
  }

  /** The objects of an array of arrays. */
  List<List<JsonObject>> grandchildren(String key) throws LogFormatException {
    List<List<JsonObject>> all = new ArrayList<>();
    for (Object inner : array(take(key), at(key))) {
      all.add(children(inner, at(key) + "[" + all.size() + "]"));
    }
    return all;
  }

  List<String> texts(String key) throws LogFormatException {
    List<String> all = new ArrayList<>();
    for (Object element : array(take(key), at(key))) {
      if (element instanceof String text) {
        all.add(text);
      } else {
        throw fault(key, "has an element that is not a string");
      }
    }
    return all;
  }

  private static List<?> array(Object value, String where) throws LogFormatException {
    if (value instanceof List<?> list) {
      return list;
    }
    throw new LogFormatException(where + " is not an array", false, null);
  }

  private static List<JsonObject> children(Object value, String where) throws LogFormatException {
    List<JsonObject> all = new ArrayList<>();
    for (Object element : array(value, where)) {
      String place = where + "[" + all.size() + "]";
      all.add(new JsonObject(place, object(element, place)));
    }
    return all;
  }

  /** The only key, without taking it. */
  String onlyKey() throws LogFormatException {
    if (left.size() != 1) {
      throw new LogFormatException(where + ": " + left.size() + " keys, not one", false, null);
    }
    return left.keySet().iterator().next();
  }

  /** Takes a value of any type as raw JSON without white space. */
  String raw(String key) throws LogFormatException {
    return raw(take(key));
  }

  /** Whether the value is an object. */
  boolean isObject(String key) {
    return left.get(key) instanceof Map;
  }

  /** The keys that nobody took, as raw JSON. */
  Map<String, String> extra() {
    Map<String, String> extra = new TreeMap<>();
    left.forEach((key, value) -> extra.put(key, raw(value)));
    return extra;
  }

  /** Refuses keys that nobody took, where there is no place to keep them. */
  void nothingLeft() throws LogFormatException {
    for (String key : left.keySet()) {
      throw new LogFormatException(
          at(key) + " is unknown to this build: use a newer Tidemark", true, null);
    }
  }

  private static String raw(Object value) {
    StringWriter text = new StringWriter();
    try (JsonGenerator out = FACTORY.createGenerator(text)) {
      write(out, value);
    } catch (IOException e) {
      throw new UncheckedIOException("a string takes whatever is written", e);
    }
    return text.toString();
  }

  private static void write(JsonGenerator out, Object value) throws IOException {
    if (value instanceof Map<?, ?> fields) {
      out.writeStartObject();
      for (Map.Entry<?, ?> field : fields.entrySet()) {
        out.writeFieldName((String) field.getKey());
        write(out, field.getValue());
      }
      out.writeEndObject();
    } else if (value instanceof List<?> elements) {
      out.writeStartArray();
      for (Object element : elements) {
        write(out, element);
      }
      out.writeEndArray();
    } else if (value instanceof String text) {
      out.writeString(text);
    } else if (value instanceof Numeral numeral) {
      out.writeNumber(numeral.text);
    } else {
      out.writeRawValue(value.toString().toLowerCase(Locale.ROOT));
    }
  }
}
