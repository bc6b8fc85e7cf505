package dev.tidemark.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SchemaTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          boolean                              | BOOLEAN
          TINYINT NOT NULL                     | TINYINT NOT NULL
          SMALLINT NULL                        | SMALLINT
          INTEGER                              | INT
          BIGINT                               | BIGINT
          FLOAT                                | FLOAT
          DOUBLE PRECISION                     | DOUBLE
          DECIMAL                              | DECIMAL(10, 0)
          DEC(5)                               | DECIMAL(5, 0)
          NUMERIC(38,38)                       | DECIMAL(38, 38)
          CHAR                                 | CHAR(1)
          CHAR(84)                             | CHAR(84)
          VARCHAR(2147483647)                  | STRING
          VARCHAR(20)                          | VARCHAR(20)
          STRING                               | STRING
          BINARY(3)                            | BINARY(3)
          VARBINARY(2147483647)                | BYTES
          BYTES                                | BYTES
          DATE                                 | DATE
          TIME                                 | TIME(0)
          TIME(3) WITHOUT TIME ZONE            | TIME(3)
          TIMESTAMP                            | TIMESTAMP(6)
          TIMESTAMP(3) WITHOUT TIME ZONE       | TIMESTAMP(3)
          TIMESTAMP(3) WITH LOCAL TIME ZONE    | TIMESTAMP_LTZ(3)
          TIMESTAMP_LTZ                        | TIMESTAMP_LTZ(6)
          ARRAY<INT NOT NULL>                  | ARRAY<INT NOT NULL>
          MAP<STRING, ARRAY<DEC(3,1)>>         | MAP<STRING, ARRAY<DECIMAL(3, 1)>>
          ROW<a INT, `b c` ROW<d BYTES>>       | ROW<a INT, `b c` ROW<d BYTES>>
          ROW(a INT NOT NULL) NOT NULL         | ROW<a INT NOT NULL> NOT NULL
          """)
  void aTypeHasOneTextThatIsReadBackTheSame(String text, String canonical) {
    ColumnType type = ColumnType.parse(text);
    assertThat(type).hasToString(canonical);
    assertThat(ColumnType.parse(type.toString())).isEqualTo(type);
  }

  @Test
  void columnsAreNumberedFromOneAndTheKeyKeepsItsDeclaredOrder() {
    Schema schema =
        Schema.parse(
            "id BIGINT NOT NULL, v STRING, `a ``b` INT, PRIMARY KEY (`a ``b`, id) NOT ENFORCED", 3);
    assertThat(schema.id()).isEqualTo(3);
    assertThat(schema.columns()).extracting(Column::id).containsExactly(1, 2, 3);
    assertThat(schema.columns()).extracting(Column::name).containsExactly("id", "v", "a `b");
    assertThat(schema.key()).containsExactly("a `b", "id");
    assertThat(schema)
        .hasToString(
            "id BIGINT NOT NULL, v STRING, `a ``b` INT NOT NULL,"
                + " PRIMARY KEY (`a ``b`, id) NOT ENFORCED");
    assertThat(Schema.parse(schema.toString(), 3)).isEqualTo(schema);
  }

  @Test
  void keyColumnsAreNeverNull() {
    Schema schema = Schema.parse("id BIGINT, PRIMARY KEY (id) NOT ENFORCED", 1);
    assertThat(schema.columns().get(0).type().nullable()).isFalse();
  }

  @Test
  void aSchemaMaySpreadOverLinesAndSayNothingOfAKey() {
    Schema schema = Schema.parse("\n  id BIGINT COMMENT 'it''s, the key',\n  primary INT\n", 1);
    assertThat(schema.key()).isEmpty();
    assertThat(schema).hasToString("id BIGINT, `primary` INT");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          t TIMESTAMP(9)           | column t: TIMESTAMP(9) can't be stored, nanoseconds end in 2262: take TIMESTAMP(6)
          t TIMESTAMP_LTZ(7)       | take TIMESTAMP_LTZ(6)
          t TIMESTAMP(8) WITH LOCAL TIME ZONE | TIMESTAMP_LTZ(8) can't be stored
          t TIMESTAMP WITH TIME ZONE | take TIMESTAMP_LTZ(6)
          t TIME(6)                | column t: TIME(6) can't be stored
          i INTERVAL DAY           | column i: INTERVAL can't be stored: take BIGINT
          m MULTISET<INT>          | column m: MULTISET can't be stored: take MAP
          r RAW('x', 'y')          | column r: RAW can't be stored: take BYTES
          a ARRAY<TIMESTAMP(9)>    | column a: TIMESTAMP(9)
          u UUID                   | column u: UUID can't be stored: take STRING
          __time BIGINT            | column __time: names that begin with __ are Tidemark's own
          a INT, a INT             | column a: is there twice
          a INT, PRIMARY KEY (b)   | column b: is in PRIMARY KEY but isn't a column
          a INT, PRIMARY KEY (a, a)| column a: is in PRIMARY KEY twice
          a ARRAY<INT>, PRIMARY KEY (a) | column a: ARRAY can't be a key
          a MAP<INT, INT>, PRIMARY KEY (a) | column a: MAP can't be a key
          a ROW<b INT>, PRIMARY KEY (a) | column a: ROW can't be a key
          PRIMARY KEY (a)          | there is no column
          a INT PRIMARY KEY        | expected a comma or the end before 'PRIMARY'
          a DECIMAL(39)            | column a: DECIMAL precision is 39: must be from 1 to 38
          a DECIMAL(3, 4)          | column a: DECIMAL scale is 4
          a VARCHAR(0)             | column a: VARCHAR length is 0
          a VARCHAR(x)             | column a: expected a whole number before 'x'
          a ROW<b INT, b INT>      | column a: ROW field b is there twice
          a                        | column a: expected a type before the end
          1 INT                    | expected a name before '1'
          `a INT                   | is never closed
          a INT, WATERMARK FOR a AS a | set source.event-time
          a INT, UNIQUE (a)        | column UNIQUE: expected a type before '('
          """)
  void whatAShardCannotHoldIsRefusedWithTheColumnAndTheMend(String text, String message) {
    assertThatThrownBy(() -> Schema.parse(text, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message)
        .hasMessageStartingWith("schema: ")
        .message()
        .doesNotContain("\n");
  }

  @Test
  void typesNestedWithoutEndAreRefused() {
    String text = "a " + "ARRAY<".repeat(100_000) + "INT";
    assertThatThrownBy(() -> Schema.parse(text, 1)).hasMessageContaining("32 deep");
  }
}
