package dev.tidemark.job;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.StringJoiner;
import java.util.TreeMap;

/**
 * A file of options: YAML, nested or with dotted keys, as the user likes.
 *
 * @param name the file as the user named it, for messages
 * @param settings dotted key to text
 * @param tables the entries of {@code tables}
 */
public record OptionFile(String name, SortedMap<String, String> settings, List<JsonNode> tables) {
  private static final String TABLES = "tables";

  private static final ObjectMapper YAML =
      YAMLMapper.builder().enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY).build();

  /**
   * Reads a file.
   *
   * @throws OptionException when it isn't there, isn't YAML, or holds what no option can be
   */
  public static OptionFile read(Path path) {
    try {
      return parse(path.toString(), Files.readString(path));
    } catch (java.nio.file.NoSuchFileException e) {
      throw new OptionException("no file " + path + ": --conf takes a YAML file of options");
    } catch (IOException e) {
      throw new OptionException("can't read " + path + ": " + e.getMessage());
    }
  }

  /** Reads the text of a file. */
  static OptionFile parse(String name, String text) {
    JsonNode root;
    try (JsonParser parser = YAML.createParser(text)) {
      root = YAML.readTree(parser);
    } catch (JsonProcessingException e) {
      String place =
          e.getLocation() == null
              ? ""
              : " line "
                  + e.getLocation().getLineNr()
                  + ", column "
                  + e.getLocation().getColumnNr();
      throw new OptionException(
          name + place + ": not YAML: " + e.getOriginalMessage().lines().findFirst().orElse(""));
    } catch (IOException e) {
      throw new OptionException("can't read " + name + ": " + e.getMessage());
    }
    SortedMap<String, String> settings = new TreeMap<>();
    List<JsonNode> tables = new ArrayList<>();
    if (root != null && !root.isNull() && !root.isMissingNode()) {
      if (!root.isObject()) {
        throw new OptionException(name + ": not a map of options (key: value)");
      }
      flatten(name, "", root, settings, tables);
    }
    return new OptionFile(name, settings, List.copyOf(tables));
  }

  private static void flatten(
      String name,
      String prefix,
      JsonNode object,
      SortedMap<String, String> settings,
      List<JsonNode> tables) {
    for (Map.Entry<String, JsonNode> field : object.properties()) {
      String key = prefix + field.getKey();
      JsonNode value = field.getValue();
      if (key.equals(TABLES)) {
        if (!value.isArray()) {
          throw new OptionException(name + ": tables is a list: - shard: NAME ...");
        }
        value.forEach(tables::add);
      } else if (value.isNull()) {
        throw new OptionException(name + ": " + key + " has no value; set it or leave it out");
      } else if (value.isObject()) {
        flatten(name, key + ".", value, settings, tables);
      } else {
        String text = value.isArray() ? list(name, key, value) : value.asText();
        if (settings.put(key, text) != null) {
          throw new OptionException(name + ": " + key + " is set twice");
        }
      }
    }
  }

  private static String list(String name, String key, JsonNode array) {
    StringJoiner joined = new StringJoiner(",");
    for (JsonNode item : array) {
      if (item.isContainerNode()) {
        throw new OptionException(name + ": " + key + " takes plain values only");
      }
      joined.add(item.asText());
    }
    return joined.toString();
  }
}
