package dev.tidemark.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * As much of S3 as a probe asks for, on loopback, that knows no conditions: each PUT overwrites.
 */
final class CarelessStore implements AutoCloseable {
  private final Map<String, byte[]> objects = new ConcurrentHashMap<>();
  private final HttpServer server;

  CarelessStore() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::answer);
    server.start();
  }

  String endpoint() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  Set<String> keys() {
    return Set.copyOf(objects.keySet());
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      String key = exchange.getRequestURI().getPath();
      byte[] body = exchange.getRequestBody().readAllBytes();
      switch (exchange.getRequestMethod()) {
        case "PUT" -> {
          objects.put(key, body);
          exchange.getResponseHeaders().add("ETag", "\"1\"");
          send(exchange, 200, new byte[0]);
        }
        case "POST" -> {
          objects
              .keySet()
              .removeIf(at -> new String(body, UTF_8).contains(at.substring("/bucket/".length())));
          send(exchange, 200, xml("<DeleteResult/>"));
        }
        default -> {
          if (key.equals("/bucket") || key.equals("/bucket/")) {
            send(exchange, 200, xml("<ListBucketResult></ListBucketResult>"));
            return;
          }
          byte[] object = objects.get(key);
          send(exchange, object == null ? 404 : 200, object == null ? xml(NO_KEY) : object);
        }
      }
    }
  }

  private static final String NO_KEY = "<Error><Code>NoSuchKey</Code></Error>";

  private static byte[] xml(String text) {
    return text.getBytes(UTF_8);
  }

  private static void send(HttpExchange exchange, int status, byte[] body) throws IOException {
    exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
    if (body.length > 0) {
      exchange.getResponseBody().write(body);
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
