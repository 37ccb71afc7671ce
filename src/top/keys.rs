//! What a key does.

use super::app::{App, View};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// The keys, for the help.
pub const KEYS: &[(&str, &str)] = &[
    ("up down PgUp PgDn Home End", "move (also j and k)"),
    ("Enter", "open: the threads of a group, the stack of a thread"),
    ("Esc, Backspace", "back"),
    ("g", "groups: threads that wait for the same in the same way"),
    ("r", "reasons for which threads wait"),
    ("w", "where threads were spawned, the busiest places first"),
    ("t", "all threads, those that have waited longest first"),
    ("x", "threads that wait for each other"),
    ("/", "only what has a text in any of its columns; Enter keeps it, Esc ends it"),
    ("s", "sort groups by count, age, reason, site"),
    ("p, space", "pause, and go on"),
    ("q, Ctrl-C", "quit"),
];

/// Where a text is searched for.
pub const SEARCHED: &str = "its kind, state, reason, spawn site, names, or what it waits on";

pub fn press(app: &mut App, key: KeyEvent) {
    if key.kind == KeyEventKind::Release {
        return;
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        if key.code == KeyCode::Char('c') {
            app.end();
        }
        return;
    }
    if app.is_typing {
        return type_search(app, key.code);
    }
    let page = isize::try_from(app.height.saturating_sub(1).max(1)).unwrap_or(1);
    match key.code {
        KeyCode::Up | KeyCode::Char('k') => app.step(-1),
        KeyCode::Down | KeyCode::Char('j') => app.step(1),
        KeyCode::PageUp => app.step(-page),
        KeyCode::PageDown => app.step(page),
        KeyCode::Home => app.step(isize::MIN),
        KeyCode::End => app.step(isize::MAX),
        KeyCode::Enter => app.enter(),
        KeyCode::Esc if !app.place().search.is_empty() => app.place_mut().search.clear(),
        KeyCode::Esc | KeyCode::Backspace => app.back(),
        KeyCode::Char('g') => app.go(View::Groups),
        KeyCode::Char('r') => app.go(View::Reasons),
        KeyCode::Char('w') => app.go(View::Sites),
        KeyCode::Char('t') => app.go(View::Threads(None)),
        KeyCode::Char('x') => app.go(View::Stuck),
        KeyCode::Char('?' | 'h') => app.open(View::Help),
        KeyCode::Char('/') => app.is_typing = true,
        KeyCode::Char('s') => {
            app.order = app.order.next();
            app.sort();
        }
        KeyCode::Char('p' | ' ') => app.is_paused = !app.is_paused,
        KeyCode::Char('q') => app.end(),
        _ => {}
    }
}

fn type_search(app: &mut App, key: KeyCode) {
    let search = &mut app.place_mut().search;
    match key {
        KeyCode::Char(char) => search.push(char),
        KeyCode::Backspace => _ = search.pop(),
        KeyCode::Esc => search.clear(),
        _ => {}
    }
    if matches!(key, KeyCode::Esc | KeyCode::Enter) {
        app.is_typing = false;
    }
    app.place_mut().selected = 0;
}
