package dev.tidemark.store;

import java.time.Instant;

/**
 * An object as a listing shows it.
 *
 * @param key its key under the store's prefix
 * @param sizeBytes its length
 * @param modified when it was written, by the store's clock
 */
public record ObjectInfo(String key, long sizeBytes, Instant modified) {}
