package dev.tidemark.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tidemark.flink.Attempts;
import dev.tidemark.hold.Holds;
import dev.tidemark.log.Author;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.ShardLog;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import java.util.function.BiConsumer;

/** What the commands have in common that change a shard. */
final class Admin {
  private Admin() {}

  /** This process as the log shows it. */
  static Author author(Context context) {
    return Attempts.author("tidemark-cli", context.clock(), "cli");
  }

  /** An id that no batch has. */
  static String batchId() {
    return "cli-" + UUID.randomUUID();
  }

  /**
   * Commits a command and says what became of it.
   *
   * @throws CommandException when it was refused
   */
  static int commit(Context context, boolean json, String url, ShardLog log, Command command)
      throws IOException {
    return commit(context, json, url, log, command, (node, state) -> {});
  }

  /**
   * Commits a command and says what became of it.
   *
   * @param more what to say in JSON beside, of the state after the command
   * @throws CommandException when it was refused
   */
  static int commit(
      Context context,
      boolean json,
      String url,
      ShardLog log,
      Command command,
      BiConsumer<ObjectNode, ShardState> more)
      throws IOException {
    CommitResult result = log.commit(command, author(context));
    if (result instanceof CommitResult.Refused refused) {
      throw new CommandException(Exit.NO, url + ": " + refused.refusal().message());
    }
    boolean committed = result instanceof CommitResult.Committed;
    String reason = result instanceof CommitResult.Nothing nothing ? nothing.reason() : "";
    if (json) {
      ObjectNode node = Json.object();
      node.put("shard", url).put("command", command.name()).put("committed", committed);
      node.put("seqno", result.state().seqno().value());
      if (!committed) {
        node.put("reason", reason);
      }
      more.accept(node, result.state());
      context.out().line(Json.text(node));
    } else {
      context
          .out()
          .line(
              committed
                  ? url + ": " + command.name() + " is version " + result.state().seqno()
                  : url + ": nothing to do, " + reason);
    }
    return Exit.DONE;
  }

  /** Refuses what would take from readers what they hold, naming them. */
  static void refuseHeld(Context context, String url, ShardLog log) throws IOException {
    List<Holds.Listed> live =
        new Holds(log)
            .list().stream()
                .filter(hold -> !context.clock().instant().isAfter(hold.expires()))
                .toList();
    if (!live.isEmpty()) {
      Holds.Listed first = live.get(0);
      throw new CommandException(
          Exit.NO,
          url
              + " is held by "
              + first.id()
              + " ("
              + first.hold().purpose()
              + " on "
              + first.hold().host()
              + ") until "
              + Times.text(first.expires().toEpochMilli())
              + (live.size() > 1 ? " and " + (live.size() - 1) + " more" : "")
              + ": wait, or tidemark holds "
              + url
              + " --drop ID");
    }
  }
}
