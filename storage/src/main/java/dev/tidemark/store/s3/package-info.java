/** Object stores that speak S3, by the AWS SDK. */
@NullMarked
package dev.tidemark.store.s3;

import org.jspecify.annotations.NullMarked;
