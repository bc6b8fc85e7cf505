package dev.tidemark.flink.decode;

/** What a record of the input says about its row. */
public enum Envelope {
  /** Each record adds its row. */
  APPEND,
  /** Records add and take away rows; before-images are trusted. */
  CHANGELOG,
  /** Each record sets or deletes the row of its key; before-images are not looked at. */
  UPSERT
}
