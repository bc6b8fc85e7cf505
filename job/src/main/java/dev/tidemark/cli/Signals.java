package dev.tidemark.cli;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.function.IntConsumer;

/**
 * Ctrl-C and SIGTERM, before the JVM acts on them. The JDK's signals have no public name, hence the
 * reflection; where they are missing, the signal ends the JVM as always and the last checkpoint is
 * what a restart goes on from.
 */
final class Signals {
  private Signals() {}

  /** Calls {@code handler} with the exit code of whichever signal comes, on a thread of its own. */
  static void handle(IntConsumer handler) {
    on("INT", () -> handler.accept(Exit.INTERRUPTED));
    on("TERM", () -> handler.accept(Exit.TERMINATED));
  }

  private static void on(String signal, Runnable action) {
    try {
      Class<?> type = Class.forName("sun.misc.Signal");
      Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
      Object handler =
          Proxy.newProxyInstance(
              handlerType.getClassLoader(),
              new Class<?>[] {handlerType},
              (proxy, method, arguments) -> {
                if (method.getName().equals("handle")) {
                  action.run();
                }
                return null;
              });
      Object named = type.getConstructor(String.class).newInstance(signal);
      type.getMethod("handle", type, handlerType).invoke(null, named, handler);
    } catch (ClassNotFoundException
        | NoSuchMethodException
        | InstantiationException
        | IllegalAccessException
        | InvocationTargetException e) {
      // The signal then keeps its meaning.
      return;
    }
  }
}
