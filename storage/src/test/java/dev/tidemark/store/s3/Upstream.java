package dev.tidemark.store.s3;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The real server behind a faulty one: each request goes on as it came, Host included, so that its
 * signature stays right, on a connection of its own.
 */
final class Upstream {
  private static final int TIMEOUT_MILLIS = 60_000;

  /** What is about one connection only. */
  private static final Set<String> OF_A_CONNECTION =
      Set.of("connection", "expect", "transfer-encoding", "keep-alive");

  private final String host;
  private final int port;

  Upstream(URI endpoint) {
    host = endpoint.getHost();
    port = endpoint.getPort();
  }

  /** The server's answer, whole. */
  FaultyS3.Answer ask(FaultyS3.Request request) throws IOException {
    try (Socket socket = new Socket(host, port)) {
      socket.setSoTimeout(TIMEOUT_MILLIS);
      socket.setTcpNoDelay(true);
      send(request, socket.getOutputStream());
      InputStream in = new BufferedInputStream(socket.getInputStream());
      FaultyS3.Answer answer = answer(request, in);
      while (answer.status == 100) {
        answer = answer(request, in);
      }
      return answer;
    }
  }

  private static void send(FaultyS3.Request request, OutputStream out) throws IOException {
    StringBuilder text = new StringBuilder(request.method + " " + request.target + " HTTP/1.1\r\n");
    request.headers.forEach(
        (name, value) -> {
          if (!OF_A_CONNECTION.contains(name)) {
            text.append(name + ": " + value + "\r\n");
          }
        });
    text.append("connection: close\r\n\r\n");
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    whole.writeBytes(text.toString().getBytes(ISO_8859_1));
    whole.writeBytes(request.body);
    whole.writeTo(out);
    out.flush();
  }

  private static FaultyS3.Answer answer(FaultyS3.Request request, InputStream in)
      throws IOException {
    int status = Integer.parseInt(FaultyS3.line(in).split(" ")[1]);
    Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    for (String line = FaultyS3.line(in); !line.isEmpty(); line = FaultyS3.line(in)) {
      int colon = line.indexOf(':');
      headers.put(line.substring(0, colon), line.substring(colon + 1).strip());
    }
    boolean chunked = headers.getOrDefault("transfer-encoding", "").equals("chunked");
    byte[] body = {};
    if (!request.method.equals("HEAD") && status != 100 && status != 204 && status != 304) {
      String length = headers.get("content-length");
      body = chunked ? chunks(in) : length == null ? in.readAllBytes() : exactly(in, length);
    }
    headers.keySet().removeIf(name -> OF_A_CONNECTION.contains(name.toLowerCase(Locale.ROOT)));
    return new FaultyS3.Answer(status, headers, body);
  }

  private static byte[] exactly(InputStream in, String length) throws IOException {
    byte[] body = in.readNBytes(Integer.parseInt(length));
    if (body.length < Integer.parseInt(length)) {
      throw new IOException("the server behind sent half a body");
    }
    return body;
  }

  private static byte[] chunks(InputStream in) throws IOException {
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    while (true) {
      int length = Integer.parseInt(FaultyS3.line(in).replaceFirst(";.*", ""), 16);
      if (length == 0) {
        return whole.toByteArray();
      }
      whole.write(in.readNBytes(length));
      FaultyS3.line(in);
    }
  }
}
