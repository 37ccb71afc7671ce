//! What a frame has, as text for a pipe or a file: all lines, and nothing is cut.

use super::app::App;
use super::{draw, tables};
use crate::text::plain;

/// What stands between two columns.
const GAP: &str = "  ";

pub fn text(app: &App) -> String {
    let mut lines: Vec<String> = draw::head(app).iter().map(ToString::to_string).collect();
    lines.extend(draw::workers(app, usize::MAX).iter().map(ToString::to_string));
    lines.push(draw::heading(app));
    let head = tables::GROUPS.map(str::to_owned);
    let groups = app.groups();
    let rows: Vec<_> = std::iter::once(head).chain(groups.iter().map(|group| tables::group(group))).collect();
    let rows: Vec<_> = rows.iter().map(|row| row.each_ref().map(|cell| one_line(cell))).collect();
    let mut widths = [0; tables::GROUPS.len()];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    lines.extend(rows.iter().map(|row| {
        let cells: Vec<_> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        cells.join(GAP).trim_end().to_owned()
    }));
    lines.extend(app.error.clone());
    lines.iter().map(|line| format!("{}\n", one_line(line))).collect()
}

/// A name may have any characters.
fn one_line(text: &str) -> String {
    plain(text).replace(['\n', '\t'], " ")
}
