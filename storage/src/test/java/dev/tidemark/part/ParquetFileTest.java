package dev.tidemark.part;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.luben.zstd.Zstd;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.Schemas;
import dev.tidemark.row.Updates;
import dev.tidemark.row.Updates.One;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.Schema;
import dev.tidemark.store.MemoryStore;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.compression.CompressionCodecFactory;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.ColumnIOFactory;
import org.apache.parquet.io.DelegatingSeekableInputStream;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.RecordReader;
import org.apache.parquet.io.SeekableInputStream;
import org.apache.parquet.schema.MessageType;
import org.junit.jupiter.api.Test;

/** Parts as the Parquet library sees them: what others read with their own tools. */
class ParquetFileTest {
  private static final Schema SCHEMA = Schemas.everything();
  private static final RowCodec CODEC = new RowCodec(SCHEMA);

  @Test
  void theLibraryReadsEveryTypeAndLevel() throws Exception {
    Random random = new Random(11);
    List<One> updates = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      updates.add(One.of(CODEC.encode(Schemas.row(SCHEMA, random)), i % 5, 1 + i % 3));
    }
    updates = Updates.consolidate(updates, Long.MIN_VALUE);
    MemoryStore objects = new MemoryStore("parts");
    PartStore store = new PartStore(objects, "SHARD", Long.MAX_VALUE, () -> "part/x");
    store.writeRun(Updates.cursor(updates), SCHEMA);
    byte[] file = objects.get("part/x").orElseThrow();

    try (ParquetFileReader reader = ParquetFileReader.open(new Bytes(file), options())) {
      MessageType type = reader.getFooter().getFileMetaData().getSchema();
      assertThat(type).isEqualTo(PartSchema.of(SCHEMA));
      assertThat(type.getType("c7").getId().intValue()).isEqualTo(7);
      assertThat(type.toString())
          .contains("required int32 c2 (INTEGER(8,true)) = 2;")
          .contains("required int64 c9 (DECIMAL(18,0)) = 9;")
          .contains("required fixed_len_byte_array(16) c10 (DECIMAL(38,10)) = 10;")
          .contains("required int64 c18 (TIMESTAMP(MILLIS,false)) = 18;")
          .contains("optional int64 c47 (TIMESTAMP(MICROS,true)) = 47;")
          .contains("required int64 __time;");
      Map<String, String> footer = reader.getFooter().getFileMetaData().getKeyValueMetaData();
      assertThat(new TreeMap<>(footer).keySet())
          .containsExactly(
              "tidemark.checksum",
              "tidemark.format",
              "tidemark.groups",
              "tidemark.rows",
              "tidemark.schema",
              "tidemark.shard",
              "tidemark.sorted",
              "tidemark.sum");
      assertThat(footer.get("tidemark.rows")).isEqualTo("" + updates.size());
      int row = 0;
      for (PageReadStore pages = reader.readNextRowGroup();
          pages != null;
          pages = reader.readNextRowGroup()) {
        RecordReader<Group> records =
            new ColumnIOFactory()
                .getColumnIO(type)
                .getRecordReader(pages, new GroupRecordConverter(type));
        for (long i = 0; i < pages.getRowCount(); i++) {
          check(records.read(), updates.get(row++));
        }
      }
      assertThat(row).isEqualTo(updates.size());
      checkStatistics(reader, updates);
    }
  }

  private static void check(Group group, One update) {
    byte[] bytes = HexFormat.of().parseHex(update.row());
    Object[] values = CODEC.decode(bytes, 0, bytes.length);
    assertThat(group.getLong("__time", 0)).isEqualTo(update.time());
    assertThat(group.getLong("__diff", 0)).isEqualTo(update.diff());
    assertThat(group.getInteger("c4", 0)).isEqualTo(values[3]);
    assertThat(group.getLong("c5", 0)).isEqualTo(values[4]);
    assertThat(group.getBoolean("c1", 0)).isEqualTo(values[0]);
    assertThat(group.getDouble("c7", 0)).isEqualTo(values[6]);
    assertThat(group.getString("c16", 0)).isEqualTo(values[15]);
    assertThat(group.getBinary("c10", 0).getBytes())
        .isEqualTo(pad(((java.math.BigDecimal) values[9]).unscaledValue().toByteArray(), 16));
    for (int c = 0; c < values.length; c++) {
      ColumnType type = SCHEMA.columns().get(c).type();
      assertThat(group.getFieldRepetitionCount("c" + (c + 1))).isEqualTo(values[c] == null ? 0 : 1);
      if (type.kind() == ColumnType.Kind.ARRAY && values[c] != null) {
        Group list = group.getGroup("c" + (c + 1), 0);
        assertThat(list.getFieldRepetitionCount(0)).isEqualTo(((List<?>) values[c]).size());
        for (int i = 0; i < ((List<?>) values[c]).size(); i++) {
          Object element = ((List<?>) values[c]).get(i);
          Group item = list.getGroup(0, i);
          assertThat(item.getFieldRepetitionCount(0)).isEqualTo(element == null ? 0 : 1);
          if (element instanceof String) {
            assertThat(item.getString(0, 0)).isEqualTo(element);
          } else if (element instanceof List<?> inner) {
            assertThat(item.getGroup(0, 0).getFieldRepetitionCount(0)).isEqualTo(inner.size());
          }
        }
      }
      if (type.kind() == ColumnType.Kind.MAP && values[c] != null) {
        assertThat(group.getGroup("c" + (c + 1), 0).getFieldRepetitionCount(0))
            .isEqualTo(((Map<?, ?>) values[c]).size());
      }
    }
  }

  private static byte[] pad(byte[] number, int size) {
    byte[] padded = new byte[size];
    Arrays.fill(padded, (byte) (number[0] < 0 ? -1 : 0));
    System.arraycopy(number, 0, padded, size - number.length, number.length);
    return padded;
  }

  private static void checkStatistics(ParquetFileReader reader, List<One> updates) {
    for (ColumnChunkMetaData column : reader.getFooter().getBlocks().get(0).getColumns()) {
      Statistics<?> statistics = column.getStatistics();
      if (column.getPath().toDotString().equals("c5")) {
        List<Long> values = new ArrayList<>();
        for (One one : updates) {
          byte[] bytes = HexFormat.of().parseHex(one.row());
          values.add((Long) CODEC.decode(bytes, 0, bytes.length)[4]);
        }
        values.sort(null);
        assertThat(statistics.genericGetMin()).isEqualTo(values.get(0));
        assertThat(statistics.genericGetMax()).isEqualTo(values.get(values.size() - 1));
      }
      if (column.getPath().toDotString().equals("c7")) {
        assertThat(statistics.hasNonNullValue()).isFalse();
      }
    }
  }

  private static ParquetReadOptions options() {
    return ParquetReadOptions.builder(new PlainParquetConfiguration())
        .usePageChecksumVerification(true)
        .withCodecFactory(new ZstdOnly())
        .build();
  }

  private static final class ZstdOnly implements CompressionCodecFactory {
    @Override
    public BytesInputCompressor getCompressor(CompressionCodecName codec) {
      throw new UnsupportedOperationException("reads only");
    }

    @Override
    public BytesInputDecompressor getDecompressor(CompressionCodecName codec) {
      assertThat(codec).isEqualTo(CompressionCodecName.ZSTD);
      return new BytesInputDecompressor() {
        @Override
        public BytesInput decompress(BytesInput bytes, int size) throws IOException {
          byte[] compressed = bytes.toInputStream().readAllBytes();
          byte[] raw = new byte[size];
          assertThat(Zstd.decompressByteArray(raw, 0, size, compressed, 0, compressed.length))
              .isEqualTo(size);
          return BytesInput.from(raw);
        }

        @Override
        public void decompress(ByteBuffer in, int inSize, ByteBuffer out, int outSize) {
          throw new UnsupportedOperationException("heap only");
        }

        @Override
        public void release() {}
      };
    }

    @Override
    public void release() {}
  }

  private record Bytes(byte[] file) implements InputFile {
    @Override
    public long getLength() {
      return file.length;
    }

    @Override
    public SeekableInputStream newStream() {
      ByteArrayInputStream in = new ByteArrayInputStream(file);
      return new DelegatingSeekableInputStream(in) {
        @Override
        public long getPos() {
          return file.length - in.available();
        }

        @Override
        public void seek(long position) {
          in.reset();
          assertThat(in.skip(position)).isEqualTo(position);
        }
      };
    }
  }
}
