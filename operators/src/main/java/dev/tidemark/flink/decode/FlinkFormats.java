package dev.tidemark.flink.decode;

import dev.tidemark.schema.Column;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.catalog.CatalogTable;
import org.apache.flink.table.catalog.ObjectIdentifier;
import org.apache.flink.table.catalog.ResolvedCatalogTable;
import org.apache.flink.table.catalog.ResolvedSchema;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DeserializationFormatFactory;
import org.apache.flink.table.factories.DynamicTableFactory;
import org.apache.flink.table.factories.Factory;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.LogicalType;

/**
 * The formats of Flink that are on the class path, by name. Where Tidemark has a format of the
 * name, Flink's has {@code flink-} in front of it.
 */
public final class FlinkFormats {
  private static final Set<String> OWN = Set.of("json", "csv", "debezium-json");

  /** A broken list of services must not be read for ever. */
  private static final int MOST_FAULTS = 1000;

  private FlinkFormats() {}

  /** The names, in order. */
  public static List<String> names() {
    return List.copyOf(found().keySet());
  }

  private static Map<String, DeserializationFormatFactory> found() {
    ClassLoader loader = loader();
    Map<String, DeserializationFormatFactory> found = new TreeMap<>();
    Iterator<Factory> factories = ServiceLoader.load(Factory.class, loader).iterator();
    for (int faults = 0; faults < MOST_FAULTS; ) {
      try {
        if (!factories.hasNext()) {
          break;
        }
        if (factories.next() instanceof DeserializationFormatFactory format) {
          String name = format.factoryIdentifier();
          found.put(OWN.contains(name) ? "flink-" + name : name, format);
        }
      } catch (ServiceConfigurationError | NoClassDefFoundError e) {
        faults++; // another service of the same jar, whose own needs aren't here
      }
    }
    return found;
  }

  private static ClassLoader loader() {
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    return loader == null ? FlinkFormats.class.getClassLoader() : loader;
  }

  /**
   * A format's reader of rows of a schema.
   *
   * @throws IllegalArgumentException naming what was found, or the option, and the mend
   */
  static DeserializationSchema<RowData> reader(
      DecodeSettings.FlinkFormat format, Schema schema, String shard) {
    DeserializationFormatFactory factory = found().get(format.name());
    if (factory == null) {
      throw new IllegalArgumentException(
          "source.format "
              + format.name()
              + ": no such format is on the class path, which has "
              + String.join(", ", names()));
    }
    Map<String, String> options = new HashMap<>(format.options());
    factory.requiredOptions().stream()
        .filter(option -> !options.containsKey(option.key()))
        .findFirst()
        .ifPresent(
            option -> {
              throw new IllegalArgumentException(
                  "source.format."
                      + option.key()
                      + " is missing: the format "
                      + format.name()
                      + " needs it");
            });
    TreeSet<String> known = new TreeSet<>();
    factory.requiredOptions().forEach(option -> known.add(option.key()));
    factory.optionalOptions().forEach(option -> known.add(option.key()));
    for (String option : options.keySet()) {
      if (!known.contains(option)) {
        throw new IllegalArgumentException(
            "source.format."
                + option
                + ": the format "
                + format.name()
                + " has no such option; it has "
                + String.join(", ", known));
      }
    }
    try {
      DataType rows = dataType(schema);
      return factory
          .createDecodingFormat(new TableContext(shard, rows, options), configuration(options))
          .createRuntimeDecoder(new ReaderContext(), rows);
    } catch (ValidationException | IllegalArgumentException | UnsupportedOperationException e) {
      throw new IllegalArgumentException(
          "source.format " + format.name() + " of " + shard + ": " + e.getMessage(), e);
    }
  }

  private static Configuration configuration(Map<String, String> options) {
    return Configuration.fromMap(options);
  }

  /** Which record is of which table must be known before a format can read it. */
  static void checkMatch(Tables tables) {
    TableMapping.MatchKind kind = tables.kind();
    if (kind != null && kind != TableMapping.MatchKind.TOPIC) {
      throw new IllegalArgumentException(
          "tables: with a format of Flink's records are told apart by topic; by "
              + kind.name().toLowerCase(Locale.ROOT)
              + " only json and debezium-json do");
    }
  }

  static DataType dataType(Schema schema) {
    List<DataTypes.Field> fields = new ArrayList<>();
    for (Column column : schema.columns()) {
      fields.add(DataTypes.FIELD(column.name(), dataType(column.type())));
    }
    return DataTypes.ROW(fields).notNull();
  }

  private static DataType dataType(ColumnType type) {
    DataType nullable =
        switch (type.kind()) {
          case BOOLEAN -> DataTypes.BOOLEAN();
          case TINYINT -> DataTypes.TINYINT();
          case SMALLINT -> DataTypes.SMALLINT();
          case INT -> DataTypes.INT();
          case BIGINT -> DataTypes.BIGINT();
          case FLOAT -> DataTypes.FLOAT();
          case DOUBLE -> DataTypes.DOUBLE();
          case DECIMAL -> DataTypes.DECIMAL(type.precision(), type.scale());
          // The format gives the whole text: whether it fits is for the shard to say.
          case CHAR, VARCHAR -> DataTypes.STRING();
          case BINARY, VARBINARY -> DataTypes.BYTES();
          case DATE -> DataTypes.DATE();
          case TIME -> DataTypes.TIME(type.precision());
          case TIMESTAMP -> DataTypes.TIMESTAMP(type.precision());
          case TIMESTAMP_LTZ -> DataTypes.TIMESTAMP_LTZ(type.precision());
          case ARRAY -> DataTypes.ARRAY(dataType(type.children().get(0)));
          case MAP ->
              DataTypes.MAP(dataType(type.children().get(0)), dataType(type.children().get(1)));
          case ROW -> {
            List<DataTypes.Field> fields = new ArrayList<>();
            for (int i = 0; i < type.children().size(); i++) {
              fields.add(
                  DataTypes.FIELD(type.fieldNames().get(i), dataType(type.children().get(i))));
            }
            yield DataTypes.ROW(fields);
          }
        };
    return type.nullable() ? nullable : nullable.notNull();
  }

  /** The table that a format is made for, as far as a format asks. */
  private record TableContext(String shard, DataType rows, Map<String, String> options)
      implements DynamicTableFactory.Context {
    @Override
    public ObjectIdentifier getObjectIdentifier() {
      return ObjectIdentifier.of("tidemark", "shards", shard);
    }

    @Override
    public ResolvedCatalogTable getCatalogTable() {
      ResolvedSchema resolved =
          ResolvedSchema.physical(DataType.getFieldNames(rows), DataType.getFieldDataTypes(rows));
      CatalogTable table =
          CatalogTable.newBuilder()
              .schema(
                  org.apache.flink.table.api.Schema.newBuilder()
                      .fromResolvedSchema(resolved)
                      .build())
              .options(options)
              .build();
      return new ResolvedCatalogTable(table, resolved);
    }

    @Override
    public Map<String, String> getEnrichmentOptions() {
      return Map.of();
    }

    @Override
    public ReadableConfig getConfiguration() {
      return new Configuration();
    }

    @Override
    public ClassLoader getClassLoader() {
      return loader();
    }

    @Override
    public boolean isTemporary() {
      return true;
    }
  }

  /** What a format asks of the source that it reads for. */
  private record ReaderContext() implements DynamicTableSource.Context {
    /** The rows are taken apart where they are read: no serializer is ever asked for. */
    @Override
    @SuppressWarnings("unchecked")
    public <T> TypeInformation<T> createTypeInformation(DataType type) {
      return (TypeInformation<T>) TypeInformation.of(RowData.class);
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> TypeInformation<T> createTypeInformation(LogicalType type) {
      return (TypeInformation<T>) TypeInformation.of(RowData.class);
    }

    @Override
    public DynamicTableSource.DataStructureConverter createDataStructureConverter(DataType type) {
      throw new UnsupportedOperationException("it gives rows in the form of Java objects");
    }
  }
}
