package dev.tidemark.part;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import com.github.luben.zstd.Zstd;
import dev.tidemark.row.Seeds;
import dev.tidemark.row.Updates;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.PartLocation;
import dev.tidemark.store.Body;
import dev.tidemark.store.MemoryStore;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Random;
import java.util.zip.CRC32;
import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.PageHeader;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.Util;
import org.junit.jupiter.api.Test;

/** Parts whose bytes are wrong though every checksum fits, as if written so on purpose. */
class PartDamageTest {
  private static final byte[] MAGIC = "PAR1".getBytes(StandardCharsets.US_ASCII);

  private final MemoryStore objects = new MemoryStore("parts");
  private final PartStore store = new PartStore(objects, "SHARD", 1 << 20, () -> "good");

  @Test
  void noBytesMakeAnythingButANamedError() throws Exception {
    Part part = store.writeRun(Updates.cursor(PartStoreTest.sample()), PartStoreTest.KEYED).get(0);
    byte[] good = objects.get("good").orElseThrow();
    assertThat(read(part, rewrite(good, new Random(0), 0))).isTrue();
    Seeds.each(
        20,
        random -> {
          for (int i = 0; i < 100; i++) {
            read(part, rewrite(good, random, 1 + random.nextInt(3)));
          }
        });
  }

  /** Whether the bytes can be read; if not, the error names the part. */
  private boolean read(Part part, byte[] bytes) {
    try {
      objects.put("bad", Body.of(bytes));
      PartLocation location =
          new PartLocation.Stored("bad", bytes.length, SegmentOutput.crc32c(Body.of(bytes)));
      Part bad =
          new Part(
              location,
              part.rows(),
              part.bytes(),
              part.sum(),
              part.retracted(),
              part.minKey(),
              part.maxKey(),
              part.minTime(),
              part.maxTime(),
              Map.of());
      Updates.drain(store.read(bad, PartStoreTest.KEYED, PartStoreTest.KEYED));
      return true;
    } catch (IOException e) {
      assertThat(e).isNotInstanceOf(EOFException.class).hasMessageContaining("part bad");
      return false;
    } catch (Exception | OutOfMemoryError | StackOverflowError e) {
      return fail("not an IOException", e);
    }
  }

  /** The same file with some damage, by the Parquet library. */
  private static byte[] rewrite(byte[] good, Random random, int damages) throws IOException {
    int length = ByteBuffer.wrap(good).order(ByteOrder.LITTLE_ENDIAN).getInt(good.length - 8);
    FileMetaData footer =
        Util.readFileMetaData(new ByteArrayInputStream(good, good.length - 8 - length, length));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(MAGIC);
    int columns = footer.getRow_groups().get(0).getColumnsSize();
    int damaged = damages == 0 ? -1 : random.nextInt(columns + 3);
    for (RowGroup group : footer.getRow_groups()) {
      for (int i = 0; i < columns; i++) {
        ColumnChunk chunk = group.getColumns().get(i);
        copy(good, chunk.getMeta_data(), out, random, damaged == i ? damages : 0);
      }
    }
    if (damaged == columns) {
      damageFooter(footer, random);
    }
    ByteArrayOutputStream tail = new ByteArrayOutputStream();
    Util.writeFileMetaData(footer, tail);
    byte[] footerBytes = tail.toByteArray();
    if (damaged > columns) {
      flip(footerBytes, random, damages);
    }
    out.write(footerBytes);
    out.write(
        ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(footerBytes.length).array());
    out.write(MAGIC);
    return out.toByteArray();
  }

  private static void damageFooter(FileMetaData footer, Random random) {
    RowGroup group = footer.getRow_groups().get(0);
    ColumnMetaData column =
        group.getColumns().get(random.nextInt(group.getColumnsSize())).getMeta_data();
    switch (random.nextInt(5)) {
      case 0 -> group.setNum_rows(number(random));
      case 1 -> column.setNum_values(number(random));
      case 2 -> column.setData_page_offset(number(random));
      case 3 -> column.setTotal_compressed_size(number(random));
      default -> column.setTotal_uncompressed_size(number(random));
    }
  }

  private static long number(Random random) {
    return random.nextBoolean() ? random.nextInt(1000) - 10 : random.nextLong();
  }

  /** Copies the pages of a column, with damage to their headers, bytes or contents. */
  private static void copy(
      byte[] good, ColumnMetaData meta, ByteArrayOutputStream out, Random random, int damages)
      throws IOException {
    ByteArrayInputStream in =
        new ByteArrayInputStream(
            good, (int) meta.getData_page_offset(), (int) meta.getTotal_compressed_size());
    meta.setData_page_offset(out.size());
    while (in.available() > 0) {
      PageHeader header = Util.readPageHeader(in);
      byte[] page = in.readNBytes(header.getCompressed_page_size());
      int kind = damages == 0 ? -1 : random.nextInt(3);
      if (kind == 0) {
        flip(page, random, damages);
      } else if (kind == 1) {
        byte[] raw = new byte[header.getUncompressed_page_size()];
        Zstd.decompress(raw, page);
        flip(raw, random, damages);
        page = Zstd.compress(raw);
        header.setCompressed_page_size(page.length);
      } else if (kind == 2) {
        switch (random.nextInt(3)) {
          case 0 -> header.getData_page_header().setNum_values((int) number(random));
          case 1 -> header.setUncompressed_page_size((int) number(random));
          default -> header.setCompressed_page_size((int) number(random));
        }
      }
      CRC32 crc = new CRC32();
      crc.update(page);
      header.setCrc((int) crc.getValue());
      Util.writePageHeader(header, out);
      out.write(page);
    }
    meta.setTotal_compressed_size(out.size() - meta.getData_page_offset());
  }

  private static void flip(byte[] bytes, Random random, int times) {
    for (int i = 0; i < times && bytes.length > 0; i++) {
      int at = random.nextInt(bytes.length);
      bytes[at] = (byte) (random.nextBoolean() ? 0x7F : bytes[at] ^ 1 << random.nextInt(8));
    }
  }
}
