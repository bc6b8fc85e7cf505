package dev.tidemark.bench;

import java.util.Arrays;

/**
 * Where driver and sources meet: a source that has emitted an epoch says so and waits until a
 * checkpoint has been taken of it; the driver asks for a checkpoint when all sources have ended the
 * epoch. One run, one JVM, one gate.
 */
final class Gate {
  private static final Object LOCK = new Object();
  private static int[] ended = new int[0];
  private static int[] snapshots = new int[0];
  private static long[] lastRowNanos = new long[0];
  private static boolean open;
  private static boolean stopped;

  private Gate() {}

  static void reset(int sources, int epochs) {
    synchronized (LOCK) {
      ended = new int[sources];
      snapshots = new int[sources];
      lastRowNanos = new long[epochs];
      open = false;
      stopped = false;
    }
  }

  /** Lets the sources begin. Checkpoints before are no epoch's. */
  static void open() {
    synchronized (LOCK) {
      open = true;
      Arrays.fill(snapshots, 0);
      LOCK.notifyAll();
    }
  }

  static void stop() {
    synchronized (LOCK) {
      stopped = true;
      LOCK.notifyAll();
    }
  }

  static boolean isStopped() {
    synchronized (LOCK) {
      return stopped;
    }
  }

  static void awaitOpen() throws InterruptedException {
    synchronized (LOCK) {
      while (!open && !stopped) {
        LOCK.wait(1000);
      }
    }
  }

  /** A source that ended by itself would decline the checkpoint of its last epoch. */
  static void awaitStop() throws InterruptedException {
    synchronized (LOCK) {
      while (!stopped) {
        LOCK.wait(1000);
      }
    }
  }

  static void epochEnded(int source, int epoch) throws InterruptedException {
    synchronized (LOCK) {
      ended[source] = epoch + 1;
      lastRowNanos[epoch] = System.nanoTime();
      LOCK.notifyAll();
      while (snapshots[source] < epoch + 1 && !stopped) {
        LOCK.wait(1000);
      }
    }
  }

  static void snapshotTaken(int source) {
    synchronized (LOCK) {
      snapshots[source]++;
      LOCK.notifyAll();
    }
  }

  /** Waits a while for all sources to end an epoch; false when they have not yet. */
  static boolean awaitEpoch(int epoch, long millis) throws InterruptedException {
    synchronized (LOCK) {
      long deadline = System.nanoTime() + millis * 1_000_000;
      while (Arrays.stream(ended).min().orElse(0) < epoch + 1) {
        long left = (deadline - System.nanoTime()) / 1_000_000;
        if (left <= 0) {
          return false;
        }
        LOCK.wait(left);
      }
      return true;
    }
  }

  static long lastRowNanos(int epoch) {
    synchronized (LOCK) {
      return lastRowNanos[epoch];
    }
  }
}
