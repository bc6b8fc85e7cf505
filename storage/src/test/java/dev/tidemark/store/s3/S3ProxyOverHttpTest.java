package dev.tidemark.store.s3;

import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** S3Proxy behind a faulty connection. */
class S3ProxyOverHttpTest extends S3OverHttp {
  @TempDir static Path folder;
  private static LocalS3Server server;

  @BeforeAll
  static void start() throws Exception {
    server = LocalS3.start(folder);
    server.createBucket(BUCKET);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Override
  URI endpoint() {
    return server.endpoint();
  }

  @Override
  Map<String, String> options() {
    return server.settings().s3();
  }

  @Override
  boolean listsUploads() {
    return true;
  }
}
