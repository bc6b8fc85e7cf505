package dev.tidemark.shard;

/** A shard's durable state contradicts itself. Nothing may be written on top of it. */
public final class CorruptShardException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** With what contradicts what. */
  public CorruptShardException(String message) {
    super(message);
  }
}
