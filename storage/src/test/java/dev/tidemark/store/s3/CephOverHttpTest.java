package dev.tidemark.store.s3;

import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import software.amazon.awssdk.services.s3.S3Client;

/** Ceph's RADOS gateway, at -Dtidemark.ceph: scripts/ceph starts one and runs this. */
@Tag("ceph")
class CephOverHttpTest extends S3OverHttp {
  @BeforeEach
  void makeBucket() {
    try (S3Client client = client()) {
      client.createBucket(request -> request.bucket(BUCKET));
    }
  }

  @Override
  URI endpoint() {
    String given = System.getProperty("tidemark.ceph", "");
    if (given.isEmpty()) {
      throw new IllegalStateException("tidemark.ceph is not set; run scripts/ceph");
    }
    return URI.create(given);
  }

  @Override
  Map<String, String> options() {
    return Map.of(
        "region",
        "us-east-1",
        "access-key",
        LocalS3Server.ACCESS_KEY,
        "secret-key",
        LocalS3Server.SECRET_KEY,
        "checksum",
        "required");
  }

  @Override
  boolean listsUploads() {
    return true;
  }
}
