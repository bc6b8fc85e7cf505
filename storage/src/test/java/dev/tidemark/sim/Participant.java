package dev.tidemark.sim;

import dev.tidemark.log.CommitResult;
import dev.tidemark.log.ShardLog;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.store.Body;
import dev.tidemark.store.StoreException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Somebody with a handle on the shard who takes turns; every answer it gets is held to the truth.
 */
abstract class Participant {
  private static final int UPLOAD_TRIES = 4;

  final Host host;
  final ShardLog log;

  Participant(Host host) {
    this.host = host;
    this.log = host.open();
  }

  /** Takes turns until it is done, killed or the history is over. */
  void live() throws IOException {
    try {
      for (int turn = 0; goesOn(); turn++) {
        rest();
        if (host.world().takesTurn(host.name(), turn)) {
          maybeTurn();
        }
      }
    } catch (Host.Killed e) {
      killed();
    }
  }

  private void maybeTurn() throws IOException {
    try {
      turn();
    } catch (StoreException e) {
      host.tell(() -> "gives up this turn: " + e.getMessage());
    }
  }

  /** Between two turns. */
  void rest() {
    host.rest();
  }

  /** One turn; a storage failure ends it. */
  abstract void turn() throws IOException;

  /** Whether there are more turns. */
  boolean goesOn() {
    return true;
  }

  /** After being killed. */
  void killed() {}

  ShardState refresh() throws IOException {
    return known(log.refresh());
  }

  ShardState refreshChecked() throws IOException {
    return known(log.refreshChecked());
  }

  private ShardState known(ShardState state) {
    host.truth().checkKnown(host.name(), state);
    return state;
  }

  CommitResult commit(Command command, String role) throws IOException {
    CommitResult result = log.commit(command, host.author(role));
    if (result instanceof CommitResult.Committed committed) {
      host.truth().checkCommitted(host.name(), committed.entry());
      host.tell(() -> command.name() + " is version " + committed.seqno());
    } else if (result instanceof CommitResult.Nothing nothing) {
      host.tell(() -> command.name() + ": nothing to do, " + nothing.reason());
    } else if (result instanceof CommitResult.Refused refused) {
      host.tell(() -> command.name() + ": refused, " + refused.refusal().message());
    }
    known(result.state());
    return result;
  }

  /** Uploads a part and comes back with its handle; several tries, all with the same bytes. */
  Part upload(List<Update> updates) throws IOException {
    if (host.world().settings().parquet()) {
      return Parquet.write(host, updates);
    }
    String key = host.partKey();
    byte[] bytes = Rows.encode(updates);
    for (int tried = 1; ; tried++) {
      try {
        host.store().put(key, Body.of(bytes));
        return Parts.handle(key, updates, bytes);
      } catch (StoreException e) {
        if (tried == UPLOAD_TRIES) {
          throw e;
        }
      }
      host.await(1_000L * tried);
    }
  }

  /** Deletes parts as only a broken protocol does. */
  void deleteParts(List<Batch> batches) throws IOException {
    host.store().delete(Parts.keys(batches));
  }

  /** The rows of some batches, null when a part is gone. */
  @Nullable List<Update> read(List<Batch> batches) throws IOException {
    List<Update> updates = new ArrayList<>();
    for (Batch batch : batches) {
      for (Part part : Parts.of(batch)) {
        Optional<byte[]> bytes = patientGet(Parts.key(part));
        if (bytes.isEmpty()) {
          host.tell(() -> "misses " + Parts.key(part));
          return null;
        }
        updates.addAll(Parts.rows(batch, part, bytes.get()));
        afterPart();
      }
    }
    return updates;
  }

  /** Between two parts. */
  void afterPart() throws IOException {}

  private Optional<byte[]> patientGet(String key) throws IOException {
    for (int tried = 1; ; tried++) {
      try {
        return host.store().get(key);
      } catch (StoreException e) {
        if (tried == UPLOAD_TRIES) {
          throw e;
        }
      }
      host.await(1_000L * tried);
    }
  }
}
