package dev.tidemark.cli;

import dev.tidemark.cli.ReportData.Interval;
import dev.tidemark.cli.ReportData.Point;
import dev.tidemark.job.Amounts;
import dev.tidemark.spine.SpineSpec;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;

/** A report as one HTML page that needs nothing else. */
final class ReportPage {
  private static final List<String> COLOURS =
      List.of(
          "#93c5fd", "#3b82f6", "#1d4ed8", "#5eead4", "#14b8a6", "#0f766e", "#c4b5fd", "#7c3aed");

  private static final String STYLE =
      """
      body{font:15px/1.5 system-ui,sans-serif;color:#1f2937;background:#fff;margin:2rem auto;
      max-width:900px;padding:0 1rem}
      h1{font-size:1.4rem;margin:0;overflow-wrap:anywhere}h2{font-size:1.05rem;margin:2rem 0 .2rem}
      p{margin:.2rem 0 .6rem;color:#4b5563}svg{width:100%;height:auto}
      svg text{font:11px system-ui,sans-serif;fill:#6b7280}.grid{stroke:#e5e7eb}
      table{border-collapse:collapse;margin:.6rem 0}td,th{padding:.2rem .9rem .2rem 0;text-align:right}
      td:first-child,th:first-child{text-align:left}th{font-weight:600;border-bottom:1px solid #d1d5db}
      .key{display:inline-block;margin-right:1rem;white-space:nowrap}
      .key i{display:inline-block;width:.8em;height:.8em;margin-right:.35em;border-radius:2px}
      .key i.dash{height:0;border-radius:0;border-top:2px dashed #b91c1c;vertical-align:middle}
      """;

  private final ReportData data;
  private final List<Point> points;
  private final StringBuilder page = new StringBuilder();

  private ReportPage(ReportData data) {
    this.data = data;
    this.points = data.points();
  }

  static String html(ReportData data) {
    return new ReportPage(data).page();
  }

  private String page() {
    String name = escaped(data.url());
    page.append("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
    page.append(name).append("</title>\n<meta name=\"viewport\" content=\"width=device-width\">");
    page.append("<style>").append(STYLE).append("</style></head><body>\n");
    page.append("<h1>").append(name).append("</h1>\n");
    SpineSpec spec = data.last().spec();
    paragraph(
        "Versions %d to %d%s. Upper %s, since %s. Spec: fan-in %d, queue %d, rest %d, base %s, space %s, merging %s.",
        data.from(),
        data.to(),
        data.from() > 1 ? ", as far as the log is kept and shown" : "",
        Times.text(data.last().upper()),
        Times.text(data.last().since()),
        spec.fanIn(),
        spec.queue(),
        spec.rest(),
        Amounts.text(spec.baseBytes()),
        spec.space(),
        spec.merging() ? "on" : "off");
    now();
    runs();
    writes();
    space();
    commits();
    sizes();
    cost();
    return page.append("</body></html>\n").toString();
  }

  private void now() {
    SpineFigures figures = SpineFigures.of(data.last());
    page.append("<table><tr><th></th><th>now</th><th>at most</th></tr>");
    row("runs", "" + figures.runs(), "" + figures.runsBound());
    String writes =
        figures.writeAmplification().isPresent()
            ? ShardPortrait.oneDigit(figures.writeAmplification().getAsDouble())
            : "unknown";
    row("write amplification", writes, ShardPortrait.oneDigit(figures.writeBound()));
    row(
        "space amplification",
        ShardPortrait.oneDigit(figures.spaceAmplification()),
        ShardPortrait.oneDigit(figures.spaceBound()));
    page.append("</table>\n");
  }

  private void row(String... cells) {
    page.append("<tr>");
    for (String cell : cells) {
      page.append("<td>").append(escaped(cell)).append("</td>");
    }
    page.append("</tr>");
  }

  private void runs() {
    head("Runs by level", "What a reader merges, version by version.");
    SvgChart chart = chart(points, ReportPage::whole);
    int highest =
        points.stream().flatMap(p -> p.levels().keySet().stream()).mapToInt(i -> i).max().orElse(0);
    double[] below = new double[points.size()];
    for (int level = highest; level >= 0; level--) {
      double[] above = below.clone();
      for (int i = 0; i < points.size(); i++) {
        above[i] += points.get(i).levels().getOrDefault(level, 0);
      }
      String colour = COLOURS.get(level % COLOURS.size());
      chart.area(colour, below, above);
      key(colour, "level " + level);
      below = above;
    }
    chart.bound(values(p -> p.figures().runsBound()));
    boundKey();
    page.append(chart.svg("Runs by level"));
  }

  private void writes() {
    head("Write amplification", "Bytes of appends and merges, over bytes appended.");
    if (data.last().written() == null) {
      page.append("<p>Unknown: the shard was made before shards counted what is written.</p>\n");
      return;
    }
    SvgChart chart = chart(points, ReportPage::decimal);
    chart.line("#1d4ed8", values(p -> p.figures().writeAmplification().orElse(Double.NaN)));
    chart.bound(values(p -> p.figures().writeBound()));
    key("#1d4ed8", "write amplification");
    boundKey();
    page.append(chart.svg("Write amplification"));
  }

  private void space() {
    head(
        "Space amplification", "Of the rows at or before since; its bound is for a shard at rest.");
    SvgChart chart = chart(points, ReportPage::decimal);
    chart.line("#0f766e", values(p -> p.figures().spaceAmplification()));
    chart.bound(values(p -> p.figures().spaceBound()));
    key("#0f766e", "space amplification");
    boundKey();
    page.append(chart.svg("Space amplification"));
  }

  private void commits() {
    List<Interval> intervals = data.commitIntervals();
    head(
        "Commit latency",
        "From one append to the next, by the clocks of who wrote them: a row waits at most about that long.");
    if (intervals.isEmpty()) {
      page.append("<p>Fewer than two appends are in the log.</p>\n");
      return;
    }
    double[] xs = intervals.stream().mapToDouble(Interval::seqno).toArray();
    SvgChart chart = new SvgChart(xs, value -> decimal(value) + " s");
    chart.line("#7c3aed", intervals.stream().mapToDouble(Interval::seconds).toArray());
    page.append(chart.svg("Commit latency"));
  }

  private void sizes() {
    head("Sizes", "Row bytes before compression, and the objects that hold them.");
    SvgChart chart = chart(points, value -> Amounts.text(Math.round(value)));
    chart.line("#1d4ed8", values(Point::bytes));
    chart.line("#14b8a6", values(Point::stored));
    key("#1d4ed8", "row bytes");
    key("#14b8a6", "stored");
    page.append(chart.svg("Sizes"));
  }

  private void cost() {
    head("Cost", "");
    page.append("<table><tr><th>cause</th><th>versions</th><th>PUT</th><th>GET</th></tr>");
    data.requests()
        .causes()
        .forEach((cause, of) -> row(cause, "" + of.versions(), "" + of.puts(), "" + of.gets()));
    page.append("</table>\n");
    OptionalDouble requests = data.requests().month(data.prices());
    paragraph(
        "A month costs %.4f $ for storing what the shard names; %s",
        data.prices().month(ShardPortrait.storedBytes(data.last())),
        requests.isPresent()
            ? String.format(
                Locale.ROOT,
                "one that goes on like this %.4f $ for requests, without those of readers.",
                requests.getAsDouble())
            : RequestUsage.TOO_SHORT + ".");
  }

  private void head(String title, String says) {
    page.append("<h2>").append(title).append("</h2>\n<p>").append(says).append("</p>\n");
  }

  private void paragraph(String form, Object... values) {
    page.append("<p>").append(escaped(String.format(Locale.ROOT, form, values))).append("</p>\n");
  }

  private void key(String colour, String name) {
    page.append("<span class=\"key\"><i style=\"background:").append(colour);
    page.append("\"></i>").append(name).append("</span>");
  }

  private void boundKey() {
    page.append("<span class=\"key\"><i class=\"dash\"></i>at most</span>\n");
  }

  private static SvgChart chart(List<Point> points, DoubleFunction<String> unit) {
    return new SvgChart(points.stream().mapToDouble(Point::seqno).toArray(), unit);
  }

  private double[] values(ToDoubleFunction<Point> of) {
    return points.stream().mapToDouble(of).toArray();
  }

  private static String whole(double value) {
    return String.format(Locale.ROOT, value == Math.rint(value) ? "%.0f" : "%.1f", value);
  }

  private static String decimal(double value) {
    return String.format(Locale.ROOT, value == Math.rint(value) ? "%.0f" : "%.2f", value);
  }

  /** As text that is only text in HTML. */
  static String escaped(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;")
        .replace("'", "&#39;");
  }
}
