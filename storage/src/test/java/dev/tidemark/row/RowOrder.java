package dev.tidemark.row;

import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.Schema;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** The order of rows as the reference says it, by values: what the bytes are tested against. */
final class RowOrder implements Comparator<Object[]> {
  private final Schema schema;

  RowOrder(Schema schema) {
    this.schema = schema;
  }

  @Override
  public int compare(Object[] a, Object[] b) {
    for (int i : RowCodec.order(schema)) {
      int order = compare(schema.columns().get(i).type(), a[i], b[i]);
      if (order != 0) {
        return order;
      }
    }
    return 0;
  }

  static int compare(ColumnType type, Object a, Object b) {
    if (a == null || b == null) {
      return a == b ? 0 : a == null ? -1 : 1;
    }
    return switch (type.kind()) {
      case BOOLEAN -> ((Boolean) a).compareTo((Boolean) b);
      case TINYINT, SMALLINT, INT, BIGINT ->
          Long.compare(((Number) a).longValue(), ((Number) b).longValue());
      case FLOAT, DOUBLE -> compare(((Number) a).doubleValue(), ((Number) b).doubleValue());
      case DECIMAL -> ((BigDecimal) a).compareTo((BigDecimal) b);
      case CHAR, VARCHAR ->
          Arrays.compareUnsigned(
              ((String) a).getBytes(StandardCharsets.UTF_8),
              ((String) b).getBytes(StandardCharsets.UTF_8));
      case BINARY, VARBINARY -> Arrays.compareUnsigned((byte[]) a, (byte[]) b);
      case DATE, TIME, TIMESTAMP, TIMESTAMP_LTZ -> compareTimes(a, b);
      case ARRAY -> compareLists(type.children().get(0), (List<?>) a, (List<?>) b);
      case MAP -> compareMaps(type, (Map<?, ?>) a, (Map<?, ?>) b);
      case ROW -> {
        int order = 0;
        for (int i = 0; i < type.children().size() && order == 0; i++) {
          order = compare(type.children().get(i), ((List<?>) a).get(i), ((List<?>) b).get(i));
        }
        yield order;
      }
    };
  }

  private static int compare(double a, double b) {
    return a == b ? 0 : Double.compare(a, b);
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static int compareTimes(Object a, Object b) {
    return ((Comparable) a).compareTo(b);
  }

  private static int compareLists(ColumnType element, List<?> a, List<?> b) {
    for (int i = 0; i < Math.min(a.size(), b.size()); i++) {
      int order = compare(element, a.get(i), b.get(i));
      if (order != 0) {
        return order;
      }
    }
    return Integer.compare(a.size(), b.size());
  }

  private static int compareMaps(ColumnType type, Map<?, ?> a, Map<?, ?> b) {
    ColumnType pair = Schemas.row(false, type.children().get(0), type.children().get(1));
    return compareLists(pair, pairs(type, a), pairs(type, b));
  }

  private static List<List<Object>> pairs(ColumnType type, Map<?, ?> map) {
    List<List<Object>> pairs = new ArrayList<>();
    map.forEach((k, v) -> pairs.add(Arrays.asList(k, v)));
    pairs.sort((x, y) -> compare(type.children().get(0), x.get(0), y.get(0)));
    return pairs;
  }
}
