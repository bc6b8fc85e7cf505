package dev.tidemark.log;

import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import dev.tidemark.store.StoreException.Reason;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/** A store whose next answers a test writes down; then it answers as the store behind it. */
final class ScriptedStore extends ForwardingStore {
  /** What happens to one request. */
  interface Fate {
    void meet(Action request) throws StoreException;
  }

  /** The request itself. */
  interface Action {
    void run() throws StoreException;
  }

  /** Goes through. */
  static final Fate FINE = Action::run;

  /** Takes effect, but nobody hears of it. */
  static final Fate ANSWER_LOST =
      request -> {
        request.run();
        throw new StoreException(Reason.UNAVAILABLE, true, "answer lost", null);
      };

  /** Takes no effect, and nobody hears of it. */
  static final Fate REQUEST_LOST =
      request -> {
        throw new StoreException(Reason.UNAVAILABLE, true, "request lost", null);
      };

  /** 409. */
  static final Fate CONFLICT =
      request -> {
        throw new StoreException(Reason.CONFLICT, false, "409", null);
      };

  /** 403. */
  static final Fate DENIED =
      request -> {
        throw new StoreException(Reason.DENIED, false, "403", null);
      };

  /** What the script does before the request goes through. */
  static Fate before(Action action) {
    return request -> {
      action.run();
      request.run();
    };
  }

  /** What the script does after the request took effect and before its answer is heard. */
  static Fate after(Action action) {
    return request -> {
      request.run();
      action.run();
    };
  }

  final Deque<Fate> creates = new ArrayDeque<>();
  final Deque<Fate> gets = new ArrayDeque<>();

  /** Requests in order: {@code create KEY}, {@code get KEY}, {@code list PREFIX}. */
  final List<String> journal = new ArrayList<>();

  ScriptedStore(ObjectStore store) {
    super(store);
  }

  private static Fate next(Deque<Fate> fates) {
    Fate fate = fates.poll();
    return fate == null ? FINE : fate;
  }

  @Override
  public Created putIfAbsent(String key, byte[] body) throws StoreException {
    journal.add("create " + key);
    List<Created> answer = new ArrayList<>();
    next(creates).meet(() -> answer.add(super.putIfAbsent(key, body)));
    return answer.get(0);
  }

  @Override
  public Optional<byte[]> get(String key) throws StoreException {
    journal.add("get " + key);
    List<Optional<byte[]>> answer = new ArrayList<>();
    next(gets).meet(() -> answer.add(super.get(key)));
    return answer.get(0);
  }

  @Override
  public List<dev.tidemark.store.ObjectInfo> list(String prefix, String startAfter, int limit)
      throws StoreException {
    journal.add("list " + prefix);
    return super.list(prefix, startAfter, limit);
  }
}
