//! The picture of the README: what a handful of operations cost, as bars on a logarithmic scale, drawn from
//! the lines of JSON that `run` has written.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

/// Who is drawn, in the order of the bars.
const WHO: [(&str, &str); 3] = [("Lamprey", "#0a7d5a"), ("tokio", "#b5651d"), ("Go", "#3f6fb5")];

/// An operation: what it is called, its bench and metric, and the variants, in the order of [`WHO`].
type Operation = (&'static str, &'static str, &'static str, [&'static str; 3]);

const OPERATIONS: [Operation; 6] = [
    ("give way among 500 threads", "yield", "yield", ["lamprey", "tokio", "go"]),
    ("start a thread and join it", "spawn", "one_by_one", ["lamprey", "tokio", "go"]),
    ("start an async call that ends at once", "parasite", "at_once", ["stackless", "tokio", "go"]),
    ("start an async call that blocks once", "parasite", "blocks", ["stackless", "tokio", "go"]),
    ("send a message and be answered", "pingpong", "message", ["lamprey", "tokio", "go"]),
    ("choose among 8 channels", "select", "of_8", ["lamprey", "tokio", "go"]),
];

/// Pixels: the whole width, where the bars begin and end, a bar, and from one operation to the next.
const WIDTH: f64 = 760.0;
const BARS: (f64, f64) = (290.0, 690.0);
const BAR: f64 = 13.0;
const STEP: f64 = 56.0;
const TOP: f64 = 48.0;
/// The ends of the scale, in ns.
const SCALE: (f64, f64) = (1.0, 1000.0);

/// Draws what `files` say of one worker.
///
/// # Errors
/// A file cannot be read, is not what `run` writes, or lacks a figure.
pub fn svg(files: &[PathBuf]) -> Result<String> {
    let mut figures = Vec::new();
    for file in files {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        for (at, line) in text.lines().enumerate() {
            let place = || format!("{}:{}: not a line of JSON", file.display(), at + 1);
            figures.push(serde_json::from_str::<Value>(line).with_context(place)?);
        }
    }
    draw(&figures)
}

fn draw(figures: &[Value]) -> Result<String> {
    let height = TOP + STEP * OPERATIONS.len() as f64 + 30.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    legend(&mut svg)?;
    axis(&mut svg, height)?;
    for (at, (label, bench, metric, variants)) in OPERATIONS.iter().enumerate() {
        let y = TOP + STEP * at as f64;
        text(&mut svg, BARS.0 - 12.0, y + 1.8 * BAR, "end", label)?;
        for (row, (variant, (_, colour))) in variants.iter().zip(WHO).enumerate() {
            let ns = find(figures, bench, variant, metric)?;
            let (y, end) = (y + BAR * row as f64, x_of(ns));
            let width = end - BARS.0;
            writeln!(
                svg,
                "<rect x=\"{:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{colour}\"/>",
                BARS.0,
                BAR - 2.0
            )?;
            text(&mut svg, end + 5.0, y + BAR - 3.0, "start", &shown(ns))?;
        }
    }
    svg.push_str("</svg>\n");
    Ok(svg)
}

fn legend(svg: &mut String) -> Result<()> {
    for (at, (who, colour)) in WHO.iter().enumerate() {
        let x = BARS.0 + 90.0 * at as f64;
        writeln!(svg, "<rect x=\"{x}\" y=\"10\" width=\"12\" height=\"12\" fill=\"{colour}\"/>")?;
        text(svg, x + 18.0, 20.0, "start", who)?;
    }
    Ok(())
}

fn axis(svg: &mut String, height: f64) -> Result<()> {
    for ns in [1.0, 10.0, 100.0, 1000.0] {
        let x = x_of(ns);
        writeln!(
            svg,
            "<line x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{x:.1}\" y2=\"{:.1}\" stroke=\"#d0d0d0\"/>",
            TOP - 10.0,
            height - 30.0
        )?;
        text(svg, x, height - 12.0, "middle", &format!("{ns} ns"))?;
    }
    Ok(())
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, text: &str) -> Result<()> {
    writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"#202020\">{text}</text>")?;
    Ok(())
}

fn x_of(ns: f64) -> f64 {
    let part = (ns.clamp(SCALE.0, SCALE.1) / SCALE.0).log10() / (SCALE.1 / SCALE.0).log10();
    BARS.0 + part * (BARS.1 - BARS.0)
}

fn shown(ns: f64) -> String {
    if ns < 100.0 { format!("{ns:.1}") } else { format!("{ns:.0}") }
}

/// The smallest run of a variant with one worker, in ns.
fn find(figures: &[Value], bench: &str, variant: &str, metric: &str) -> Result<f64> {
    let is_it = |line: &&Value| {
        line["bench"] == bench
            && line["variant"] == variant
            && line["metric"] == metric
            && line["workers"] == 1
    };
    match figures.iter().rfind(is_it) {
        Some(line) if line["unit"] == "ns" => line["min"].as_f64().context("a figure without `min`"),
        _ => bail!("no figure of `{variant}` in `{bench}` ({metric}, one worker, ns): run it with --rivals"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn all() -> Vec<Value> {
        let lines = OPERATIONS.iter().flat_map(|(_, bench, metric, variants)| {
            variants.iter().enumerate().map(move |(at, variant)| {
                json!({"bench": bench, "variant": variant, "workers": 1, "metric": metric, "unit": "ns",
                       "min": 4.25 * 10_f64.powi(at as i32), "median": 9.0, "runs": 3})
            })
        });
        lines.collect()
    }

    #[test]
    fn each_operation_has_a_bar_of_each() {
        let svg = draw(&all()).unwrap();
        assert_eq!(svg.matches(">4.2<").count(), OPERATIONS.len());
        assert_eq!(svg.matches(">425<").count(), OPERATIONS.len());
        assert_eq!(svg.matches("<rect").count(), 1 + WHO.len() + WHO.len() * OPERATIONS.len());
    }

    #[test]
    fn a_figure_that_is_not_there_is_named() {
        let mut figures = all();
        figures.retain(|line| line["variant"] != "go" || line["bench"] != "select");
        let error = draw(&figures).unwrap_err().to_string();
        assert!(error.contains("`go` in `select`"), "{error}");
    }

    #[test]
    fn ten_times_as_much_is_a_third_of_the_scale_more() {
        let third = (BARS.1 - BARS.0) / 3.0;
        assert!((x_of(40.0) - x_of(4.0) - third).abs() < 1e-9);
        assert!((x_of(5000.0) - BARS.1).abs() < 1e-9);
    }
}
