package dev.tidemark.store;

import java.util.concurrent.atomic.LongAdder;

/** Counts requests by the class in which stores bill them. */
public final class RequestCounts {
  private final LongAdder puts = new LongAdder();
  private final LongAdder gets = new LongAdder();
  private final LongAdder lists = new LongAdder();
  private final LongAdder deletes = new LongAdder();
  private final LongAdder bytesWritten = new LongAdder();
  private final LongAdder bytesRead = new LongAdder();

  /** One PUT, COPY or POST. */
  public void put(long bytes) {
    puts.increment();
    bytesWritten.add(bytes);
  }

  /** One GET or HEAD. */
  public void get(long bytes) {
    gets.increment();
    bytesRead.add(bytes);
  }

  /** Bytes of a body whose request is counted already. */
  public void received(long bytes) {
    bytesRead.add(bytes);
  }

  /** One LIST. */
  public void list() {
    lists.increment();
  }

  /** One DELETE. */
  public void delete() {
    deletes.increment();
  }

  /** PUT-class requests. */
  public long puts() {
    return puts.sum();
  }

  /** GET-class requests. */
  public long gets() {
    return gets.sum();
  }

  /** LIST requests. */
  public long lists() {
    return lists.sum();
  }

  /** DELETE requests. */
  public long deletes() {
    return deletes.sum();
  }

  /** Bytes sent in bodies. */
  public long bytesWritten() {
    return bytesWritten.sum();
  }

  /** Bytes received in bodies. */
  public long bytesRead() {
    return bytesRead.sum();
  }
}
