package dev.tidemark.log;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.tidemark.schema.Column;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.Fact;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.PartLocation;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.spine.Written;
import dev.tidemark.time.Frontier;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Writes facts in their one form: keys in a fixed order, then unknown ones sorted by name. */
final class FactWriter implements AutoCloseable {
  private final JsonGenerator json;

  FactWriter(ByteArrayOutputStream bytes) throws IOException {
    json = JsonObject.FACTORY.createGenerator(bytes);
  }

  void begin() throws IOException {
    json.writeStartObject();
  }

  void begin(String key) throws IOException {
    json.writeObjectFieldStart(key);
  }

  void end() throws IOException {
    json.writeEndObject();
  }

  void text(String key, String value) throws IOException {
    json.writeStringField(key, value);
  }

  void integer(String key, long value) throws IOException {
    json.writeNumberField(key, value);
  }

  private void flag(String key, boolean value) throws IOException {
    json.writeBooleanField(key, value);
  }

  /** A time: its milliseconds, or the name of an end. */
  void time(String key, long timeMillis) throws IOException {
    Frontier time = Frontier.of(timeMillis);
    if (time.isMinimum() || time.isEnd()) {
      json.writeStringField(key, time.toString());
    } else {
      json.writeNumberField(key, timeMillis);
    }
  }

  private void extra(Map<String, String> extra) throws IOException {
    for (Map.Entry<String, String> field : new TreeMap<>(extra).entrySet()) {
      json.writeFieldName(field.getKey());
      json.writeRawValue(field.getValue());
    }
  }

  void facts(String key, List<Fact> facts) throws IOException {
    json.writeArrayFieldStart(key);
    for (Fact fact : facts) {
      fact(fact);
    }
    json.writeEndArray();
  }

  void fact(Fact fact) throws IOException {
    json.writeStartObject();
    if (fact instanceof Fact.ShardFact shard) {
      begin("shard");
      text("id", shard.shard());
      text("format", shard.format());
      end();
    } else if (fact instanceof Fact.SchemaFact schema) {
      schema(schema.schema(), schema.extra());
    } else if (fact instanceof Fact.SpecFact spec) {
      spec(spec.spec(), spec.extra());
    } else if (fact instanceof Fact.ConsolidatingFact consolidating) {
      consolidating(consolidating);
    } else if (fact instanceof Fact.UpperFact upper) {
      time("upper", upper.upper().time());
    } else if (fact instanceof Fact.SinceFact since) {
      time("since", since.since().time());
    } else if (fact instanceof Fact.SweptFact swept) {
      text("swept", swept.day());
    } else if (fact instanceof Fact.WrittenFact written) {
      written(written.written(), written.extra());
    } else if (fact instanceof Fact.BatchFact batch) {
      batch(batch.batch());
    } else if (fact instanceof Fact.WriterFact writer) {
      writer(writer);
    } else if (fact instanceof Fact.UnknownFact unknown) {
      unknown(unknown);
    } else {
      throw new IllegalStateException("no form for " + fact.getClass());
    }
    json.writeEndObject();
  }

  private void consolidating(Fact.ConsolidatingFact consolidating) throws IOException {
    long upper = consolidating.upper().time();
    if (!consolidating.forced()) {
      time("consolidating", upper);
      return;
    }
    begin("consolidating");
    time("upper", upper);
    flag(FactReader.FORCED, true);
    end();
  }

  private void schema(Schema schema, Map<String, String> extra) throws IOException {
    begin("schema");
    integer("id", schema.id());
    json.writeArrayFieldStart("columns");
    for (Column column : schema.columns()) {
      begin();
      integer("id", column.id());
      text("name", column.name());
      text("type", column.type().withNullable(true).toString());
      flag("nullable", column.type().nullable());
      end();
    }
    json.writeEndArray();
    json.writeArrayFieldStart("key");
    for (String name : schema.key()) {
      json.writeString(name);
    }
    json.writeEndArray();
    extra(extra);
    end();
  }

  private void spec(SpineSpec spec, Map<String, String> extra) throws IOException {
    begin("spec");
    integer("fanIn", spec.fanIn());
    integer("queue", spec.queue());
    integer("rest", spec.rest());
    integer("baseBytes", spec.baseBytes());
    json.writeNumberField("space", spec.space());
    flag("merging", spec.merging());
    extra(extra);
    end();
  }

  private void written(Written written, Map<String, String> extra) throws IOException {
    begin("written");
    integer("runs", written.runs());
    integer("bytes", written.bytes());
    integer("merges", written.merges());
    integer("merged", written.merged());
    if (written.forced() > 0) {
      integer(FactReader.FORCED, written.forced());
    }
    json.writeNumberField("depth", written.depth());
    extra(extra);
    end();
  }

  private void writer(Fact.WriterFact writer) throws IOException {
    begin("writer");
    text("id", writer.by().writer());
    time("upto", writer.upto().time());
    text("started", writer.by().started());
    text("attempt", writer.by().attempt());
    text("host", writer.by().host());
    flag("readOnly", writer.readOnly());
    extra(writer.extra());
    end();
  }

  private void batch(Batch batch) throws IOException {
    begin("batch");
    text("id", batch.id());
    time("lower", batch.bounds().lower().time());
    time("upper", batch.bounds().upper().time());
    time("since", batch.since().time());
    integer("level", batch.level());
    json.writeArrayFieldStart("runs");
    for (List<Part> run : batch.runs()) {
      json.writeStartArray();
      for (Part part : run) {
        part(part);
      }
      json.writeEndArray();
    }
    json.writeEndArray();
    json.writeArrayFieldStart("errors");
    for (Part part : batch.errors()) {
      part(part);
    }
    json.writeEndArray();
    integer("rows", batch.rows());
    integer("bytes", batch.bytes());
    integer("retracted", batch.retracted());
    if (batch.sum().isPresent()) {
      integer("sum", batch.sum().getAsLong());
    } else {
      json.writeNullField("sum");
    }
    time("maxTime", batch.maxTime());
    flag("cut", batch.cut());
    integer("schema", batch.schema());
    extra(batch.extra());
    end();
  }

  private void part(Part part) throws IOException {
    begin();
    PartLocation location = part.location();
    if (location instanceof PartLocation.Stored stored) {
      text("key", stored.key());
      integer("size", stored.sizeBytes());
    } else if (location instanceof PartLocation.Inline inline) {
      text("inline", inline.base64());
    }
    integer("rows", part.rows());
    integer("bytes", part.bytes());
    integer("sum", part.sum());
    integer("retracted", part.retracted());
    String minKey = part.minKey();
    if (minKey != null) {
      text("minKey", minKey);
    }
    String maxKey = part.maxKey();
    if (maxKey != null) {
      text("maxKey", maxKey);
    }
    time("minTime", part.minTime());
    time("maxTime", part.maxTime());
    if (location instanceof PartLocation.Stored stored) {
      text("crc32c", stored.crc32c());
    }
    extra(part.extra());
    end();
  }

  private void unknown(Fact.UnknownFact unknown) throws IOException {
    json.writeFieldName(unknown.name());
    String alone = unknown.fields().get("");
    if (alone != null) {
      json.writeRawValue(alone);
    } else {
      json.writeStartObject();
      extra(unknown.fields());
      json.writeEndObject();
    }
  }

  @Override
  public void close() throws IOException {
    json.close();
  }
}
