package dev.tidemark.job;

import java.util.ArrayList;
import java.util.List;

/** The words and marks of a schema's text. Names may stand in back quotes. */
final class SchemaTokens {
  /**
   * A word or mark.
   *
   * @param quoted whether it stood in back quotes, and so is a name whatever it looks like
   */
  private record Token(String text, boolean quoted) {}

  private final String text;
  private final List<Token> tokens = new ArrayList<>();
  private int next;

  SchemaTokens(String text) {
    this.text = text;
    int i = 0;
    while (i < text.length()) {
      char c = text.charAt(i);
      int end = i + 1;
      if (c == '`') {
        end = text.indexOf('`', i + 1);
        if (end < 0) {
          throw new IllegalArgumentException("a back quote is not closed");
        }
        tokens.add(new Token(text.substring(i + 1, end), true));
        end++;
      } else if (Character.isLetterOrDigit(c) || c == '_') {
        while (end < text.length()
            && (Character.isLetterOrDigit(text.charAt(end))
                || text.charAt(end) == '_'
                || text.charAt(end) == '$')) {
          end++;
        }
        tokens.add(new Token(text.substring(i, end), false));
      } else if (!Character.isWhitespace(c)) {
        tokens.add(new Token(String.valueOf(c), false));
      }
      i = end;
    }
  }

  /** Takes the mark if it is next. */
  boolean take(String mark) {
    if (next < tokens.size()
        && !tokens.get(next).quoted()
        && tokens.get(next).text().equals(mark)) {
      next++;
      return true;
    }
    return false;
  }

  /** Takes the words if all of them are next, in any case. */
  boolean takeWords(String... words) {
    if (next + words.length > tokens.size()) {
      return false;
    }
    for (int i = 0; i < words.length; i++) {
      Token token = tokens.get(next + i);
      if (token.quoted() || !token.text().equalsIgnoreCase(words[i])) {
        return false;
      }
    }
    next += words.length;
    return true;
  }

  void need(String mark) {
    if (!take(mark)) {
      throw new IllegalArgumentException("expected " + mark + " " + where());
    }
  }

  /** A name or word. */
  String name(String what) {
    if (next >= tokens.size() || !isName(tokens.get(next))) {
      throw new IllegalArgumentException("expected " + what + " " + where());
    }
    return tokens.get(next++).text();
  }

  int number() {
    if (next < tokens.size()) {
      try {
        int number = Integer.parseInt(tokens.get(next).text());
        next++;
        return number;
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException("expected a number " + where(), e);
      }
    }
    throw new IllegalArgumentException("expected a number " + where());
  }

  void end() {
    if (next < tokens.size()) {
      throw new IllegalArgumentException("expected a comma or the end " + where());
    }
  }

  private static boolean isName(Token token) {
    return token.quoted()
        || Character.isLetter(token.text().charAt(0))
        || token.text().charAt(0) == '_';
  }

  private String where() {
    return next < tokens.size()
        ? "before \"" + tokens.get(next).text() + "\" in: " + text.strip()
        : "at the end of: " + text.strip();
  }
}
