package dev.tidemark.job;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a user has set: every key known, every value readable by its type. Later sources win: file,
 * then command line. Immutable.
 */
public final class Options {
  static final String FLINK = "flink.";

  /**
   * One setting.
   *
   * @param text as the user wrote it
   * @param origin where: {@code --key}, or the file's name
   */
  record Setting(String text, String origin) {}

  static final List<OptionKey<?>> KEYS =
      Stream.of(JobKeys.ALL, SourceKeys.ALL, RunKeys.ALL, UpkeepKeys.ALL, StoreKeys.ALL)
          .flatMap(List::stream)
          .toList();

  private final SortedMap<String, Setting> settings;
  private final List<JsonNode> tables;

  private Options(SortedMap<String, Setting> settings, List<JsonNode> tables) {
    this.settings = settings;
    this.tables = List.copyOf(tables);
  }

  /**
   * The settings of a file, if there is one, and of the command line.
   *
   * @param commandLine key to text, keys without the leading hyphens
   * @throws OptionException naming the key, where it stands, and the mend
   */
  public static Options of(@Nullable OptionFile file, Map<String, String> commandLine) {
    SortedMap<String, Setting> settings = new TreeMap<>();
    List<JsonNode> tables = new ArrayList<>();
    if (file != null) {
      file.settings().forEach((key, text) -> settings.put(key, new Setting(text, file.name())));
      tables.addAll(file.tables());
    }
    commandLine.forEach((key, text) -> settings.put(key, new Setting(text, "--" + key)));
    Map<String, OptionKey<?>> known = new TreeMap<>();
    KEYS.forEach(key -> known.put(key.name(), key));
    settings.forEach((name, setting) -> check(name, setting, known));
    return new Options(settings, tables);
  }

  private static void check(String name, Setting setting, Map<String, OptionKey<?>> known) {
    for (String open : List.of(FLINK, SourceFormat.PREFIX, SourceKeys.KAFKA_PREFIX)) {
      if (name.startsWith(open) && name.length() > open.length()) {
        return;
      }
    }
    OptionKey<?> key = known.get(name);
    if (key != null) {
      read(key, setting);
      return;
    }
    Optional<String> refusal = LaterKeys.refusal(name);
    if (refusal.isPresent()) {
      throw new OptionException(name + " (" + setting.origin() + "): " + refusal.get());
    }
    String near =
        Nearest.of(name, known.keySet()).map(word -> "; did you mean " + word + "?").orElse("");
    String where =
        setting.origin().equals("--" + name)
            ? "unknown option --" + name
            : "unknown key " + name + " in " + setting.origin();
    throw new OptionException(
        where + (near.isEmpty() ? "; conf/reference.md lists all of them" : near));
  }

  private static <T> T read(OptionKey<T> key, Setting setting) {
    try {
      return key.type().reader().read(setting.text().strip());
    } catch (IllegalArgumentException e) {
      String at = setting.origin().equals("--" + key.name()) ? "" : " (" + setting.origin() + ")";
      throw new OptionException(
          key.name()
              + " = "
              + setting.text()
              + at
              + ": "
              + e.getMessage()
              + "; it takes "
              + key.type().form());
    }
  }

  /** The value that the user set. */
  <T> Optional<T> find(OptionKey<T> key) {
    Setting setting = settings.get(key.name());
    return setting == null ? Optional.empty() : Optional.of(read(key, setting));
  }

  /** Where a key was set: {@code --key}, or the file's name. */
  Optional<String> origin(String key) {
    Setting setting = settings.get(key);
    return setting == null ? Optional.empty() : Optional.of(setting.origin());
  }

  /** The value that the user set, or the key's default. */
  <T> T value(OptionKey<T> key) {
    Setting setting = settings.get(key.name());
    if (setting != null) {
      return read(key, setting);
    }
    if (key.standard() == null) {
      throw new IllegalStateException(key.name() + " has no default");
    }
    return key.type().reader().read(key.standard());
  }

  /** The value that the user set; an error that says what it is for when there is none. */
  <T> T required(OptionKey<T> key) {
    return find(key)
        .orElseThrow(
            () ->
                new OptionException(
                    key.name()
                        + " is missing: set it in the file given by --conf, or as --"
                        + key.name()
                        + " VALUE ("
                        + key.type().form()
                        + ")"));
  }

  /** The settings that begin with a prefix, without it. */
  public SortedMap<String, String> below(String prefix) {
    SortedMap<String, String> found = new TreeMap<>();
    settings.forEach(
        (key, setting) -> {
          if (key.startsWith(prefix)) {
            found.put(key.substring(prefix.length()), setting.text());
          }
        });
    return found;
  }

  /** The entries of {@code tables}, in the file's order. */
  List<JsonNode> tables() {
    return tables;
  }

  /** Every name that can be written. */
  static List<String> names() {
    TreeSet<String> names = new TreeSet<>();
    KEYS.forEach(key -> names.add(key.name()));
    return List.copyOf(names);
  }
}
