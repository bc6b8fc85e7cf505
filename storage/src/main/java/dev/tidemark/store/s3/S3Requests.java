package dev.tidemark.store.s3;

import dev.tidemark.store.RequestCounts;
import dev.tidemark.store.StoreException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.AbortMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.ChecksumAlgorithm;
import software.amazon.awssdk.services.s3.model.ChecksumMode;
import software.amazon.awssdk.services.s3.model.CompleteMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.CreateMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ListMultipartUploadsRequest;
import software.amazon.awssdk.services.s3.model.ListMultipartUploadsResponse;
import software.amazon.awssdk.services.s3.model.NoSuchUploadException;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.UploadPartRequest;
import software.amazon.awssdk.services.s3.model.UploadPartResponse;

/**
 * The requests by which objects of one bucket are written and looked at, each with its failures.
 */
final class S3Requests {
  private final String bucket;
  private final S3Settings settings;
  private final S3Clients clients;
  private final RequestCounts counts;

  S3Requests(String bucket, S3Settings settings, S3Clients clients, RequestCounts counts) {
    this.bucket = bucket;
    this.settings = settings;
    this.clients = clients;
    this.counts = counts;
  }

  S3Attempts attempts() {
    return new S3Attempts(counts, clients.strain());
  }

  S3Call call(String operation, String right, String key, boolean writes) {
    return new S3Call(settings, operation, right, bucket + "/" + key, writes);
  }

  String location(String key) {
    return "s3://" + bucket + "/" + key;
  }

  ExecutorService threads() {
    return clients.threads();
  }

  /** One PUT; with a condition, the answer 412 is the caller's to read. */
  void put(S3Client client, String key, S3Body body, boolean ifAbsent, S3Attempts attempts) {
    PutObjectRequest.Builder request =
        PutObjectRequest.builder()
            .bucket(bucket)
            .key(key)
            .overrideConfiguration(attempts.configuration());
    if (ifAbsent) {
      request.ifNoneMatch("*");
    }
    if (settings.checksums()) {
      request.checksumCRC32C(S3Body.text(body.checksum()));
    }
    settings
        .encryption()
        .ifPresent(
            encryption -> {
              request.serverSideEncryption(encryption.algorithm());
              encryption.key().ifPresent(request::ssekmsKeyId);
            });
    client.putObject(request.build(), body.request());
  }

  String startUpload(String key) throws StoreException {
    S3Attempts attempts = attempts();
    CreateMultipartUploadRequest.Builder request =
        CreateMultipartUploadRequest.builder()
            .bucket(bucket)
            .key(key)
            .overrideConfiguration(attempts.configuration());
    if (settings.checksums()) {
      request.checksumAlgorithm(ChecksumAlgorithm.CRC32_C);
    }
    settings
        .encryption()
        .ifPresent(
            encryption -> {
              request.serverSideEncryption(encryption.algorithm());
              encryption.key().ifPresent(request::ssekmsKeyId);
            });
    try {
      return clients.upload().createMultipartUpload(request.build()).uploadId();
    } catch (SdkException e) {
      throw call("start an upload of", "s3:PutObject", key, false).failed(e, attempts);
    }
  }

  CompletedPart uploadPart(String key, String upload, int number, S3Body body, byte[] checksum)
      throws StoreException {
    S3Attempts attempts = attempts();
    UploadPartRequest.Builder request =
        UploadPartRequest.builder()
            .bucket(bucket)
            .key(key)
            .uploadId(upload)
            .partNumber(number)
            .overrideConfiguration(attempts.configuration());
    CompletedPart.Builder part = CompletedPart.builder().partNumber(number);
    if (settings.checksums()) {
      request.checksumCRC32C(S3Body.text(checksum));
      part.checksumCRC32C(S3Body.text(checksum));
    }
    try {
      UploadPartResponse response = clients.upload().uploadPart(request.build(), body.request());
      return part.eTag(response.eTag()).build();
    } catch (SdkException e) {
      throw call("upload part " + number + " of", "s3:PutObject", key, false).failed(e, attempts);
    }
  }

  void completeUpload(String key, String upload, List<CompletedPart> parts, S3Attempts attempts) {
    clients
        .upload()
        .completeMultipartUpload(
            CompleteMultipartUploadRequest.builder()
                .bucket(bucket)
                .key(key)
                .uploadId(upload)
                .multipartUpload(completed -> completed.parts(parts))
                .overrideConfiguration(attempts.configuration())
                .build());
  }

  void abortUpload(String key, String upload) throws StoreException {
    S3Attempts attempts = attempts();
    try {
      clients
          .upload()
          .abortMultipartUpload(
              AbortMultipartUploadRequest.builder()
                  .bucket(bucket)
                  .key(key)
                  .uploadId(upload)
                  .overrideConfiguration(attempts.configuration())
                  .build());
    } catch (NoSuchUploadException e) {
      // Another, or an earlier try whose answer was lost, has done it.
    } catch (SdkException e) {
      throw call("abort the upload of", "s3:AbortMultipartUpload", key, true).failed(e, attempts);
    }
  }

  /** Uploads in progress whose key begins so, a page of them from {@code after} on. */
  ListMultipartUploadsResponse uploads(String prefix, @Nullable ListMultipartUploadsResponse after)
      throws StoreException {
    S3Attempts attempts = attempts();
    ListMultipartUploadsRequest.Builder request =
        ListMultipartUploadsRequest.builder()
            .bucket(bucket)
            .prefix(prefix)
            .overrideConfiguration(attempts.configuration());
    if (after != null) {
      request.keyMarker(after.nextKeyMarker()).uploadIdMarker(after.nextUploadIdMarker());
    }
    try {
      return clients.read().listMultipartUploads(request.build());
    } catch (SdkException e) {
      throw call("list uploads of", "s3:ListBucketMultipartUploads", prefix, false)
          .failed(e, attempts);
    }
  }

  /** What the store says of an object; empty when there is none. */
  Optional<HeadObjectResponse> head(String key) throws StoreException {
    S3Attempts attempts = attempts();
    HeadObjectRequest.Builder request =
        HeadObjectRequest.builder()
            .bucket(bucket)
            .key(key)
            .overrideConfiguration(attempts.configuration());
    if (settings.checksums()) {
      request.checksumMode(ChecksumMode.ENABLED);
    }
    try {
      return Optional.of(clients.read().headObject(request.build()));
    } catch (S3Exception e) {
      if (e.statusCode() == 404 && !S3Call.code(e).equals("NoSuchBucket")) {
        return Optional.empty();
      }
      throw call("look at", "s3:GetObject", key, false).failed(e, attempts);
    } catch (SdkException e) {
      throw call("look at", "s3:GetObject", key, false).failed(e, attempts);
    }
  }
}
