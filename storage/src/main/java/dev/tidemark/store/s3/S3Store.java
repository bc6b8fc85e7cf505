package dev.tidemark.store.s3;

import dev.tidemark.store.Body;
import dev.tidemark.store.Keys;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.Ranges;
import dev.tidemark.store.RequestCounts;
import dev.tidemark.store.ScopedStore;
import dev.tidemark.store.StoreException;
import dev.tidemark.store.StoreException.Reason;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.RetryableException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.services.s3.model.CommonPrefix;
import software.amazon.awssdk.services.s3.model.Delete;
import software.amazon.awssdk.services.s3.model.DeleteObjectRequest;
import software.amazon.awssdk.services.s3.model.DeleteObjectsRequest;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ListMultipartUploadsResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;
import software.amazon.awssdk.services.s3.model.S3Error;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * A bucket. Each request gets its tries, with jitter between them, before its failure is anybody's;
 * a failed write says whether it may have taken effect. Answers are read whole or dropped with
 * their connection, so that no reader can keep one.
 *
 * <p>The only compare-and-set is {@link #putIfAbsent}, one PUT with {@code If-None-Match: *}.
 * Answered 412 after an earlier try's answer was lost, the bytes there may be ours: the caller
 * compares.
 */
public final class S3Store implements ObjectStore {
  /** S3's limit for one page and for one deletion. */
  private static final int PAGE = 1_000;

  private final String bucket;
  private final S3Settings settings;
  private final S3Clients clients;
  private final S3Requests requests;
  private final RequestCounts counts;
  private final AtomicBoolean closed;
  private final boolean yields;

  /** A handle on a bucket. Reaches nothing yet. */
  public S3Store(String bucket, S3Settings settings) {
    this.bucket = bucket;
    this.settings = settings;
    this.clients = S3Clients.acquire(settings);
    this.counts = new RequestCounts();
    this.requests = new S3Requests(bucket, settings, clients, counts);
    this.closed = new AtomicBoolean();
    this.yields = false;
  }

  /** The same for work that can wait. */
  private S3Store(S3Store other) {
    this.bucket = other.bucket;
    this.settings = other.settings;
    this.clients = other.clients;
    this.counts = other.counts;
    this.requests = other.requests;
    this.closed = other.closed;
    this.yields = true;
  }

  @Override
  public Created putIfAbsent(String key, byte[] body) throws StoreException {
    S3Attempts attempts = begin(key);
    S3Call call = requests.call("create", "s3:PutObject", key, true);
    try {
      requests.put(clients.commit(), key, new S3Body(Body.of(body)), true, attempts);
      return Created.YES;
    } catch (S3Exception e) {
      if (e.statusCode() == 412) {
        return Created.EXISTS;
      }
      throw call.failed(e, attempts);
    } catch (SdkException e) {
      throw call.failed(e, attempts);
    }
  }

  @Override
  public void put(String key, Body body) throws StoreException {
    S3Attempts attempts = begin(key);
    if (body.sizeBytes() > S3Upload.SINGLE_BYTES) {
      new S3Upload(requests, key, body).run();
      return;
    }
    try {
      requests.put(clients.upload(), key, new S3Body(body), false, attempts);
    } catch (SdkException e) {
      throw requests.call("put", "s3:PutObject", key, true).failed(e, attempts);
    }
  }

  @Override
  public Optional<byte[]> get(String key) throws StoreException {
    return get(key, null);
  }

  @Override
  public Optional<byte[]> getRange(String key, long offset, int length) throws StoreException {
    Ranges.check(offset, length);
    if (length == 0) {
      begin(key);
      Optional<HeadObjectResponse> head = requests.head(key);
      if (head.isPresent() && head.get().contentLength() < offset) {
        throw Ranges.tooShort(requests.location(key), head.get().contentLength(), offset, length);
      }
      return head.map(found -> new byte[0]);
    }
    Optional<byte[]> bytes = get(key, "bytes=" + offset + "-" + (offset + length - 1));
    if (bytes.isPresent() && bytes.get().length != length) {
      long size = offset + bytes.get().length;
      throw Ranges.tooShort(requests.location(key), size, offset, length);
    }
    return bytes;
  }

  private Optional<byte[]> get(String key, @Nullable String range) throws StoreException {
    S3Attempts attempts = begin(key);
    GetObjectRequest.Builder request =
        GetObjectRequest.builder()
            .bucket(bucket)
            .key(key)
            .overrideConfiguration(attempts.configuration());
    if (range != null) {
      request.range(range);
    }
    S3Call call = requests.call("get", "s3:GetObject", key, false);
    for (int tried = 1; ; tried++) {
      try {
        byte[] bytes = clients.read().getObject(request.build(), S3Store::readWhole);
        counts.received(bytes.length);
        return Optional.of(bytes);
      } catch (S3Exception e) {
        if (e.statusCode() == 404 && S3Call.code(e).equals("NoSuchKey")) {
          return Optional.empty();
        }
        if (e.statusCode() == 416) {
          throw new StoreException(
              Reason.CORRUPT, false, requests.location(key) + " ends before " + range, e);
        }
        if (!S3Call.saysNotWhatIsMissing(e) || tried >= settings.tries()) {
          throw call.failed(e, attempts);
        }
      } catch (SdkException e) {
        throw call.failed(e, attempts);
      }
    }
  }

  /** All of a body, or a failure on which the SDK asks for the whole object again. */
  private static byte[] readWhole(GetObjectResponse response, AbortableInputStream in)
      throws IOException {
    int length = Math.toIntExact(response.contentLength());
    byte[] bytes = new byte[length];
    try {
      int read = in.readNBytes(bytes, 0, length);
      if (read == length && in.read() < 0) {
        return bytes;
      }
      in.abort();
      throw RetryableException.create("the body has not the " + length + " bytes announced");
    } catch (IOException e) {
      in.abort();
      throw RetryableException.create("the body broke off: " + e.getMessage(), e);
    }
  }

  @Override
  public List<ObjectInfo> list(String prefix, String startAfter, int limit) throws StoreException {
    List<ObjectInfo> infos = new ArrayList<>();
    @Nullable String token = null;
    while (infos.size() < limit) {
      ListObjectsV2Request.Builder request =
          ListObjectsV2Request.builder()
              .bucket(bucket)
              .prefix(Keys.checkPrefix(prefix))
              .maxKeys(Math.min(PAGE, limit - infos.size()))
              .continuationToken(token);
      if (token == null && !startAfter.isEmpty()) {
        request.startAfter(startAfter);
      }
      ListObjectsV2Response page = page(request, prefix);
      page.contents()
          .forEach(
              found -> infos.add(new ObjectInfo(found.key(), found.size(), found.lastModified())));
      token = page.nextContinuationToken();
      if (token == null) {
        break;
      }
    }
    return List.copyOf(infos);
  }

  @Override
  public List<String> listFolders(String prefix) throws StoreException {
    List<String> folders = new ArrayList<>();
    @Nullable String token = null;
    do {
      ListObjectsV2Response page =
          page(
              ListObjectsV2Request.builder()
                  .bucket(bucket)
                  .prefix(Keys.checkFolder(prefix))
                  .delimiter("/")
                  .continuationToken(token),
              prefix);
      for (CommonPrefix folder : page.commonPrefixes()) {
        folders.add(folder.prefix().substring(prefix.length()));
      }
      token = page.nextContinuationToken();
    } while (token != null);
    return List.copyOf(folders);
  }

  private ListObjectsV2Response page(ListObjectsV2Request.Builder request, String prefix)
      throws StoreException {
    S3Attempts attempts = begin();
    try {
      return clients
          .read()
          .listObjectsV2(request.overrideConfiguration(attempts.configuration()).build());
    } catch (SdkException e) {
      throw requests.call("list", "s3:ListBucket", prefix, false).failed(e, attempts);
    }
  }

  @Override
  public void delete(List<String> keys) throws StoreException {
    keys.forEach(Keys::check);
    if (keys.size() == 1) {
      deleteOne(keys.get(0));
      return;
    }
    for (int at = 0; at < keys.size(); at += PAGE) {
      deleteMany(keys.subList(at, Math.min(keys.size(), at + PAGE)));
    }
  }

  private void deleteOne(String key) throws StoreException {
    S3Attempts attempts = begin(key);
    try {
      clients
          .upload()
          .deleteObject(
              DeleteObjectRequest.builder()
                  .bucket(bucket)
                  .key(key)
                  .overrideConfiguration(attempts.configuration())
                  .build());
    } catch (SdkException e) {
      throw requests.call("delete", "s3:DeleteObject", key, true).failed(e, attempts);
    }
  }

  private void deleteMany(List<String> keys) throws StoreException {
    S3Attempts attempts = begin();
    List<ObjectIdentifier> objects =
        keys.stream().map(key -> ObjectIdentifier.builder().key(key).build()).toList();
    List<S3Error> errors;
    try {
      errors =
          clients
              .upload()
              .deleteObjects(
                  DeleteObjectsRequest.builder()
                      .bucket(bucket)
                      .delete(Delete.builder().objects(objects).quiet(true).build())
                      .overrideConfiguration(attempts.configuration())
                      .build())
              .errors();
    } catch (SdkException e) {
      throw requests
          .call(
              "delete " + keys.size() + " objects, the first", "s3:DeleteObject", keys.get(0), true)
          .failed(e, attempts);
    }
    if (!errors.isEmpty()) {
      throw notDeleted(errors);
    }
  }

  private StoreException notDeleted(List<S3Error> errors) {
    S3Error first = errors.get(0);
    boolean denied = "AccessDenied".equals(first.code());
    String message =
        String.format(
            "%d objects were not deleted, the first %s: %s %s%s",
            errors.size(),
            requests.location(String.valueOf(first.key())),
            first.code(),
            first.message(),
            denied ? "; " + settings.identity() + " needs s3:DeleteObject" : "");
    return new StoreException(denied ? Reason.DENIED : Reason.UNAVAILABLE, true, message, null);
  }

  @Override
  public int dropUploads(String prefix, Instant before, int limit) throws StoreException {
    Keys.checkPrefix(prefix);
    int dropped = 0;
    @Nullable ListMultipartUploadsResponse page = null;
    do {
      begin();
      try {
        page = requests.uploads(prefix, page);
      } catch (StoreException e) {
        if (e.reason() == Reason.UNSUPPORTED) {
          return dropped;
        }
        throw e;
      }
      for (MultipartUpload upload : page.uploads()) {
        boolean below = upload.key().startsWith(prefix);
        if (below && upload.initiated().isBefore(before) && dropped < limit) {
          requests.abortUpload(upload.key(), upload.uploadId());
          dropped++;
        }
      }
    } while (Boolean.TRUE.equals(page.isTruncated()) && dropped < limit);
    return dropped;
  }

  private S3Attempts begin(String key) {
    Keys.check(key);
    return begin();
  }

  private S3Attempts begin() {
    if (closed.get()) {
      throw new IllegalStateException("the store " + location() + " is closed");
    }
    if (yields) {
      clients.strain().yieldToOthers();
    }
    return requests.attempts();
  }

  @Override
  public ObjectStore yielding() {
    return new S3Store(this);
  }

  @Override
  public ObjectStore under(String prefix) {
    return ScopedStore.view(this, prefix);
  }

  @Override
  public String location() {
    return "s3://" + bucket;
  }

  @Override
  public RequestCounts requests() {
    return counts;
  }

  @Override
  public void close() {
    if (!yields && !closed.getAndSet(true)) {
      clients.release();
    }
  }

  @Override
  public String toString() {
    return location() + " at " + settings.place();
  }
}
