package dev.tidemark.sim;

/** What can go wrong. */
enum Fault {
  /** A request never arrives; its sender can't know. */
  REQUEST_LOST,
  /** A request takes effect, its answer never arrives. */
  ANSWER_LOST,
  /** Its sender gives up, and the request takes effect seconds or hours later. */
  LATE,
  /** A request takes effect, is answered, and takes effect once more later. */
  DUPLICATED,
  /** A conditional create is answered 409, without effect. */
  CONFLICT,
  /** A conditional create is answered 412, though it was ours that took effect. */
  EXISTS,
  /** 500; whether it took effect nobody knows. */
  SERVER_ERROR,
  /** 503, without effect. */
  THROTTLED,
  /** The store can't be reached by one actor for a while, or can, but no answer comes back. */
  PARTITION,
  /** An actor stops for minutes to days, then goes on as if nothing had been. */
  FREEZE,
  /** All actors stop for hours to days. */
  NIGHT,
  /** An actor is gone for good; another may take its place. */
  KILL,
  /** What was read arrives cut short or, where it has a checksum, with a wrong bit. */
  DAMAGED,
  /** A large write is begun and never finished, or long after its sender gave up. */
  UPLOAD_CUT;

  static final Fault[] ALL = values();
}
