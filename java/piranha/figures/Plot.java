import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** Draws lines: a table of series, x and KB/s becomes an SVG. The values of x stand at equal distances, in their order; y is logarithmic. */
public final class Plot {
    private static final String[] COLOURS = {"#1b6ca8", "#d1495b", "#2e933c", "#edae49", "#6a4c93", "#444444"};
    private static final int WIDTH = 640;
    private static final int HEIGHT = 400;
    private static final int LEFT = 70;
    private static final int RIGHT = 160;
    private static final int TOP = 40;
    private static final int BOTTOM = 50;

    private final Map<String, Map<Double, Double>> series = new LinkedHashMap<>();
    private final List<Double> xs;
    private final double least;
    private final double most;
    private final StringBuilder svg = new StringBuilder();

    private Plot(List<String> lines) {
        TreeSet<Double> all = new TreeSet<>();
        double low = Double.MAX_VALUE;
        double high = 0;
        for (String line : lines) {
            String[] f = line.split("\t");
            double x = Double.parseDouble(f[1]);
            double y = Math.max(1, Double.parseDouble(f[2]));
            all.add(x);
            series.computeIfAbsent(f[0], k -> new LinkedHashMap<>()).put(x, y);
            low = Math.min(low, y);
            high = Math.max(high, y);
        }
        xs = new ArrayList<>(all);
        least = Math.pow(10, Math.floor(Math.log10(low)));
        most = Math.pow(10, Math.ceil(Math.log10(high)));
    }

    public static void main(String[] args) throws IOException {
        if (args.length != 4) {
            System.err.println("usage: java Plot.java table.tsv title name-of-x plot.svg");
            System.exit(2);
        }
        Files.writeString(Path.of(args[3]), new Plot(Files.readAllLines(Path.of(args[0]))).draw(args[1], args[2]));
    }

    private double x(double value) {
        return LEFT + (WIDTH - LEFT - RIGHT) * (xs.size() == 1 ? 0.5 : xs.indexOf(value) / (xs.size() - 1.0));
    }

    private double y(double value) {
        double part = Math.log(value / least) / Math.log(most / least);
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * part;
    }

    private String draw(String title, String nameOfX) {
        add("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' font-family='sans-serif' font-size='12'>", WIDTH, HEIGHT);
        add("<rect width='%d' height='%d' fill='white'/>", WIDTH, HEIGHT);
        text(LEFT, 22, "start", title + ": throughput, KB/s");
        text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12, "middle", nameOfX);
        for (double v = least; v <= most * 1.001; v *= 10) {
            add("<line x1='%d' x2='%d' y1='%.1f' y2='%.1f' stroke='#ddd'/>", LEFT, WIDTH - RIGHT, y(v), y(v));
            text(LEFT - 6, y(v) + 4, "end", String.format("%.0f", v));
        }
        for (double v : xs) {
            text(x(v), HEIGHT - BOTTOM + 18, "middle", String.format("%.0f", v));
        }
        int n = 0;
        for (Map.Entry<String, Map<Double, Double>> s : series.entrySet()) {
            line(s.getKey(), s.getValue(), COLOURS[n % COLOURS.length], n);
            n++;
        }
        add("</svg>");
        return svg.toString();
    }

    private void line(String name, Map<Double, Double> points, String colour, int n) {
        StringBuilder path = new StringBuilder();
        for (double v : xs) {
            if (points.containsKey(v)) {
                path.append(String.format("%.1f,%.1f ", x(v), y(points.get(v))));
                add("<circle cx='%.1f' cy='%.1f' r='3' fill='%s'/>", x(v), y(points.get(v)), colour);
            }
        }
        add("<polyline points='%s' fill='none' stroke='%s' stroke-width='2'/>", path.toString().trim(), colour);
        int at = TOP + 10 + 20 * n;
        add("<rect x='%d' y='%d' width='12' height='4' fill='%s'/>", WIDTH - RIGHT + 15, at, colour);
        text(WIDTH - RIGHT + 33, at + 6, "start", name);
    }

    private void text(double x, double y, String anchor, String text) {
        add("<text x='%.1f' y='%.1f' text-anchor='%s'>%s</text>", x, y, anchor, text.replace("&", "&amp;").replace("<", "&lt;"));
    }

    private void add(String format, Object... values) {
        svg.append(String.format(java.util.Locale.ROOT, format, values)).append('\n');
    }
}
