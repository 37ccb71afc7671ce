//! The screen: what the program is and does as a whole, a list, and a line for keys or an error.

use super::app::{App, View};
use super::data::Worker;
use super::keys::{KEYS, SEARCHED};
use super::tables;
use crate::text::{count, counted, time};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

/// The most lines for workers.
const WORKERS: usize = 8;

/// The least columns and lines in which a list can be read.
const LEAST: (u16, u16) = (20, 8);

pub fn draw(frame: &mut Frame<'_>, app: &mut App) {
    let (columns, lines) = LEAST;
    if frame.area().width < columns || frame.area().height < lines {
        let text = format!("too small: {columns} x {lines} at least");
        return frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), frame.area());
    }
    let head = head(app);
    let workers = workers(app, WORKERS);
    let heights = [
        Constraint::Length(u16::try_from(head.len()).unwrap_or(u16::MAX)),
        Constraint::Length(u16::try_from(workers.len()).unwrap_or(u16::MAX)),
        Constraint::Length(1),
        Constraint::Min(3),
        Constraint::Length(1),
    ];
    let [top, middle, title, body, foot] = Layout::vertical(heights).areas(frame.area());
    frame.render_widget(Paragraph::new(head), top);
    frame.render_widget(Paragraph::new(workers), middle);
    frame.render_widget(
        Paragraph::new(heading(app)).style(Style::new().add_modifier(Modifier::REVERSED)),
        title,
    );
    list(frame, app, body);
    frame.render_widget(Paragraph::new(foot_line(app)), foot);
}

/// What the program is and does as a whole.
pub fn head(app: &App) -> Vec<Line<'static>> {
    let summary = &app.summary;
    let [running, ready, waiting] = summary.states;
    let mut lines = vec![
        Line::from(vec![Span::from(summary.head.clone()).bold(), Span::from(format!(" at {}", app.address))]),
        Line::from(format!(
            "{} ({}, {}): {} running, {} ready{}, {} waiting",
            counted(summary.threads, "thread"),
            counted(summary.hosts, "host"),
            counted(summary.parasites, "parasite"),
            count(running),
            count(ready),
            unstarted(summary.unstarted),
            count(waiting)
        )),
    ];
    let rates: Vec<_> = app.rates.iter().filter(|(_, rate)| *rate >= 0.5).collect();
    if !rates.is_empty() {
        let rate = |(name, rate): &&(String, f64)| format!("{name} {}", count(rate.round() as u64));
        lines.push(format!("in a second: {}", rates.iter().map(rate).collect::<Vec<_>>().join(", ")).into());
    }
    let pools = summary.pools.iter().filter(|pool| pool.threads != 0 || pool.queued != 0);
    let pool = |pool: &super::data::Pool| {
        format!(
            "{} {} of {} busy, {} queued",
            pool.name,
            pool.threads.saturating_sub(pool.idle),
            pool.threads,
            pool.queued
        )
    };
    let pools: Vec<_> = pools.map(pool).collect();
    if !pools.is_empty() {
        lines.push(format!("pools: {}", pools.join("; ")).into());
    }
    if let Some([half, most, all]) = summary.delays {
        lines.push(
            format!(
                "ready threads have run within {} (half), {} (99%), {} (all)",
                time(half),
                time(most),
                time(all)
            )
            .into(),
        );
    }
    lines
}

fn unstarted(number: u64) -> String {
    if number == 0 { String::new() } else { format!(" ({} not started)", count(number)) }
}

/// What the workers do, `most` of them at most.
pub fn workers(app: &App, most: usize) -> Vec<Line<'static>> {
    let workers = &app.summary.workers;
    let mut order: Vec<_> = workers.iter().collect();
    // Those that are told are those that matter, where there are many.
    if workers.len() > most {
        order
            .sort_by_key(|worker| std::cmp::Reverse((worker.held, !worker.running.is_empty(), worker.ready)));
    }
    let mut lines: Vec<_> = order
        .iter()
        .take(most)
        .map(|one| {
            let is_held = !one.running.is_empty() || one.held.is_some();
            Line::styled(worker(one), if is_held { Style::new().fg(Color::Yellow) } else { Style::new() })
        })
        .collect();
    if workers.len() > most {
        lines.push(format!("and {}", counted((workers.len() - most) as u64, "more worker")).into());
    }
    let missing = app.missing.iter().map(|text| Line::styled(text.clone(), Style::new().fg(Color::Yellow)));
    lines.extend(missing);
    lines
}

fn worker(worker: &Worker) -> String {
    let mut line = format!("worker {:<4} {:>6} ready", worker.name, count(worker.ready));
    if let Some(living) = worker.living {
        line += &format!(" {:>8} living", count(living));
    }
    if !worker.running.is_empty() {
        line += &format!("  runs {}", worker.running);
    }
    if let Some(held) = worker.held {
        line += &format!(", held up for {}", time(held));
    }
    line
}

/// What the list is.
pub fn heading(app: &App) -> String {
    let place = app.place();
    let mut text = match &place.view {
        View::Groups => format!("threads that wait alike, by {}", app.order.name()),
        View::Reasons => "reasons".to_owned(),
        View::Sites => "spawn sites".to_owned(),
        View::Threads(None) => counted(app.page.total as u64, "thread"),
        View::Threads(Some(group)) => {
            format!("{}: {}", counted(app.page.total as u64, &group.kind), group.doing)
        }
        View::Thread { id, name, .. } => format!("thread {id} {name}"),
        View::Stuck => "threads that wait for each other".to_owned(),
        View::Help => "keys".to_owned(),
    };
    if !place.search.is_empty() {
        text += &format!(", with `{}`", place.search);
    }
    text
}

fn list(frame: &mut Frame<'_>, app: &mut App, area: Rect) {
    // One line is the table's head.
    app.height = usize::from(area.height).saturating_sub(1);
    let selected = app.place().selected;
    if let Some(text) = nothing(app) {
        frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), area);
        return;
    }
    match &app.place().view {
        View::Groups => tables::groups(frame, area, &app.groups(), selected),
        View::Reasons | View::Sites => tables::sums(frame, area, &app.sums(), selected),
        View::Threads(_) => tables::threads(frame, area, app),
        View::Thread { .. } | View::Stuck => {
            let lines = app.lines.iter().skip(selected).take(usize::from(area.height));
            frame.render_widget(
                Paragraph::new(lines.map(|line| Line::from(&**line)).collect::<Vec<_>>()),
                area,
            );
        }
        View::Help => {
            let lines = KEYS.iter().map(|(key, what)| Line::from(format!("{key:<28} {what}")));
            frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), area);
        }
    }
}

/// Why a list is empty, where a search has left nothing.
fn nothing(app: &App) -> Option<String> {
    let search = &app.place().search;
    let what = match &app.place().view {
        View::Groups | View::Reasons | View::Sites => "group",
        View::Threads(_) if app.page.search == *search => "thread",
        // Its answer has not come yet.
        View::Threads(_) => return None,
        View::Thread { .. } | View::Stuck | View::Help => return None,
    };
    let is_empty = app.length() == 0 && !search.is_empty();
    is_empty.then(|| format!("No {what} has `{search}` in {SEARCHED}. (Esc ends the search.)"))
}

fn foot_line(app: &App) -> Line<'static> {
    if let Some(error) = &app.error {
        return Line::styled(
            format!("{error} (tries again)"),
            Style::new().fg(Color::Red).add_modifier(Modifier::BOLD),
        );
    }
    if app.is_typing {
        return Line::from(format!("search: {}_", app.place().search));
    }
    if !app.has_keys {
        return Line::default();
    }
    let paused = if app.is_paused { "PAUSED (p goes on)  " } else { "" };
    Line::styled(
        format!(
            "{paused}q quit  ? keys  / search  Enter open  Esc back  s sort  g groups  r reasons  w sites  t threads  x stuck"
        ),
        Style::new().add_modifier(Modifier::DIM),
    )
}

#[cfg(test)]
mod tests {
    use super::worker;
    use crate::top::data::Summary;
    use serde_json::json;

    #[test]
    fn what_an_endpoint_does_not_tell_is_not_shown() {
        let summary = Summary::of(&json!({ "runtimes": [{ "id": 1, "workers": [
            { "id": 0, "ready": 3, "running": { "id": "7", "name": null }, "held_ns": null },
            { "id": 1, "ready": 0, "living": 20, "running": null, "held_ns": null },
        ] }] }));
        let lines: Vec<_> = summary.workers.iter().map(worker).collect();
        assert_eq!(lines, ["worker 0         3 ready  runs 7", "worker 1         0 ready       20 living"]);
    }
}
