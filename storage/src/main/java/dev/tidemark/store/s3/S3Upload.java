package dev.tidemark.store.s3;

import dev.tidemark.store.Body;
import dev.tidemark.store.StoreException;
import dev.tidemark.store.StoreException.Reason;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;

/**
 * Uploads one large body in parts, two at a time: the caller's thread and one that helps. The key
 * shows nothing until all parts are there and the store has put them together; that is checked by
 * asking for the object's length (and checksum, where the store keeps one), since a store can say
 * 200 and fail, or do it and lose the answer. On failure the parts are dropped.
 */
final class S3Upload {
  /** Above this a body goes in parts. */
  static final long SINGLE_BYTES = 16 << 20;

  /** Uploaded side by side. */
  private static final int AT_ONCE = 2;

  /** S3's limit. */
  private static final int MAX_PARTS = 10_000;

  private final S3Requests requests;
  private final String key;
  private final List<S3Body> bodies = new ArrayList<>();
  private final @Nullable CompletedPart[] done;
  private final byte[][] checksums;
  private final AtomicInteger next = new AtomicInteger();
  private final AtomicBoolean stopped = new AtomicBoolean();

  S3Upload(S3Requests requests, String key, Body body) {
    this.requests = requests;
    this.key = key;
    long size = body.sizeBytes();
    long partBytes = partBytes(size);
    for (long at = 0; at < size; at += partBytes) {
      bodies.add(new S3Body(body, at, Math.min(partBytes, size - at)));
    }
    done = new CompletedPart[bodies.size()];
    checksums = new byte[bodies.size()][];
  }

  /** Parts of 8 to 16 MiB, all of about one size; larger only when there would be too many. */
  static long partBytes(long sizeBytes) {
    long parts = Math.min(MAX_PARTS, (sizeBytes + SINGLE_BYTES - 1) / SINGLE_BYTES);
    return (sizeBytes + parts - 1) / parts;
  }

  void run() throws StoreException {
    String upload = requests.startUpload(key);
    try {
      uploadParts(upload);
      complete(upload);
    } catch (StoreException | RuntimeException e) {
      try {
        requests.abortUpload(key, upload);
      } catch (StoreException | RuntimeException second) {
        e.addSuppressed(second);
      }
      throw e;
    }
  }

  private void uploadParts(String upload) throws StoreException {
    List<Future<?>> helpers = new ArrayList<>();
    for (int n = 1; n < Math.min(AT_ONCE, bodies.size()); n++) {
      helpers.add(
          requests
              .threads()
              .submit(
                  () -> {
                    work(upload);
                    return null;
                  }));
    }
    @Nullable StoreException failure = null;
    try {
      work(upload);
    } catch (StoreException e) {
      failure = e;
    }
    for (Future<?> helper : helpers) {
      @Nullable StoreException other = await(helper);
      if (failure == null) {
        failure = other;
      }
    }
    if (failure != null) {
      // Parts alone never show under the key: whatever became of them, nothing was stored.
      throw new StoreException(
          failure.reason(), false, String.valueOf(failure.getMessage()), failure);
    }
  }

  private @Nullable StoreException await(Future<?> helper) {
    try {
      helper.get();
      return null;
    } catch (InterruptedException e) {
      stopped.set(true);
      helper.cancel(true);
      Thread.currentThread().interrupt();
      return new StoreException(Reason.OTHER, false, "upload of " + key + " interrupted", e);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      if (cause instanceof StoreException failure) {
        return failure;
      }
      return new StoreException(Reason.OTHER, false, "upload of " + key + ": " + cause, cause);
    }
  }

  private void work(String upload) throws StoreException {
    try {
      for (int n = next.getAndIncrement();
          n < bodies.size() && !stopped.get();
          n = next.getAndIncrement()) {
        checksums[n] = bodies.get(n).checksum();
        done[n] = requests.uploadPart(key, upload, n + 1, bodies.get(n), checksums[n]);
      }
    } catch (StoreException | RuntimeException e) {
      stopped.set(true);
      throw e;
    }
  }

  private void complete(String upload) throws StoreException {
    List<CompletedPart> parts = new ArrayList<>();
    for (@Nullable CompletedPart part : done) {
      if (part == null) {
        throw new IllegalStateException("a part of " + key + " was not uploaded");
      }
      parts.add(part);
    }
    S3Attempts attempts = requests.attempts();
    try {
      requests.completeUpload(key, upload, parts, attempts);
    } catch (SdkException e) {
      // An earlier try may have done it and a later one then found no upload: look.
      StoreException failure =
          requests.call("complete the upload of", "s3:PutObject", key, true).failed(e, attempts);
      if (!isStored(failure)) {
        throw failure;
      }
      return;
    }
    if (!isStored(null)) {
      throw new StoreException(
          Reason.CORRUPT,
          true,
          "the store at " + requests.location(key) + " completed an upload that isn't there whole",
          null);
    }
  }

  private boolean isStored(@Nullable StoreException because) throws StoreException {
    try {
      @Nullable HeadObjectResponse head = requests.head(key).orElse(null);
      if (head == null || head.contentLength() == null || head.contentLength() != sizeBytes()) {
        return false;
      }
      @Nullable String kept = head.checksumCRC32C();
      return kept == null || !kept.contains("-") || kept.equals(checksumOfChecksums());
    } catch (StoreException e) {
      if (because != null) {
        because.addSuppressed(e);
        throw because;
      }
      throw new StoreException(e.reason(), true, String.valueOf(e.getMessage()), e);
    }
  }

  private long sizeBytes() {
    return bodies.stream().mapToLong(S3Body::sizeBytes).sum();
  }

  private String checksumOfChecksums() {
    CRC32C crc = new CRC32C();
    Arrays.stream(checksums).forEach(checksum -> crc.update(checksum, 0, checksum.length));
    int value = (int) crc.getValue();
    byte[] bytes = {(byte) (value >> 24), (byte) (value >> 16), (byte) (value >> 8), (byte) value};
    return S3Body.text(bytes) + "-" + checksums.length;
  }
}
