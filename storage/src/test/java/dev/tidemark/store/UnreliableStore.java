package dev.tidemark.store;

import dev.tidemark.store.StoreException.Reason;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/**
 * A store behind a bad network: by its random numbers it loses requests before they take effect,
 * loses answers after they did, and answers that it is busy. Failures of the first kind look like
 * those of the second, as they do in life: an indeterminate {@link StoreException}. {@link #heal}
 * ends it.
 */
public final class UnreliableStore extends ForwardingStore {
  /**
   * How often what happens, each from 0 to 1; their sum is at most 1.
   *
   * @param requestLost nothing took effect, nobody knows
   * @param answerLost it took effect, nobody knows
   * @param refused answered CONFLICT (conditional creates only), THROTTLED or UNAVAILABLE, without
   *     effect, and it is known
   */
  public record Rates(double requestLost, double answerLost, double refused) {
    /** Nothing goes wrong. */
    public static final Rates NONE = new Rates(0, 0, 0);

    /** Every tenth request of each kind. */
    public static final Rates BAD = new Rates(0.1, 0.1, 0.1);
  }

  private interface Request<T> {
    T send() throws StoreException;
  }

  private final Random random;
  private volatile Rates rates;

  /** Requests are serialized where they draw a number, so one thread gives one history. */
  public UnreliableStore(ObjectStore store, Random random, Rates rates) {
    super(store);
    this.random = random;
    this.rates = rates;
  }

  /** From now on nothing goes wrong. */
  public void heal() {
    rates = Rates.NONE;
  }

  /** From now on this goes wrong. */
  public void worsen(Rates rates) {
    this.rates = rates;
  }

  @Override
  public Created putIfAbsent(String key, byte[] body) throws StoreException {
    return write("create " + key, true, () -> super.putIfAbsent(key, body));
  }

  @Override
  public void put(String key, Body body) throws StoreException {
    write(
        "put " + key,
        false,
        () -> {
          super.put(key, body);
          return true;
        });
  }

  @Override
  public Optional<byte[]> get(String key) throws StoreException {
    return read("get " + key, () -> super.get(key));
  }

  @Override
  public Optional<byte[]> getRange(String key, long offset, int length) throws StoreException {
    return read("get range of " + key, () -> super.getRange(key, offset, length));
  }

  @Override
  public List<ObjectInfo> list(String prefix, String startAfter, int limit) throws StoreException {
    return read("list " + prefix, () -> super.list(prefix, startAfter, limit));
  }

  @Override
  public List<String> listFolders(String prefix) throws StoreException {
    return read("list folders of " + prefix, () -> super.listFolders(prefix));
  }

  @Override
  public void delete(List<String> keys) throws StoreException {
    write(
        "delete " + keys,
        false,
        () -> {
          super.delete(keys);
          return true;
        });
  }

  private <T> T write(String what, boolean conditional, Request<T> request) throws StoreException {
    Rates now = rates;
    double draw = draw();
    if (draw < now.requestLost) {
      throw failed(Reason.UNAVAILABLE, true, "request lost: " + what);
    }
    if (draw < now.requestLost + now.answerLost) {
      request.send();
      throw failed(Reason.UNAVAILABLE, true, "answer lost: " + what);
    }
    refuseByChance(what, conditional, now, draw);
    return request.send();
  }

  private <T> T read(String what, Request<T> request) throws StoreException {
    Rates now = rates;
    double draw = draw();
    if (draw < now.requestLost + now.answerLost) {
      throw failed(Reason.UNAVAILABLE, false, "answer lost: " + what);
    }
    refuseByChance(what, false, now, draw);
    return request.send();
  }

  private void refuseByChance(String what, boolean conditional, Rates now, double draw)
      throws StoreException {
    double lost = now.requestLost + now.answerLost;
    if (draw >= lost && draw < lost + now.refused) {
      List<Reason> reasons =
          conditional
              ? List.of(Reason.CONFLICT, Reason.THROTTLED, Reason.UNAVAILABLE)
              : List.of(Reason.THROTTLED, Reason.UNAVAILABLE);
      int pick = (int) ((draw - lost) / now.refused * reasons.size());
      throw failed(reasons.get(Math.min(pick, reasons.size() - 1)), false, "refused: " + what);
    }
  }

  private double draw() {
    synchronized (random) {
      return random.nextDouble();
    }
  }

  private static StoreException failed(Reason reason, boolean indeterminate, String message) {
    return new StoreException(reason, indeterminate, message, null);
  }
}
