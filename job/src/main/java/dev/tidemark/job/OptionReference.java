package dev.tidemark.job;

import java.util.List;

/** Writes conf/reference.md from the keys themselves. */
public final class OptionReference {
  private OptionReference() {}

  /** The whole file. */
  public static String markdown() {
    StringBuilder out = new StringBuilder();
    out.append("# Options\n\n")
        .append(
            "Made by `scripts/tidemark reference` from the option classes; a test compares the"
                + " two.\n\n")
        .append(
            "Keys stand in a YAML file given by `--conf` (nested or dotted), and any of them on the"
                + " command line as\n")
        .append(
            "`--key value` or `--key=value`, which wins. Durations and sizes always have a unit:"
                + " `500 ms`, `10 s`, `5 min`,\n")
        .append(
            "`1 h`, `7 days`; `100 B`, `64 KiB`, `1 MiB`, `2 GiB`. An unknown key is an error.\n");
    section(out, "The job and its shards", JobKeys.ALL);
    out.append(
        """

        ## Many tables in one stream

        Instead of `shard.name` and `source.schema`, in the file only:
        ```
        tables:
          - shard: orders                     # under shard.warehouse
            match: {table: public.orders}     # or {topic: orders}, or {column: type, equals: order}; one kind a job
            schema: "id BIGINT NOT NULL, note STRING, PRIMARY KEY (id) NOT ENFORCED"
            envelope: upsert                  # the rest defaults to the job's
            event-time: metadata
            spec: {queue: 32}
            retain: 1 h
        ```
        """);
    section(out, "The source", SourceKeys.ALL);
    out.append(
        """

        `source.kafka.KEY` passes KEY on to Kafka's consumers and admin clients: `source.kafka.security.protocol`, say.
        `isolation.level` is `read_committed` and `partition.discovery.interval.ms` a minute unless set. Refused are those that
        have a key of Tidemark's own.
        """);
    section(out, "Writing, merging, checkpoints, start", RunKeys.ALL);
    section(out, "Garbage and holds", UpkeepKeys.ALL);
    section(out, "The store", StoreKeys.ALL);
    out.append(
        """

        ## Flink's own

        `flink.KEY` passes KEY on to Flink's configuration: `flink.taskmanager.memory.managed.size`, say. Refused are those
        that would take exactly-once away: BATCH mode, another checkpointing mode, checkpoints off.
        """);
    return out.toString();
  }

  private static void section(StringBuilder out, String title, List<OptionKey<?>> keys) {
    out.append("\n## ")
        .append(title)
        .append("\n\n| key | takes | default | why | what it does |\n|---|---|---|---|---|\n");
    for (OptionKey<?> key : keys) {
      out.append("| `")
          .append(key.name())
          .append("` | ")
          .append(key.type().form().replace("|", "\\|"))
          .append(" | ")
          .append(key.shown().isEmpty() ? "–" : key.shown())
          .append(" | ")
          .append(key.reason())
          .append(" | ")
          .append(key.doc())
          .append(" |\n");
    }
  }
}
