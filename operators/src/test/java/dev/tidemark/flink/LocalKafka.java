package dev.tidemark.flink;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Assumptions;

/** A Kafka broker on loopback, a process of its own, with what tests do to it. */
final class LocalKafka implements AutoCloseable {
  private static final long START_SECONDS = 60;
  private static final int LARGEST_RECORD = 100 << 20;

  private final Process process;
  private final Admin admin;
  private final KafkaProducer<String, String> producer;
  private final List<Future<?>> sent = new ArrayList<>();

  /** {@code host:port}. */
  final String servers;

  private LocalKafka(Process process, String servers) {
    this.process = process;
    this.servers = servers;
    this.admin = Admin.create(Map.of("bootstrap.servers", servers));
    this.producer = new KafkaProducer<>(producer(Map.of()));
  }

  /** Starts one in a folder; where its jars aren't there, the test is skipped, and says so. */
  static LocalKafka start(Path folder) throws Exception {
    Path lib = Path.of(System.getProperty("tidemark.root", "..")).resolve("broker/target/lib");
    Assumptions.assumeTrue(
        Files.isDirectory(lib), "no Kafka broker in " + lib + ": mvn -f broker/pom.xml test");
    int port = freePort();
    int controller = freePort();
    Path config = folder.resolve("server.properties");
    Files.writeString(
        config,
        String.join(
            "\n",
            "process.roles=broker,controller",
            "node.id=1",
            "listeners=PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controller,
            "advertised.listeners=PLAINTEXT://127.0.0.1:" + port,
            "inter.broker.listener.name=PLAINTEXT",
            "controller.listener.names=CONTROLLER",
            "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "controller.quorum.bootstrap.servers=127.0.0.1:" + controller,
            "log.dirs=" + folder.resolve("data"),
            "auto.create.topics.enable=false",
            "offsets.topic.replication.factor=1",
            "offsets.topic.num.partitions=1",
            "transaction.state.log.replication.factor=1",
            "transaction.state.log.min.isr=1",
            "transaction.state.log.num.partitions=1",
            "share.coordinator.state.topic.replication.factor=1",
            "share.coordinator.state.topic.min.isr=1",
            "group.initial.rebalance.delay.ms=0",
            "message.max.bytes=" + LARGEST_RECORD,
            "log.cleaner.enable=false",
            ""));
    java(
            folder,
            lib,
            "kafka.tools.StorageTool",
            "format",
            "--standalone",
            "-t",
            id(),
            "-c",
            "" + config)
        .waitFor();
    Process process = java(folder, lib, "kafka.Kafka", config.toString());
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
    LocalKafka kafka = new LocalKafka(process, "127.0.0.1:" + port);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    while (true) {
      try {
        kafka.admin.describeCluster().nodes().get(2, TimeUnit.SECONDS);
        return kafka;
      } catch (ExecutionException | TimeoutException e) {
        if (!process.isAlive() || System.nanoTime() > deadline) {
          kafka.close();
          throw new IllegalStateException(Files.readString(folder.resolve("kafka.log")), e);
        }
      }
    }
  }

  private static String id() {
    byte[] random = new byte[16];
    new SecureRandom().nextBytes(random);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(random).replace('-', 'x');
  }

  private static Process java(Path folder, Path lib, String main, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", lib + File.separator + "*", main));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.resolve("kafka.log").toFile()))
        .start();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private Properties producer(Map<String, String> more) {
    Properties properties = new Properties();
    properties.setProperty("bootstrap.servers", servers);
    properties.setProperty("key.serializer", StringSerializer.class.getName());
    properties.setProperty("value.serializer", StringSerializer.class.getName());
    properties.setProperty("max.request.size", Integer.toString(LARGEST_RECORD));
    properties.setProperty("buffer.memory", Integer.toString(LARGEST_RECORD));
    more.forEach(properties::setProperty);
    return properties;
  }

  void topic(String name, int partitions) throws Exception {
    admin.createTopics(List.of(new NewTopic(name, partitions, (short) 1))).all().get();
    awaitLeaders(name, partitions);
  }

  /** A broker that doesn't know yet that it leads a partition turns writers away. */
  private void awaitLeaders(String topic, int partitions) throws Exception {
    Map<TopicPartition, OffsetSpec> all = new HashMap<>();
    for (int partition = 0; partition < partitions; partition++) {
      all.put(new TopicPartition(topic, partition), OffsetSpec.latest());
    }
    admin.listOffsets(all).all().get(START_SECONDS, TimeUnit.SECONDS);
  }

  void grow(String name, int partitions) throws Exception {
    admin.createPartitions(Map.of(name, NewPartitions.increaseTo(partitions))).all().get();
    awaitLeaders(name, partitions);
  }

  /** Writes a record; {@link #flush} makes sure that it is there. */
  void send(String topic, int partition, String key, String value) {
    sent.add(producer.send(new ProducerRecord<>(topic, partition, key, value)));
  }

  /** Writes a record with a timestamp. */
  void sendAt(String topic, int partition, long timestamp, String key, String value) {
    sent.add(producer.send(new ProducerRecord<>(topic, partition, timestamp, key, value)));
  }

  /** Makes sure that all that was sent is there. */
  void flush() throws Exception {
    producer.flush();
    for (Future<?> record : sent) {
      record.get();
    }
    sent.clear();
  }

  /** Writes records that are rolled back. */
  void sendAborted(String topic, int partition, List<String> values) {
    try (KafkaProducer<String, String> aborting =
        new KafkaProducer<>(producer(Map.of("transactional.id", topic + "-aborted")))) {
      aborting.initTransactions();
      aborting.beginTransaction();
      for (String value : values) {
        var unused = aborting.send(new ProducerRecord<>(topic, partition, null, value));
      }
      aborting.flush();
      aborting.abortTransaction();
    }
  }

  @Override
  public void close() {
    producer.close(Duration.ZERO);
    admin.close(Duration.ZERO);
    process.destroyForcibly();
  }
}
