package dev.tidemark.schema;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The words, numbers and signs of a schema's text, read one after the other. */
final class Tokens {
  /** What stands behind the last token. */
  private static final Token END = new Token("end of text", false);

  /**
   * One token.
   *
   * @param text a word, number or sign; the inside of a quoted name or comment
   * @param quoted whether it is a quoted name, so never a keyword
   */
  private record Token(String text, boolean quoted) {}

  private final List<Token> tokens;
  private int next;

  private Tokens(List<Token> tokens) {
    this.tokens = tokens;
  }

  static Tokens of(String text) {
    List<Token> tokens = new ArrayList<>();
    int at = 0;
    while (at < text.length()) {
      char c = text.charAt(at);
      if (Character.isWhitespace(c)) {
        at++;
      } else if (c == '`' || c == '\'') {
        at = quoted(text, at, tokens);
      } else if (isWordPart(c)) {
        int end = at;
        while (end < text.length() && isWordPart(text.charAt(end))) {
          end++;
        }
        tokens.add(new Token(text.substring(at, end), false));
        at = end;
      } else {
        tokens.add(new Token(String.valueOf(c), false));
        at++;
      }
    }
    return new Tokens(tokens);
  }

  private static boolean isWordPart(char c) {
    return Character.isLetterOrDigit(c) || c == '_' || c == '$';
  }

  /** Reads a quoted name, or skips a quoted comment; a quote inside is written twice. */
  private static int quoted(String text, int begin, List<Token> tokens) {
    char quote = text.charAt(begin);
    StringBuilder inside = new StringBuilder();
    int at = begin + 1;
    while (at < text.length()) {
      char c = text.charAt(at++);
      if (c != quote) {
        inside.append(c);
      } else if (at < text.length() && text.charAt(at) == quote) {
        inside.append(quote);
        at++;
      } else {
        if (quote == '`') {
          tokens.add(new Token(inside.toString(), true));
        }
        return at;
      }
    }
    throw new IllegalArgumentException(
        "schema: the quote " + quote + " before '" + inside + "' is never closed: close it");
  }

  boolean atEnd() {
    return next == tokens.size();
  }

  /** Whether the coming tokens are these keywords or signs; nothing is consumed. */
  boolean sees(String... words) {
    for (int i = 0; i < words.length; i++) {
      Token token = next + i < tokens.size() ? tokens.get(next + i) : END;
      if (token.quoted() || !token.text().equalsIgnoreCase(words[i])) {
        return false;
      }
    }
    return true;
  }

  /** Consumes these keywords or signs if they come next. */
  boolean take(String... words) {
    boolean seen = sees(words);
    if (seen) {
      next += words.length;
    }
    return seen;
  }

  /** Consumes a sign or keyword, or fails. */
  void expect(String word) {
    if (!take(word)) {
      throw new IllegalArgumentException("expected " + word + " before " + shown());
    }
  }

  /** Consumes a name, quoted or not. */
  String name() {
    Token token = peek();
    if (atEnd() || (!token.quoted() && !isName(token.text()))) {
      throw new IllegalArgumentException(
          "expected a name before " + shown() + ": quote unusual names with backticks");
    }
    if (token.text().isEmpty()) {
      throw new IllegalArgumentException("a name is empty: give it one");
    }
    next++;
    return token.text();
  }

  /** Consumes a keyword, in upper case. */
  String keyword() {
    Token token = peek();
    if (atEnd() || token.quoted() || !isName(token.text())) {
      throw new IllegalArgumentException("expected a type before " + shown());
    }
    next++;
    return token.text().toUpperCase(Locale.ROOT);
  }

  /** Consumes a number. */
  int number() {
    Token token = peek();
    try {
      int number = Integer.parseInt(token.text());
      next++;
      return number;
    } catch (NumberFormatException notANumber) {
      throw new IllegalArgumentException("expected a whole number before " + shown());
    }
  }

  /** What comes next, for messages. */
  String shown() {
    Token token = peek();
    return atEnd() ? "the end" : "'" + token.text() + "'";
  }

  private Token peek() {
    return next < tokens.size() ? tokens.get(next) : END;
  }

  private static boolean isName(String text) {
    char first = text.charAt(0);
    return Character.isLetter(first) || first == '_';
  }
}
