package dev.tidemark.schema;

import java.io.Serializable;

/**
 * One column of a shard.
 *
 * @param id the field id, never used again for another column of the shard
 * @param name the column's name as the user writes it
 * @param type its declared type, with nullability
 */
public record Column(int id, String name, ColumnType type) implements Serializable {}
