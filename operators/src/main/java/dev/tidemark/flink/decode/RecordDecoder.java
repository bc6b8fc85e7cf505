package dev.tidemark.flink.decode;

import dev.tidemark.flink.message.RawRecord;

/** Reads records of one format. Pure: no clock, no state but caches. */
interface RecordDecoder {
  /** What a record says; whatever is wrong with it is said by the answer, not thrown. */
  Decoded decode(RawRecord record);
}
