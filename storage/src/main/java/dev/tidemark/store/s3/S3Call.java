package dev.tidemark.store.s3;

import dev.tidemark.store.StoreException;
import dev.tidemark.store.StoreException.Reason;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.util.Optional;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.SdkException;

/**
 * One call, for what to say when it fails.
 *
 * @param operation GET, PUT, ... as in S3's own name of the right: {@code s3:GetObject}
 * @param right the right that it needs
 * @param object what it is about: a bucket, a slash, a key or prefix
 * @param writes whether it changes anything
 */
record S3Call(S3Settings settings, String operation, String right, String object, boolean writes) {

  /** What failed, why, and what to do. */
  StoreException failed(SdkException e, S3Attempts attempts) {
    boolean indeterminate = writes && attempts.mayHaveTakenEffect();
    if (e instanceof AwsServiceException answer) {
      return answered(answer, indeterminate);
    }
    return unanswered(e, attempts, indeterminate);
  }

  private StoreException answered(AwsServiceException answer, boolean indeterminate) {
    int status = answer.statusCode();
    String code = code(answer);
    Reason reason = reason(answer, status, code);
    return new StoreException(
        reason,
        indeterminate,
        prefix() + status + " " + describe(answer, code) + mend(reason, status, code),
        answer);
  }

  private static Reason reason(AwsServiceException answer, int status, String code) {
    if (code.equals("NoSuchBucket")) {
      return Reason.NO_BUCKET;
    }
    if (code.equals("SlowDown") || answer.isThrottlingException() || status == 429) {
      return Reason.THROTTLED;
    }
    if (status == 409) {
      return Reason.CONFLICT;
    }
    if (status == 401 || status == 403) {
      return Reason.DENIED;
    }
    if (status == 501) {
      return Reason.UNSUPPORTED;
    }
    if (status >= 500
        || status == 408
        || code.equals("RequestTimeout")
        || saysNotWhatIsMissing(answer)) {
      return Reason.UNAVAILABLE;
    }
    return Reason.OTHER;
  }

  private String mend(Reason reason, int status, String code) {
    String bucket = object.substring(0, object.indexOf('/'));
    if (code.equals("RequestTimeTooSkewed")) {
      return "; set this machine's clock";
    }
    if (code.equals("SignatureDoesNotMatch") || code.equals("InvalidAccessKeyId")) {
      return "; asked as " + settings.identity() + ": check s3.access-key and s3.secret-key";
    }
    if (status == 301 || status == 307 || code.equals("AuthorizationHeaderMalformed")) {
      return "; the bucket is in another region: set s3.region";
    }
    if (reason == Reason.DENIED) {
      String resource = right.startsWith("s3:ListBucket") ? bucket : object;
      return String.format(
          "; asked as %s, which needs %s on arn:aws:s3:::%s", settings.identity(), right, resource);
    }
    if (reason == Reason.NO_BUCKET) {
      return "; create the bucket " + bucket + " or mend the URL";
    }
    if (writes && settings.checksums() && (status == 400 || status == 501)) {
      return "; a store that knows no new checksums needs s3.checksum = required";
    }
    if (status == 400) {
      return "; does s3.endpoint begin as the server speaks, http:// or https://?";
    }
    return "";
  }

  private StoreException unanswered(SdkException e, S3Attempts attempts, boolean indeterminate) {
    Reason reason = Reason.UNAVAILABLE;
    String why = attempts.sent() + " tries: " + e.getMessage();
    if (e instanceof AbortedException || Thread.currentThread().isInterrupted()) {
      reason = Reason.OTHER;
      why = "interrupted";
    } else if (String.valueOf(e.getMessage()).contains("Unable to load credentials")) {
      reason = Reason.DENIED;
      why =
          "no credentials; set s3.access-key and s3.secret-key, or give them to the SDK's default"
              + " chain (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, a role)";
    } else if (String.valueOf(e.getMessage()).contains("Unable to load region")) {
      reason = Reason.OTHER;
      why = "no region; set s3.region or AWS_REGION";
    } else if (cause(e, UnknownHostException.class).isPresent()) {
      why = "unknown host; is the address right? set s3.endpoint";
    } else if (cause(e, ConnectException.class).isPresent()) {
      why = "connection refused; is the server running? set s3.endpoint";
    } else if (cause(e, SSLException.class).isPresent()) {
      why = e.getMessage() + "; does s3.endpoint begin as the server speaks, http:// or https://?";
    }
    return new StoreException(
        reason,
        indeterminate,
        "cannot reach " + settings.place() + " to " + operation + " " + object + ": " + why,
        e);
  }

  private String prefix() {
    return "cannot " + operation + " s3://" + object + " at " + settings.place() + ": ";
  }

  private static <T extends Throwable> Optional<T> cause(Throwable e, Class<T> type) {
    for (@Nullable Throwable at = e; at != null; at = at.getCause()) {
      if (type.isInstance(at)) {
        return Optional.of(type.cast(at));
      }
    }
    return Optional.empty();
  }

  /**
   * Whether something is missing, and the answer was cut before it says what: an object that isn't
   * there is no failure, a bucket is. To be asked again. HEAD has no such answers but these.
   */
  static boolean saysNotWhatIsMissing(AwsServiceException answer) {
    return answer.statusCode() == 404 && code(answer).isEmpty();
  }

  /** The code that the store gave; empty when it gave none. */
  static String code(AwsServiceException answer) {
    @Nullable AwsErrorDetails details = answer.awsErrorDetails();
    @Nullable String code = details == null ? null : details.errorCode();
    return code == null ? "" : code;
  }

  private static String describe(AwsServiceException answer, String code) {
    @Nullable AwsErrorDetails details = answer.awsErrorDetails();
    @Nullable String message = details == null ? null : details.errorMessage();
    return code.isEmpty() && message == null
        ? "without a reason"
        : (code + (message == null ? "" : ": " + message)).strip();
  }
}
