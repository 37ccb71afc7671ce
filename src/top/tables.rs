//! The lists.

use super::app::{App, Sum};
use super::data::Group;
use crate::text::{count, counted, time};
use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::widgets::{Row, Table, TableState};
use std::ops::Range;

/// The lines of a list of `total` that have room below its head, the selected one among them.
fn shown(area: Rect, selected: usize, total: usize) -> Range<usize> {
    let height = usize::from(area.height).saturating_sub(1);
    // The selected line is the middle one, unless the list begins or ends there: nothing is remembered from frame to frame.
    let top = selected.saturating_sub(height / 2).min(total.saturating_sub(height));
    top..total.min(top + height)
}

/// Draws the lines from `from` on, of which `selected` is marked.
fn table<'a>(
    frame: &mut Frame<'_>,
    area: Rect,
    head: &[&'static str],
    widths: &[Constraint],
    lines: impl Iterator<Item = Vec<String>> + 'a,
    selected: usize,
) {
    let rows = lines.map(Row::new);
    let table = Table::new(rows, widths.iter().copied())
        .header(Row::new(head.iter().copied()).style(Style::new().add_modifier(Modifier::BOLD)))
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED))
        .column_spacing(2);
    frame.render_stateful_widget(table, area, &mut TableState::new().with_selected(Some(selected)));
}

/// The end of a place in the program, where it differs from others: `src/serve.rs:40:9`.
fn short(site: &str) -> &str {
    site.rmatch_indices('/').nth(1).map_or(site, |(at, _)| &site[at + 1..])
}

fn age(age: Option<u64>) -> String {
    age.map_or_else(String::new, time)
}

/// The heads of the columns of groups.
pub const GROUPS: [&str; 6] = ["count", "oldest", "kind", "waits for", "spawned at", "waits on, or names"];

/// A group, by columns.
pub fn group(group: &Group) -> [String; GROUPS.len()] {
    [
        count(group.count),
        age(group.oldest),
        group.kind.clone(),
        group.doing().to_owned(),
        group.site.clone(),
        if group.on.is_empty() { group.names.join(", ") } else { group.on.clone() },
    ]
}

pub fn groups(frame: &mut Frame<'_>, area: Rect, groups: &[&Group], selected: usize) {
    let shown = shown(area, selected, groups.len());
    let lines = groups[shown.clone()].iter().map(|one| {
        let mut line = group(one);
        line[4] = short(&one.site).to_owned();
        line.to_vec()
    });
    let widths = [
        Constraint::Length(6),
        Constraint::Length(9),
        Constraint::Length(9),
        Constraint::Fill(3),
        Constraint::Fill(3),
        Constraint::Fill(3),
    ];
    table(frame, area, &GROUPS, &widths, lines, selected.saturating_sub(shown.start));
}

pub fn sums(frame: &mut Frame<'_>, area: Rect, sums: &[Sum], selected: usize) {
    let shown = shown(area, selected, sums.len());
    let lines =
        sums[shown.clone()].iter().map(|sum| vec![count(sum.count), age(sum.oldest), sum.name.clone()]);
    let widths = [Constraint::Length(6), Constraint::Length(9), Constraint::Fill(1)];
    table(frame, area, &["count", "oldest", ""], &widths, lines, selected.saturating_sub(shown.start));
}

pub fn threads(frame: &mut Frame<'_>, area: Rect, app: &App) {
    let selected = app.place().selected;
    let shown = shown(area, selected, app.page.total);
    let lines = shown.clone().map(|at| match app.thread(at) {
        // It has not come yet.
        None => vec!["..".to_owned()],
        Some(thread) => vec![
            thread.id.clone(),
            age(thread.waiting),
            match thread.count {
                1 => thread.kind.clone(),
                count => counted(count, &thread.kind),
            },
            thread.worker.clone(),
            thread.doing().to_owned(),
            short(&thread.site).to_owned(),
            if thread.on.is_empty() {
                thread.name.clone()
            } else {
                format!("{}; {}", thread.name, thread.on)
            },
        ],
    });
    let widths = [
        Constraint::Length(8),
        Constraint::Length(9),
        Constraint::Length(9),
        Constraint::Length(6),
        Constraint::Fill(3),
        Constraint::Fill(3),
        Constraint::Fill(3),
    ];
    let head = ["id", "waits", "kind", "worker", "for", "spawned at", "name, and on what"];
    table(frame, area, &head, &widths, lines, selected.saturating_sub(shown.start));
}
