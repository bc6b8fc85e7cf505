package dev.tidemark.log;

import dev.tidemark.shard.Command;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import java.time.Instant;
import java.util.Map;

/**
 * Makes the log of a shard in S3 long in a short time, for {@code scripts/two-processes}: {@code
 * SHARD ENDPOINT ACCESS-KEY SECRET-KEY VERSIONS}. Each version alters {@code rest} of the spec by
 * one, to and fro.
 */
final class ManyVersions {
  private ManyVersions() {}

  public static void main(String[] words) throws Exception {
    StoreSettings settings =
        new StoreSettings(
            Map.of(
                "endpoint", words[1],
                "region", "us-east-1",
                "access-key", words[2],
                "secret-key", words[3]));
    Author by =
        new Author(
            new WriterAttempt("many-versions", Instant.now().toString(), "1", "localhost"), "cli");
    try (ObjectStore store = Stores.open(words[0], settings)) {
      ShardLog log = new ShardLog(store);
      int rest = log.refresh().spec().rest();
      for (int i = 1; i <= Integer.parseInt(words[4]); i++) {
        Command alter = new Command.AlterSpec(null, null, rest + i % 2, null, null, null);
        CommitResult result = log.commit(alter, by);
        if (!(result instanceof CommitResult.Committed)) {
          throw new IllegalStateException(result.toString());
        }
      }
    }
  }
}
