package dev.tidemark.job;

import static dev.tidemark.job.OptionKey.fixed;
import static dev.tidemark.job.OptionKey.none;
import static dev.tidemark.job.OptionKey.workedOut;

import java.util.List;

/** The keys that say how to reach an S3 store; every command takes them. */
public final class StoreKeys {
  /** What these keys begin with. */
  public static final String PREFIX = "s3.";

  static final List<OptionKey<?>> ALL =
      List.of(
          none(
              "s3.endpoint",
              OptionType.TEXT,
              "the SDK finds AWS by the region",
              "The server's URL: `http://127.0.0.1:9000`."),
          workedOut(
              "s3.region",
              OptionType.TEXT,
              "the SDK's chain; us-east-1 with an endpoint",
              "other servers take any",
              "The bucket's region."),
          workedOut(
              "s3.path-style",
              OptionType.BOOLEAN,
              "true with an endpoint",
              "few servers but AWS have names for buckets",
              "Whether the bucket stands in the path."),
          workedOut(
              "s3.access-key",
              OptionType.TEXT,
              "the SDK's chain",
              "keys don't belong in files",
              "The access key."),
          workedOut(
              "s3.secret-key",
              OptionType.TEXT,
              "the SDK's chain",
              "keys don't belong in files",
              "The secret key."),
          fixed(
              "s3.checksum",
              OptionType.choice(OptionType.table("supported", true, "required", false), List.of()),
              "supported",
              "damage on the way is found",
              "Which checksums requests carry; `required` is for older servers."),
          none(
              "s3.sse",
              OptionType.TEXT,
              "the bucket's own",
              "Server-side encryption: `AES256`, `aws:kms` or `aws:kms:dsse`."),
          none("s3.sse-key", OptionType.TEXT, "the account's own", "The KMS key."),
          fixed(
              "s3.tries",
              OptionType.wholeNumber(1, 100),
              "5",
              "outlasts a hiccup, not an outage",
              "How often a request is tried."),
          fixed(
              "s3.request-timeout",
              OptionType.DURATION,
              "30 s",
              "longer than any healthy request",
              "How long one request may take."),
          fixed(
              "s3.connections.commit",
              OptionType.wholeNumber(1, 10_000),
              "64",
              "commits must not wait for uploads",
              "Connections for the log."),
          fixed(
              "s3.connections.upload",
              OptionType.wholeNumber(1, 10_000),
              "32",
              "enough to fill a network card",
              "Connections for parts."),
          fixed(
              "s3.connections.read",
              OptionType.wholeNumber(1, 10_000),
              "64",
              "a merge reads many runs",
              "Connections for reading."));

  private StoreKeys() {}
}
