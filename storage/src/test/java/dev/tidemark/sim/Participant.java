package dev.tidemark.sim;

import dev.tidemark.log.CommitResult;
import dev.tidemark.log.LogCodec;
import dev.tidemark.log.LogEntry;
import dev.tidemark.log.ShardLog;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.CorruptShardException;
import dev.tidemark.shard.Diff;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.store.Body;
import dev.tidemark.store.StoreException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
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
    host.tookDamage();
    try {
      turn();
    } catch (StoreException e) {
      host.tell(() -> "gives up this turn: " + e.getMessage());
    } catch (IOException | CorruptShardException e) {
      if (!host.tookDamage()) {
        throw e;
      }
      host.tell(() -> "gives up this turn over what came damaged: " + e.getMessage());
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

  /** Puts a diff into the log that nobody decided on, as only a broken protocol does. */
  void force(ShardState state, Command command, Diff diff) throws IOException {
    LogEntry entry =
        new LogEntry(
            LogCodec.FORMAT,
            state.shard(),
            state.seqno().next(),
            String.format("%016x%016x", host.random(), host.random()),
            host.now().toString(),
            host.author("forced"),
            command.name(),
            diff);
    String key = String.format("log/%020d.json", entry.seqno().value());
    host.store().putIfAbsent(key, LogCodec.encode(entry));
  }

  /** Deletes parts as only a broken protocol does. */
  void deleteParts(List<Batch> batches) throws IOException {
    host.store().delete(Parts.keys(batches));
  }

  /** The rows of some batches, null when a part is gone. */
  @Nullable List<Update> read(List<Batch> batches) throws IOException {
    return read(batches, Parts::ofRuns);
  }

  /** The error rows of some batches, null when a part is gone. */
  @Nullable List<Update> readErrors(List<Batch> batches) throws IOException {
    return read(batches, Batch::errors);
  }

  private @Nullable List<Update> read(List<Batch> batches, Function<Batch, List<Part>> which)
      throws IOException {
    Mutant mutant = host.world().mutant();
    List<Update> updates = new ArrayList<>();
    for (Batch batch : batches) {
      for (Part part : which.apply(batch)) {
        Optional<byte[]> bytes = patientGet(part);
        if (bytes.isPresent()) {
          List<Update> rows = Parts.rows(part, bytes.get());
          updates.addAll(mutant == Mutant.CUT_ROWS_KEPT ? rows : Parts.within(batch, rows));
        } else if (mutant != Mutant.GONE_PARTS_LEFT_OUT) {
          host.tell(() -> "misses " + Parts.key(part));
          return null;
        }
        afterPart();
      }
    }
    return updates;
  }

  /** Between two parts. */
  void afterPart() throws IOException {}

  private Optional<byte[]> patientGet(Part part) throws IOException {
    boolean trusting = host.world().mutant() == Mutant.CHECKSUMS_NOT_COMPARED;
    for (int tried = 1; ; tried++) {
      try {
        Optional<byte[]> bytes = host.store().get(Parts.key(part));
        if (bytes.isEmpty() || trusting || Parts.isWhole(part, bytes.get())) {
          return bytes;
        }
        if (tried == UPLOAD_TRIES) {
          throw new IOException(Parts.key(part) + " isn't what its handle says");
        }
      } catch (StoreException e) {
        if (tried == UPLOAD_TRIES) {
          throw e;
        }
      }
      host.await(1_000L * tried);
    }
  }
}
