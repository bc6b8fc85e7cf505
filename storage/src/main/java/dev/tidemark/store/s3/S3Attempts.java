package dev.tidemark.store.s3;

import dev.tidemark.store.RequestCounts;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttribute;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;

/**
 * The HTTP requests that one call turned into: counts each, and knows whether any may have taken
 * effect although its answer is unknown.
 */
final class S3Attempts {
  private static final ExecutionAttribute<S3Attempts> ATTRIBUTE =
      new ExecutionAttribute<>("tidemark.attempts");

  private final RequestCounts counts;
  private final AtomicInteger sent = new AtomicInteger();
  private final AtomicInteger refused = new AtomicInteger();
  private final S3Strain strain;

  S3Attempts(RequestCounts counts, S3Strain strain) {
    this.counts = counts;
    this.strain = strain;
  }

  /** Makes a call report its requests here. */
  AwsRequestOverrideConfiguration configuration() {
    return AwsRequestOverrideConfiguration.builder().putExecutionAttribute(ATTRIBUTE, this).build();
  }

  /** Whether a request was sent of which nobody knows that it did nothing. */
  boolean mayHaveTakenEffect() {
    return sent.get() > refused.get();
  }

  int sent() {
    return sent.get();
  }

  private void count(SdkHttpRequest request) {
    sent.incrementAndGet();
    boolean deletesMany = request.rawQueryParameters().containsKey("delete");
    boolean lists =
        request.rawQueryParameters().containsKey("list-type")
            || (request.method() == SdkHttpMethod.GET
                && request.rawQueryParameters().containsKey("uploads"));
    switch (request.method()) {
      case GET, HEAD, OPTIONS -> {
        if (lists) {
          counts.list();
        } else {
          counts.get(0);
        }
      }
      case PUT, POST, PATCH -> {
        if (deletesMany) {
          counts.delete();
        } else {
          counts.put(bodyBytes(request));
        }
      }
      case DELETE -> counts.delete();
    }
  }

  private static long bodyBytes(SdkHttpRequest request) {
    return request
        .firstMatchingHeader("x-amz-decoded-content-length")
        .or(() -> request.firstMatchingHeader("Content-Length"))
        .map(Long::parseLong)
        .orElse(0L);
  }

  /** Tells the attempts of each call about its requests. */
  static final class Interceptor implements ExecutionInterceptor {
    @Override
    public void beforeTransmission(
        Context.BeforeTransmission context, ExecutionAttributes attributes) {
      @Nullable S3Attempts attempts = attributes.getAttribute(ATTRIBUTE);
      if (attempts != null) {
        attempts.count(context.httpRequest());
      }
    }

    @Override
    public void afterTransmission(
        Context.AfterTransmission context, ExecutionAttributes attributes) {
      @Nullable S3Attempts attempts = attributes.getAttribute(ATTRIBUTE);
      int status = context.httpResponse().statusCode();
      if (attempts != null && (status == 503 || status == 429)) {
        attempts.strain.refused();
      }
      if (attempts != null && status >= 300 && status < 500 && status != 408) {
        attempts.refused.incrementAndGet();
      }
    }
  }
}
