package dev.tidemark.schema;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a shard's schema can become. */
class SchemaChangeTest {
  private static final String KEY = ", PRIMARY KEY (id) NOT ENFORCED";

  private static SchemaChange change(String from, String to) {
    return SchemaChange.of(List.of(Schema.parse(from, 1)), Schema.parse(to, 1));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "id INT NOT NULL, a STRING | id INT NOT NULL, a STRING, b INT",
        "id INT NOT NULL, a STRING | b INT, id INT NOT NULL, a STRING",
        "id INT NOT NULL, a STRING NOT NULL | id INT NOT NULL, a STRING",
        "id INT NOT NULL, a INT | id INT NOT NULL, a BIGINT",
        "id INT NOT NULL, a FLOAT | id INT NOT NULL, a DOUBLE",
        "id INT NOT NULL, a DECIMAL(5, 2) | id INT NOT NULL, a DECIMAL(20, 2)",
        "id INT NOT NULL, a VARCHAR(5) | id INT NOT NULL, a VARCHAR(6)",
        "id INT NOT NULL, a VARCHAR(5) | id INT NOT NULL, a STRING",
        "id INT NOT NULL, a VARBINARY(5) | id INT NOT NULL, a BYTES",
        "id INT NOT NULL, a INT, b INT | id INT NOT NULL, b INT"
      })
  void whatMayBe(String from, String to) {
    SchemaChange change = change(from + KEY, to + KEY);
    assertThat(change.refusal()).isNull();
    assertThat(change.next().id()).isEqualTo(2);
    assertThat(change.next().toString()).isEqualTo(Schema.parse(to + KEY, 1).toString());
    assertThat(change(to + KEY, to + KEY).next().id()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "a STRING | a STRING, b INT NOT NULL | column b is new and NOT NULL",
        "a STRING | a STRING NOT NULL | column a can't become NOT NULL",
        "a BIGINT | a INT | column a can't become INT from BIGINT",
        "a INT | a STRING | column a can't become STRING from INT",
        "a SMALLINT | a INT | column a can't become INT from SMALLINT",
        "a DOUBLE | a FLOAT | column a can't become FLOAT from DOUBLE",
        "a DECIMAL(5, 2) | a DECIMAL(6, 3) | column a can't become DECIMAL(6, 3)",
        "a DECIMAL(5, 2) | a DECIMAL(4, 2) | column a can't become DECIMAL(4, 2)",
        "a VARCHAR(5) | a VARCHAR(4) | column a can't become VARCHAR(4)",
        "a CHAR(5) | a CHAR(6) | column a can't become CHAR(6)",
        "a TIMESTAMP(3) | a TIMESTAMP(6) | column a can't become TIMESTAMP(6)",
        "a ARRAY<INT> | a ARRAY<BIGINT> | column a can't become ARRAY<BIGINT>",
        "a INT, b INT | b INT, a INT | column a can't move behind b",
      })
  void whatMayNotBe(String from, String to, String refusal) {
    String id = "id INT NOT NULL, ";
    SchemaChange change = change(id + from + KEY, id + to + KEY);
    assertThat(change.next()).isNull();
    assertThat(change.refusal()).startsWith(refusal);
  }

  @Test
  void theKeyStays() {
    String id = "id INT NOT NULL, a VARCHAR(5) NOT NULL";
    assertThat(change(id + KEY, id + ", PRIMARY KEY (id, a) NOT ENFORCED").refusal())
        .isEqualTo("the key is [id] and can't become [id, a]");
    assertThat(change(id + KEY, "id BIGINT NOT NULL, a VARCHAR(5) NOT NULL" + KEY).refusal())
        .isEqualTo("column id belongs to the key: its type can't change");
    assertThat(
            change(
                    id + ", PRIMARY KEY (id, a) NOT ENFORCED",
                    "id INT NOT NULL, a STRING NOT NULL, PRIMARY KEY (id, a) NOT ENFORCED")
                .refusal())
        .isNull();
  }

  @Test
  void withoutAKeyColumnsComeAndWidenButNoneGoes() {
    assertThat(change("a INT, b STRING", "a BIGINT, c INT, b STRING").refusal()).isNull();
    assertThat(change("a INT, b STRING", "b STRING").refusal())
        .isEqualTo(
            "column a can't be dropped: without a PRIMARY KEY rows are ordered by all columns");
  }

  @Test
  void anIdIsNeverUsedAgain() {
    Schema first = Schema.parse("id INT NOT NULL, note STRING" + KEY, 1);
    Schema second =
        SchemaChange.of(List.of(first), Schema.parse("id INT NOT NULL" + KEY, 1)).next();
    Schema third =
        SchemaChange.of(
                List.of(first, second),
                Schema.parse("id INT NOT NULL, note DECIMAL(5, 2)" + KEY, 1))
            .next();
    assertThat(third.id()).isEqualTo(3);
    assertThat(third.columns().stream().map(Column::id)).containsExactly(1, 3);
  }
}
