package dev.tidemark.sim;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Virtual time and one baton. Every actor has a thread, since the code under test blocks, but only
 * the one with the baton runs. It gives it up where it waits: for a request's way to the store, for
 * a pause, at a clock. Whose wait ends first in virtual time runs next; of two at the same time the
 * one that came first. So a history is a function of what the actors draw, not of the machine.
 *
 * <p>Things that happen by themselves, as a request that lands long after its sender gave up, are
 * events without an actor: whoever has the baton carries them out.
 */
final class Scheduler {
  /** Thrown in an actor's thread when the history is over. */
  static final class Over extends Error {
    private static final long serialVersionUID = 1L;

    Over() {
      super("the history is over", null, false, false);
    }
  }

  /** What an actor does. */
  interface Life {
    void live() throws Exception;
  }

  private record Event(
      long atMillis, long order, @Nullable Actor actor, @Nullable Runnable effect) {
    static final Comparator<Event> BY_TIME =
        Comparator.comparingLong(Event::atMillis).thenComparingLong(Event::order);
  }

  private final class Actor {
    final String name;
    final Life life;
    final Semaphore turn = new Semaphore(0);
    final Thread thread;

    Actor(String name, Life life) {
      this.name = name;
      this.life = life;
      this.thread = new Thread(this::run, "sim-" + name);
      thread.setDaemon(true);
    }

    private void run() {
      turn.acquireUninterruptibly();
      try {
        if (!over) {
          life.live();
        }
      } catch (Over end) {
        return;
      } catch (ViolationError e) {
        fail(e);
      } catch (Throwable e) {
        fail(new ViolationError("crash", name + " died of " + e, e));
      }
      if (!over) {
        handOver(null);
      }
    }
  }

  private final PriorityQueue<Event> events = new PriorityQueue<>(Event.BY_TIME);
  private final List<Actor> actors = new ArrayList<>();
  private final Semaphore done = new Semaphore(0);
  private final long mostSteps;
  private long nowMillis;
  private long orders;
  private long steps;
  private volatile boolean over;
  private @Nullable ViolationError violation;
  private @Nullable Actor running;

  Scheduler(long startMillis, long mostSteps) {
    this.nowMillis = startMillis;
    this.mostSteps = mostSteps;
  }

  /** Virtual time, which is the store's. */
  long nowMillis() {
    return nowMillis;
  }

  /** How often anybody has waited. */
  long steps() {
    return steps;
  }

  /** The first invariant that broke. */
  @Nullable ViolationError violation() {
    return violation;
  }

  /** Adds an actor that begins after {@code delayMillis}. */
  void start(String name, long delayMillis, Life life) {
    Actor actor = new Actor(name, life);
    actors.add(actor);
    actor.thread.start();
    events.add(new Event(nowMillis + delayMillis, orders++, actor, null));
  }

  /** Lets something happen by itself. */
  void later(long delayMillis, Runnable effect) {
    events.add(new Event(nowMillis + delayMillis, orders++, null, effect));
  }

  /** Lets the running actor wait while others run. */
  void await(long millis) {
    if (over) {
      throw new Over();
    }
    Actor self = running;
    if (self == null) {
      advance(millis);
      return;
    }
    steps++;
    events.add(new Event(nowMillis + millis, orders++, self, null));
    handOver(self);
    if (over) {
      throw new Over();
    }
  }

  /** All time passes at once: everybody sleeps, what should have happened meanwhile is late. */
  void skip(long millis) {
    nowMillis += millis;
  }

  /** Runs until the steps are used up, nobody is left or an invariant breaks. */
  void run() {
    handOver(null);
    done.acquireUninterruptibly();
    over = true;
    for (Actor actor : actors) {
      actor.turn.release();
    }
    for (Actor actor : actors) {
      try {
        actor.thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted", e);
      }
    }
    running = null;
    over = false;
  }

  /** After the run: time passes, and what should still happen by itself does. */
  void advance(long millis) {
    long until = nowMillis + millis;
    while (!events.isEmpty() && events.element().atMillis() <= until) {
      Event event = events.remove();
      nowMillis = Math.max(nowMillis, event.atMillis());
      if (event.effect() != null) {
        event.effect().run();
      }
    }
    nowMillis = until;
  }

  private void fail(ViolationError e) {
    if (violation == null) {
      violation = e;
    }
  }

  /** Gives the baton to whoever is next; returns when {@code self} has it again. */
  private void handOver(@Nullable Actor self) {
    Actor next = next();
    running = next;
    if (next == null) {
      done.release();
    } else if (next != self) {
      next.turn.release();
    }
    if (self != null && next != self) {
      self.turn.acquireUninterruptibly();
    }
  }

  private @Nullable Actor next() {
    while (violation == null && steps < mostSteps && !events.isEmpty()) {
      Event event = events.remove();
      nowMillis = Math.max(nowMillis, event.atMillis());
      if (event.actor() != null) {
        return event.actor();
      }
      if (event.effect() != null) {
        try {
          event.effect().run();
        } catch (ViolationError e) {
          fail(e);
        }
      }
    }
    return null;
  }
}
