package dev.tidemark.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;

/** Lines or stacked areas over versions, as one SVG element. */
final class SvgChart {
  private static final int WIDTH = 860;
  private static final int HEIGHT = 240;
  private static final int LEFT = 70;
  private static final int RIGHT = 12;
  private static final int TOP = 10;
  private static final int BOTTOM = 28;
  private static final int TICKS = 4;

  /** No more points than can be told apart. */
  private static final int MOST_POINTS = 1200;

  /** A line of a chart; one that isn't solid is a bound. */
  private static final class Line {
    final String colour;
    final boolean solid;
    final boolean area;
    final double[] from;
    final double[] to;

    Line(String colour, boolean solid, boolean area, double[] from, double[] to) {
      this.colour = colour;
      this.solid = solid;
      this.area = area;
      this.from = from;
      this.to = to;
    }
  }

  private final double[] xs;
  private final DoubleFunction<String> unit;
  private final List<Line> lines = new ArrayList<>();

  SvgChart(double[] xs, DoubleFunction<String> unit) {
    this.xs = xs;
    this.unit = unit;
  }

  void line(String colour, double... ys) {
    lines.add(new Line(colour, true, false, ys, ys));
  }

  void bound(double... ys) {
    lines.add(new Line("#b91c1c", false, false, ys, ys));
  }

  void area(String colour, double[] from, double[] to) {
    lines.add(new Line(colour, true, true, from, to));
  }

  String svg(String title) {
    StringBuilder svg = new StringBuilder();
    svg.append(
        String.format(
            Locale.ROOT,
            "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">",
            WIDTH,
            HEIGHT,
            title));
    double top = top();
    for (int tick = 0; tick <= TICKS; tick++) {
      double value = top * tick / TICKS;
      double y = y(value, top);
      svg.append(
          String.format(
              Locale.ROOT,
              "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
                  + "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>",
              LEFT,
              WIDTH - RIGHT,
              y,
              y,
              LEFT - 8,
              y + 4,
              unit.apply(value)));
    }
    if (xs.length > 0) {
      label(svg, LEFT, "start", "version " + Math.round(xs[0]));
      label(svg, WIDTH - RIGHT, "end", "version " + Math.round(xs[xs.length - 1]));
    }
    lines.forEach(line -> draw(svg, line, top));
    return svg.append("</svg>").toString();
  }

  private static void label(StringBuilder svg, int x, String anchor, String text) {
    svg.append(
        String.format(
            Locale.ROOT,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s</text>",
            x,
            HEIGHT - 8,
            anchor,
            text));
  }

  /** The greatest value, rounded up to one that four ticks divide well. */
  private double top() {
    double most = 0;
    for (Line line : lines) {
      for (double y : line.to) {
        most = Double.isFinite(y) ? Math.max(most, y) : most;
      }
    }
    double step = most <= 0 ? 1 : Math.pow(10, Math.floor(Math.log10(most)));
    for (double factor : new double[] {1, 2, 4, 6, 8}) {
      if (step * factor >= most) {
        return step * factor;
      }
    }
    return step * 10;
  }

  private double y(double value, double top) {
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * Math.min(1, value / top);
  }

  private double x(int index) {
    double first = xs[0];
    double span = Math.max(1, xs[xs.length - 1] - first);
    return LEFT + (WIDTH - LEFT - RIGHT) * (xs[index] - first) / span;
  }

  private void draw(StringBuilder svg, Line line, double top) {
    int step = Math.max(1, (xs.length + MOST_POINTS - 1) / MOST_POINTS);
    StringBuilder path = new StringBuilder();
    for (int i = 0; i < xs.length; i += step) {
      if (Double.isFinite(line.to[i])) {
        path.append(path.isEmpty() ? "M" : "L").append(point(x(i), y(line.to[i], top)));
      }
    }
    if (path.isEmpty()) {
      return;
    }
    if (line.area) {
      for (int i = (xs.length - 1) / step * step; i >= 0; i -= step) {
        path.append("L").append(point(x(i), y(line.from[i], top)));
      }
      svg.append("<path d=\"").append(path).append("Z\" fill=\"").append(line.colour);
      svg.append("\"/>");
      return;
    }
    svg.append("<path d=\"").append(path).append("\" fill=\"none\" stroke=\"").append(line.colour);
    svg.append("\" stroke-width=\"1.5\"").append(line.solid ? "/>" : " stroke-dasharray=\"6 4\"/>");
  }

  private static String point(double x, double y) {
    return String.format(Locale.ROOT, "%.1f %.1f", x, y);
  }
}
