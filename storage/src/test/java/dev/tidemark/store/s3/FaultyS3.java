package dev.tidemark.store.s3;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.tidemark.store.StoreSettings;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * An S3 server that misbehaves at will, on a raw socket: each request takes the next fault from a
 * queue, and {@link #otherwise} when that is empty. It is just enough of a server of its own, which
 * checks no signature, or stands in front of a real one and passes on what came, byte by byte.
 */
final class FaultyS3 implements AutoCloseable {
  /** What happens to a request. */
  interface Fault {
    void serve(FaultyS3 server, Request request, Connection connection) throws IOException;
  }

  /** As a good server does. */
  static final Fault NONE = (server, request, connection) -> connection.answer(server.act(request));

  /** The connection ends before anything was done. */
  static final Fault REQUEST_LOST = (server, request, connection) -> {};

  /** It is done, and the connection ends without an answer. */
  static final Fault ANSWER_LOST = (server, request, connection) -> server.act(request);

  /** It is done, and no answer comes while the server stands. */
  static final Fault HANG =
      (server, request, connection) -> {
        server.act(request);
        server.awaitEnd();
      };

  /** The connection is reset before anything was done. */
  static final Fault RESET = (server, request, connection) -> connection.reset();

  /** It is done, and the connection is reset half way through the body. */
  static final Fault RESET_MID_BODY =
      (server, request, connection) -> {
        connection.answerHalf(server.act(request));
        connection.reset();
      };

  /** One bit of the answer's body is not as it was sent; the middle one. */
  static final Fault BIT_FLIPPED =
      (server, request, connection) -> {
        Answer answer = server.act(request);
        byte[] body = answer.body.clone();
        if (body.length > 0) {
          body[body.length / 2] ^= 0x10;
        }
        connection.answer(new Answer(answer.status, answer.headers, body));
      };

  /** The body comes in eight pieces with breaks between them. */
  static final Fault SLOW =
      (server, request, connection) -> connection.answerSlowly(server.act(request), server.ended);

  /** The connection ends half way through the body. */
  static final Fault TRUNCATED =
      (server, request, connection) -> connection.answerHalf(server.act(request));

  /** If-None-Match is taken for noise. */
  static final Fault UNCONDITIONAL =
      (server, request, connection) -> {
        request.headers.remove("if-none-match");
        connection.answer(server.act(request));
      };

  /** An S3 error without effect. */
  static Fault error(int status, String code) {
    return (server, request, connection) -> connection.answer(Answer.error(status, code));
  }

  /** A status with nothing that says why, as from something in between. */
  static Fault bare(int status) {
    return (server, request, connection) ->
        connection.answer(new Answer(status, Map.of(), new byte[0]));
  }

  /** A status of success with an error in its body. */
  static Fault errorInside(String code) {
    return (server, request, connection) ->
        connection.answer(new Answer(200, Map.of(), Answer.error(200, code).body));
  }

  static final class Request {
    final String method;
    final String target;
    final String key;
    final String query;
    final Map<String, String> headers = new TreeMap<>();
    byte[] body = {};

    Request(String method, String target) {
      this.method = method;
      this.target = target;
      int mark = target.indexOf('?');
      this.key = (mark < 0 ? target : target.substring(0, mark)).replaceFirst("^/[^/]*/?", "");
      this.query = mark < 0 ? "" : target.substring(mark + 1);
    }

    boolean asks(String parameter) {
      return ("&" + query).contains("&" + parameter);
    }

    @Override
    public String toString() {
      return method + " " + key + (query.isEmpty() ? "" : "?" + query);
    }
  }

  static final class Answer {
    final int status;
    final Map<String, String> headers;
    final byte[] body;

    Answer(int status, Map<String, String> headers, byte[] body) {
      this.status = status;
      this.headers = headers;
      this.body = body;
    }

    static Answer error(int status, String code) {
      String xml = "<Error><Code>" + code + "</Code><Message>so it is</Message></Error>";
      return new Answer(status, Map.of("Content-Type", "application/xml"), xml.getBytes(UTF_8));
    }

    static Answer xml(String xml) {
      return new Answer(200, Map.of("Content-Type", "application/xml"), xml.getBytes(UTF_8));
    }

    static Answer ok(byte[] body) {
      return new Answer(200, Map.of("ETag", "\"e\""), body);
    }
  }

  static final class Connection {
    private final Socket socket;
    private final OutputStream out;
    private final boolean head;

    Connection(Socket socket, boolean head) throws IOException {
      this.socket = socket;
      this.out = socket.getOutputStream();
      this.head = head;
    }

    /** Ends it so that the client is told at once, and loses what it has not read yet. */
    void reset() throws IOException {
      socket.setSoLinger(true, 0);
      socket.close();
    }

    void answer(Answer answer) throws IOException {
      write(answer, head ? 0 : answer.body.length);
    }

    void answerHalf(Answer answer) throws IOException {
      write(answer, head ? 0 : answer.body.length / 2);
    }

    void answerSlowly(Answer answer, CountDownLatch end) throws IOException {
      write(answer, 0);
      int piece = Math.max(1, (answer.body.length + 7) / 8);
      for (int at = 0; at < answer.body.length && !head; at += piece) {
        pause(end);
        out.write(answer.body, at, Math.min(piece, answer.body.length - at));
        out.flush();
      }
    }

    private static void pause(CountDownLatch end) throws IOException {
      try {
        if (end.await(10, TimeUnit.MILLISECONDS)) {
          throw new IOException("the server ends");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted", e);
      }
    }

    private void write(Answer answer, int bytes) throws IOException {
      StringBuilder text = new StringBuilder("HTTP/1.1 " + answer.status + " status\r\n");
      answer.headers.forEach((name, value) -> text.append(name + ": " + value + "\r\n"));
      if (answer.headers.keySet().stream().noneMatch("content-length"::equalsIgnoreCase)) {
        text.append("Content-Length: " + answer.body.length + "\r\n");
      }
      text.append("Connection: close\r\n\r\n");
      out.write(text.toString().getBytes(ISO_8859_1));
      out.write(answer.body, 0, bytes);
      out.flush();
    }
  }

  private final @Nullable Upstream upstream;
  private final ServerSocket socket;
  private final CountDownLatch ended = new CountDownLatch(1);
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final AtomicInteger uploads = new AtomicInteger();
  private final Map<String, Map<Integer, byte[]>> parts = new ConcurrentHashMap<>();

  /** What the server holds, by key. */
  final Map<String, byte[]> objects = new ConcurrentSkipListMap<>();

  /** What was asked, in order of arrival. */
  final Queue<Request> requests = new ConcurrentLinkedQueue<>();

  /** What will happen to the next requests. */
  final Queue<Fault> faults = new ConcurrentLinkedQueue<>();

  /** How many of the next bodies are read half way only, and end their connection. */
  final AtomicInteger cutUploads = new AtomicInteger();

  /** What happens when the queue is empty. */
  volatile Fault otherwise = NONE;

  /** A server of its own. */
  FaultyS3() throws IOException {
    this(null);
  }

  /** A server in front of another. */
  FaultyS3(@Nullable URI behind) throws IOException {
    upstream = behind == null ? null : new Upstream(behind);
    socket = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    start(this::accept);
  }

  URI endpoint() {
    return URI.create("http://127.0.0.1:" + socket.getLocalPort());
  }

  /** Settings to reach it: short timeouts, and what else is given as name, value, name, value. */
  StoreSettings settings(String... more) {
    Map<String, String> s3 = new HashMap<>();
    s3.put("endpoint", endpoint().toString());
    s3.put("access-key", "somebody");
    s3.put("secret-key", "hush");
    s3.put("request-timeout", "2 s");
    for (int n = 0; n < more.length; n += 2) {
      s3.put(more[n], more[n + 1]);
    }
    return new StoreSettings(s3);
  }

  /** Open connections. */
  int connections() {
    return open.size();
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work, "faulty-s3");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    while (!socket.isClosed()) {
      try {
        Socket accepted = socket.accept();
        open.add(accepted);
        start(() -> serve(accepted));
      } catch (IOException e) {
        return;
      }
    }
  }

  private void serve(Socket accepted) {
    try (accepted) {
      InputStream in = new BufferedInputStream(accepted.getInputStream());
      Request request = read(in, accepted.getOutputStream());
      requests.add(request);
      Fault fault = faults.poll();
      (fault == null ? otherwise : fault)
          .serve(this, request, new Connection(accepted, request.method.equals("HEAD")));
    } catch (IOException e) {
      // The client went away.
    } finally {
      open.remove(accepted);
    }
  }

  private Request read(InputStream in, OutputStream out) throws IOException {
    String[] first = line(in).split(" ");
    if (first.length < 3) {
      throw new IOException("no request");
    }
    Request request = new Request(first[0], first[1]);
    for (String line = line(in); !line.isEmpty(); line = line(in)) {
      int colon = line.indexOf(':');
      request.headers.put(
          line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
    }
    if (request.headers.containsKey("expect")) {
      out.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(ISO_8859_1));
      out.flush();
    }
    int length = Integer.parseInt(request.headers.getOrDefault("content-length", "0"));
    if (length > 0 && cutUploads.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
      in.skipNBytes(length / 2);
      throw new IOException("a body cut half way");
    }
    request.body = in.readNBytes(length);
    if (request.body.length < length) {
      throw new IOException("the client sent half a body");
    }
    return request;
  }

  private static byte[] unchunked(byte[] body) throws IOException {
    InputStream in = new ByteArrayInputStream(body);
    ByteArrayOutputStream plain = new ByteArrayOutputStream();
    while (true) {
      int length = Integer.parseInt(line(in).replaceFirst(";.*", ""), 16);
      if (length == 0) {
        return plain.toByteArray();
      }
      plain.write(in.readNBytes(length));
      line(in);
    }
  }

  static String line(InputStream in) throws IOException {
    StringBuilder text = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new IOException("the client went away");
      }
      text.append((char) c);
    }
    return text.toString().stripTrailing();
  }

  private Answer act(Request request) throws IOException {
    if (upstream != null) {
      return upstream.ask(request);
    }
    if (request.headers.getOrDefault("content-encoding", "").contains("aws-chunked")) {
      request.body = unchunked(request.body);
    }
    if (request.asks("uploads") || request.asks("uploadId")) {
      return upload(request);
    }
    return switch (request.method) {
      case "PUT" -> put(request);
      case "GET", "HEAD" -> request.key.isEmpty() ? list() : read(request);
      case "DELETE" -> {
        objects.remove(request.key);
        yield new Answer(204, Map.of(), new byte[0]);
      }
      default -> remove(request);
    };
  }

  private Answer put(Request request) {
    if (!request.headers.containsKey("if-none-match")) {
      objects.put(request.key, request.body);
      return Answer.ok(new byte[0]);
    }
    return objects.putIfAbsent(request.key, request.body) == null
        ? Answer.ok(new byte[0])
        : Answer.error(412, "PreconditionFailed");
  }

  private Answer read(Request request) {
    byte[] bytes = objects.get(request.key);
    if (bytes == null) {
      return Answer.error(404, "NoSuchKey");
    }
    String range = request.headers.get("range");
    if (range == null) {
      return Answer.ok(bytes);
    }
    String[] ends = range.substring("bytes=".length()).split("-");
    int from = Integer.parseInt(ends[0]);
    int to = Math.min(bytes.length, Integer.parseInt(ends[1]) + 1);
    return new Answer(206, Map.of(), java.util.Arrays.copyOfRange(bytes, from, to));
  }

  private Answer list() {
    StringBuilder xml = new StringBuilder("<ListBucketResult><IsTruncated>false</IsTruncated>");
    objects.forEach(
        (key, bytes) ->
            xml.append("<Contents><Key>" + key + "</Key><Size>" + bytes.length + "</Size>")
                .append("<LastModified>2026-01-02T03:04:05.000Z</LastModified></Contents>"));
    return Answer.xml(xml.append("</ListBucketResult>").toString());
  }

  private Answer remove(Request request) {
    String xml = new String(request.body, UTF_8);
    List<String> keys = new ArrayList<>(objects.keySet());
    keys.removeIf(key -> !xml.contains("<Key>" + key + "</Key>"));
    keys.forEach(objects::remove);
    return Answer.xml("<DeleteResult></DeleteResult>");
  }

  private Answer upload(Request request) {
    String id = request.query.replaceAll(".*uploadId=([^&]*).*", "$1");
    if (request.asks("uploads")) {
      id = "u" + uploads.incrementAndGet();
      parts.put(id, new ConcurrentSkipListMap<>());
      return Answer.xml(
          "<InitiateMultipartUploadResult><UploadId>"
              + id
              + "</UploadId></InitiateMultipartUploadResult>");
    }
    Map<Integer, byte[]> uploaded = parts.get(id);
    if (uploaded == null) {
      return Answer.error(404, "NoSuchUpload");
    }
    if (request.method.equals("PUT")) {
      String number = request.query.replaceAll(".*partNumber=([0-9]*).*", "$1");
      uploaded.put(Integer.parseInt(number), request.body);
      return Answer.ok(new byte[0]);
    }
    parts.remove(id);
    if (request.method.equals("DELETE")) {
      return new Answer(204, Map.of(), new byte[0]);
    }
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    uploaded.values().forEach(whole::writeBytes);
    objects.put(request.key, whole.toByteArray());
    return Answer.xml(
        "<CompleteMultipartUploadResult><ETag>e</ETag></CompleteMultipartUploadResult>");
  }

  /** Uploads begun and neither completed nor aborted. */
  int unfinishedUploads() {
    return parts.size();
  }

  private void awaitEnd() throws IOException {
    try {
      ended.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() throws IOException {
    ended.countDown();
    socket.close();
  }
}
