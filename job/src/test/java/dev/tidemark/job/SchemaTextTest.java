package dev.tidemark.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.schema.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SchemaTextTest {
  @Test
  void keyColumnsAreNeverNull() {
    Schema schema =
        SchemaText.parse("a INT, `b c` STRING NOT NULL, PRIMARY KEY (`b c`, a) NOT ENFORCED");
    assertThat(schema.key()).containsExactly("b c", "a");
    assertThat(schema.columns()).extracting(c -> c.id()).containsExactly(1, 2);
    assertThat(schema.columns()).allMatch(c -> !c.type().nullable());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "boolean                             | BOOLEAN",
        "INTEGER                             | INT",
        "DOUBLE PRECISION                    | DOUBLE",
        "NUMERIC(12,2)                       | DECIMAL(12, 2)",
        "DECIMAL                             | DECIMAL(10, 0)",
        "CHAR(84)                            | CHAR(84)",
        "VARCHAR(2147483647)                 | STRING",
        "BYTES                               | BYTES",
        "TIMESTAMP                           | TIMESTAMP(6)",
        "TIMESTAMP(3) WITHOUT TIME ZONE      | TIMESTAMP(3)",
        "TIMESTAMP(6) WITH LOCAL TIME ZONE   | TIMESTAMP_LTZ(6)",
        "TIME                                | TIME(0)",
        "ARRAY<INT NOT NULL>                 | ARRAY<INT NOT NULL>",
        "MAP<STRING, ARRAY<BIGINT>>          | MAP<STRING, ARRAY<BIGINT>>",
        "ROW<a INT, b ROW(c STRING)>         | ROW<a INT, b ROW<c STRING>>",
      })
  void typesAreRead(String written, String read) {
    assertThat(SchemaText.type(SchemaText.parse("x " + written).columns().get(0).type()))
        .isEqualTo(read);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "a TIMESTAMP(9)                                  | column a: TIMESTAMP(9): nanoseconds end in 2262; take TIMESTAMP(6)",
        "a TIME(6)                                       | column a: TIME(6): Flink keeps whole milliseconds; take BIGINT microseconds",
        "a INTERVAL                                      | column a: INTERVAL can't be stored",
        "a BIGNIT                                        | column a: no type BIGNIT; did you mean BIGINT?",
        "__a INT                                         | column __a: names that begin with __ are Tidemark's own; take another",
        "a INT, a INT                                    | column a stands twice",
        "a INT, PRIMARY KEY (b) NOT ENFORCED             | PRIMARY KEY names b, which is no column",
        "a INT, PRIMARY KEY (a)                          | write PRIMARY KEY (...) NOT ENFORCED",
        "a ARRAY<INT>, PRIMARY KEY (a) NOT ENFORCED      | column a: ARRAY can't be a key; take a plain type",
        "a INT b INT                                     | expected a comma or the end before",
        "a                                               | expected the type of column a at the end of",
        "a DECIMAL(39,0)                                 | column a: DECIMAL takes 1 to 38 digits",
      })
  void whatCannotBeStoredIsRefusedByName(String text, String message) {
    assertThatThrownBy(() -> SchemaText.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }
}
