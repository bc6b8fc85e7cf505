package dev.tidemark.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tidemark.flink.message.Update;
import dev.tidemark.job.Amounts;
import dev.tidemark.job.JobOptions;
import dev.tidemark.job.StartPoint;
import dev.tidemark.job.TidemarkJob;
import dev.tidemark.row.ErrorRows;
import dev.tidemark.row.RowCodec;
import dev.tidemark.store.ObjectStore;
import java.util.ArrayList;
import java.util.List;

/** {@code run --check}: everything but the running. */
final class RunCheck {
  private static final int ROWS = 10;

  private final JobOptions options;
  private final Context context;

  RunCheck(JobOptions options, Context context) {
    this.options = options;
    this.context = context;
  }

  int run(boolean json) throws Exception {
    try (ObjectStore store = RunCommand.open(options)) {
      store.list("", "", 1);
    }
    StartPoint from = StartPoint.peek(options);
    from.check(options);
    List<String> errors = new ArrayList<>();
    List<Update> updates = TidemarkJob.firstUpdates(options, ROWS);
    RowCodec codec = new RowCodec(ErrorRows.SCHEMA);
    for (Update update : updates) {
      if (update.error) {
        Object[] row = codec.decode(update.row, 0, update.row.length);
        errors.add(row[2] + ": " + row[0]);
      }
    }
    if (json) {
      ObjectNode node = Json.object();
      node.put("warehouse", options.warehouse()).put("updatesRead", updates.size());
      errors.forEach(node.putArray("errors")::add);
      node.put("from", from.path().orElse("nothing"));
      context.out().line(Json.text(node));
    } else {
      context
          .out()
          .line(
              "options   good: "
                  + Amounts.count(options.shards().size(), "shard")
                  + ", writer "
                  + options.writer());
      context.out().line("store     reached: " + options.warehouse());
      context.out().line("start     from " + from.path().orElse("nothing"));
      context
          .out()
          .line(
              "rows      "
                  + Amounts.count(updates.size(), "update")
                  + " read, of which errors: "
                  + errors.size());
      errors.forEach(error -> context.out().line("          " + error));
    }
    return Exit.DONE;
  }
}
