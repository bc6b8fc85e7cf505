package dev.tidemark.flink.source;

import dev.tidemark.flink.message.RawRecord;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Topics of Kafka as raw records, by Flink's own connector. Offsets live in Flink's state, whole
 * numbers from the first checkpoint on; what the group has committed is for people only. An offset
 * that the broker has deleted meanwhile fails the job: going on elsewhere would lose rows.
 */
final class KafkaInput {
  private static final Logger LOG = LoggerFactory.getLogger(KafkaInput.class);

  /** A broker that is there answers far sooner. */
  private static final int PATIENCE_MILLIS = 5_000;

  private static final String DISCOVERY = "partition.discovery.interval.ms";

  /** New partitions are found within this; Kafka's own five minutes are long for a watermark. */
  private static final String DISCOVERY_MILLIS = "60000";

  /** What an admin client would warn of. */
  private static final List<String> CONSUMERS_ONLY =
      List.of(ConsumerConfig.GROUP_ID_CONFIG, ConsumerConfig.ISOLATION_LEVEL_CONFIG, DISCOVERY);

  private static final int MOST_NAMES = 10;

  private KafkaInput() {}

  /**
   * A source, which says by marks what partitions its readers have.
   *
   * @throws IllegalArgumentException naming the option and the mend
   * @throws SourceUnreachableException when no broker answers
   */
  static Source<RawRecord, ?, ?> of(SourceSettings.Kafka settings) {
    Pattern pattern = pattern(settings.topicPattern());
    probe(settings, pattern);
    KafkaSourceBuilder<RawRecord> builder =
        KafkaSource.<RawRecord>builder()
            .setProperties(properties(settings))
            .setDeserializer(new Records())
            .setStartingOffsets(new Start(settings.from()));
    if (pattern == null) {
      builder.setTopics(settings.topics());
    } else {
      builder.setTopicPattern(pattern);
    }
    if (settings.untilLatest()) {
      return new BoundedKafkaSource(builder.setBounded(OffsetsInitializer.latest()).build());
    }
    return new MarkedSource<>(builder.build(), KafkaPartitionSplit::splitId);
  }

  private static @Nullable Pattern pattern(@Nullable String text) {
    try {
      return text == null ? null : Pattern.compile(text);
    } catch (PatternSyntaxException e) {
      throw new IllegalArgumentException(
          "source.topic-pattern = " + text + ": no regular expression: " + e.getDescription());
    }
  }

  private static Properties properties(SourceSettings.Kafka settings) {
    Properties properties = new Properties();
    // What was rolled back never was.
    properties.setProperty(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
    properties.setProperty(DISCOVERY, DISCOVERY_MILLIS);
    settings.properties().forEach(properties::setProperty);
    properties.setProperty(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, settings.servers());
    properties.setProperty(ConsumerConfig.GROUP_ID_CONFIG, settings.group());
    return properties;
  }

  /** Asks for the topics, so that what is wrong is said before anything runs. */
  private static void probe(SourceSettings.Kafka settings, @Nullable Pattern pattern) {
    Properties properties = properties(settings);
    properties.setProperty(
        AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, Integer.toString(PATIENCE_MILLIS));
    properties.setProperty(
        AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, Integer.toString(PATIENCE_MILLIS / 2));
    for (String consumers : CONSUMERS_ONLY) {
      properties.remove(consumers);
    }
    try (Admin admin = Admin.create(properties)) {
      if (pattern == null) {
        admin
            .describeTopics(settings.topics())
            .allTopicNames()
            .get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        return;
      }
      Set<String> names = names(admin);
      if (names.stream().noneMatch(name -> pattern.matcher(name).matches())) {
        String none =
            "no topic of " + settings.servers() + " matches " + pattern + "; " + has(names);
        if (settings.untilLatest()) {
          throw new IllegalArgumentException("source.topic-pattern: " + none);
        }
        LOG.warn("source.topic-pattern: {}; waiting for one", none);
      }
    } catch (ExecutionException e) {
      Throwable cause = Objects.requireNonNullElse(e.getCause(), e);
      if (cause instanceof UnknownTopicOrPartitionException) {
        throw missing(settings, properties);
      }
      throw unreachable(settings, cause);
    } catch (TimeoutException e) {
      throw unreachable(settings, e);
    } catch (KafkaException e) {
      Throwable cause = Objects.requireNonNullElse(e.getCause(), e);
      throw new IllegalArgumentException(
          "source.servers = " + settings.servers() + ": " + cause.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while asking Kafka for its topics", e);
    }
  }

  private static Set<String> names(Admin admin)
      throws ExecutionException, InterruptedException, TimeoutException {
    return new TreeSet<>(admin.listTopics().names().get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS));
  }

  private static String has(Collection<String> names) {
    return names.isEmpty()
        ? "it has no topics"
        : "it has "
            + String.join(", ", names.stream().limit(MOST_NAMES).toList())
            + (names.size() > MOST_NAMES ? " and " + (names.size() - MOST_NAMES) + " more" : "");
  }

  private static IllegalArgumentException missing(
      SourceSettings.Kafka settings, Properties properties) {
    Set<String> missing = new TreeSet<>(settings.topics());
    String has = "";
    try (Admin admin = Admin.create(properties)) {
      Set<String> names = names(admin);
      missing.removeAll(names);
      has = "; " + has(names);
    } catch (ExecutionException | TimeoutException e) {
      LOG.debug("the topics of {} aren't known", settings.servers(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return new IllegalArgumentException(
        "source.topics: there is no topic "
            + String.join(", ", missing)
            + " on "
            + settings.servers()
            + ": make it, or correct its name"
            + has);
  }

  private static SourceUnreachableException unreachable(
      SourceSettings.Kafka settings, Throwable cause) {
    String reason =
        cause instanceof TimeoutException
                || cause instanceof org.apache.kafka.common.errors.TimeoutException
            ? "no answer within " + PATIENCE_MILLIS / 1000 + " s"
            : String.valueOf(cause.getMessage());
    return new SourceUnreachableException(
        "Kafka at "
            + settings.servers()
            + " can't be reached: "
            + reason
            + "; see that source.servers is right, the broker runs, and source.kafka.* has what it"
            + " takes to be let in",
        cause);
  }

  /** Where partitions are begun; and none is ever begun anew elsewhere. */
  @SuppressWarnings("deprecation") // Kafka's, and what the connector asks for
  private static final class Start implements OffsetsInitializer {
    private static final long serialVersionUID = 1L;

    private final OffsetsInitializer offsets;

    Start(SourceSettings.From from) {
      this.offsets =
          switch (from.place()) {
            case EARLIEST -> OffsetsInitializer.earliest();
            case LATEST -> OffsetsInitializer.latest();
            case TIME -> OffsetsInitializer.timestamp(from.timeMillis());
          };
    }

    @Override
    public Map<TopicPartition, Long> getPartitionOffsets(
        Collection<TopicPartition> partitions, PartitionOffsetsRetriever retriever) {
      return offsets.getPartitionOffsets(partitions, retriever);
    }

    @Override
    public OffsetResetStrategy getAutoOffsetResetStrategy() {
      return OffsetResetStrategy.NONE;
    }
  }

  /** Takes a record over as it is. */
  private static final class Records implements KafkaRecordDeserializationSchema<RawRecord> {
    private static final long serialVersionUID = 1L;

    private transient @Nullable TopicPartition last;
    private transient @Nullable String lastName;

    @Override
    public void deserialize(ConsumerRecord<byte[], byte[]> from, Collector<RawRecord> out) {
      RawRecord record = new RawRecord();
      record.key = from.key();
      record.value = from.value();
      record.topic = from.topic();
      record.place = name(from);
      record.partition = record.place;
      record.number = from.offset();
      record.timestampMillis =
          from.timestamp() == ConsumerRecord.NO_TIMESTAMP
              ? RawRecord.NO_TIMESTAMP
              : from.timestamp();
      int bytes = length(from.key()) + length(from.value());
      if (bytes > RawLines.maxRecordBytes()) {
        record.flaw =
            "a record of " + bytes + " bytes, more than " + RawLines.maxRecordBytes() + " bytes";
      }
      out.collect(record);
    }

    private static int length(byte @Nullable [] bytes) {
      return bytes == null ? 0 : bytes.length;
    }

    /** The split's id, made once for many records. */
    private String name(ConsumerRecord<byte[], byte[]> from) {
      TopicPartition partition = last;
      String name = lastName;
      if (partition == null
          || name == null
          || partition.partition() != from.partition()
          || !partition.topic().equals(from.topic())) {
        partition = new TopicPartition(from.topic(), from.partition());
        name = KafkaPartitionSplit.toSplitId(partition);
        last = partition;
        lastName = name;
      }
      return name;
    }

    @Override
    public TypeInformation<RawRecord> getProducedType() {
      return RawRecord.TYPE;
    }
  }
}
