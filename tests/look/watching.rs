//! `lamprey top` as its user meets it: keys, an endpoint that goes away, signals.

use crate::endpoint;
use crate::terminal::{COLUMNS, LINES, Terminal};
use lamprey::inspect::serve;
use rustix::process::{Pid, Signal, kill_process};

const DOWN: &str = "\u{1b}[B";
const UP: &str = "\u{1b}[A";
const END: &str = "\u{1b}[F";
const HOME: &str = "\u{1b}[H";
const ESCAPE: &str = "\u{1b}";

fn start(address: &str) -> Terminal {
    let mut terminal = Terminal::start(&[address, "--delay", "0.1"]);
    terminal.until("spawned at");
    terminal
}

#[test]
fn arrows_move_and_enter_opens() {
    let mut terminal = start(endpoint());
    terminal.until_selected("receive on a channel");
    terminal.press(DOWN);
    terminal.until_selected("sleep");
    terminal.press(DOWN);
    terminal.until_selected("join");
    terminal.press("k");
    terminal.until_selected("sleep");
    terminal.press(UP);
    terminal.until_selected("receive on a channel");
    terminal.press(END);
    terminal.until_selected("join");
    terminal.press(HOME);
    terminal.until_selected("receive on a channel");
    // The group, one of its threads, and back.
    terminal.press("\r");
    terminal.until("3 hosts: receive on a channel");
    terminal.until_selected("reader");
    terminal.press("\r");
    terminal.until("spawned at tests/look.rs:");
    terminal.press(ESCAPE);
    terminal.until("3 hosts: receive on a channel");
    terminal.press("\u{7f}");
    terminal.until("threads that wait alike, by count");
    terminal.press(&format!("{END}\r"));
    terminal.until("1 host: join");
    terminal.press("q");
    terminal.end(true);
}

#[test]
fn slash_searches() {
    let mut terminal = start(endpoint());
    terminal.press("/");
    terminal.until("search: _");
    // While something is typed, the letters of keys are letters.
    terminal.press("slqx");
    terminal.until("search: slqx_");
    terminal.until("with `slqx`");
    terminal.until("No group has `slqx` in its kind, state, reason,");
    terminal.press("\u{7f}\u{7f}eep");
    terminal.until("search: sleep_");
    terminal.until_selected("sleep");
    terminal.press("\r");
    terminal.until_it("list of the found", |screen| {
        let text = screen.contents();
        text.contains("with `sleep`") && text.contains("? keys") && !text.contains("receive on a channel")
    });
    // Escape ends it.
    terminal.press(ESCAPE);
    terminal.until("receive on a channel");
    // Single threads are found by the same texts.
    terminal.press("t/waiting\r");
    terminal.until("6 threads, with `waiting`");
    terminal.press("/none\r");
    terminal.until("No thread has `waitingnone` in its kind,");
    terminal.press("q");
    terminal.end(true);
}

#[test]
fn letters_sort_pause_and_change_the_view() {
    let mut terminal = start(endpoint());
    for order in ["age", "reason", "site", "count"] {
        terminal.press("s");
        terminal.until(&format!("threads that wait alike, by {order}"));
    }
    for (key, text) in [
        ("t", "6 threads"),
        ("r", "reasons"),
        ("w", "spawn sites"),
        ("x", "No threads that wait for each other are known."),
        ("?", "sort groups by"),
        ("g", "threads that wait alike"),
        ("p", "PAUSED"),
    ] {
        terminal.press(key);
        terminal.until(text);
    }
    terminal.press(" ");
    terminal.until_it("end of the pause", |screen| !screen.contents().contains("PAUSED"));
    // Keys that come together are all taken, the last one at once.
    terminal.press(&format!("{}q", "s".repeat(2000)));
    terminal.end(true);
}

#[test]
fn an_endpoint_that_goes_away_is_told_and_the_screen_stays() {
    let server = serve("127.0.0.1:0").unwrap();
    let address = server.addr().to_string();
    let mut terminal = start(&address);
    server.close();
    terminal.until("tries again");
    terminal.until(&format!("cannot ask {address}"));
    terminal.resize(110, LINES);
    // Ctrl-C.
    terminal.press("\u{3}");
    terminal.end(true);
}

#[test]
fn a_terminal_that_is_too_small_is_told() {
    let mut terminal = start(endpoint());
    terminal.until("threads that wait alike");
    for (columns, rows) in [(10, 2), (100, 4), (12, 40)] {
        terminal.resize(columns, rows);
        terminal.until("too small");
    }
    terminal.resize(COLUMNS, LINES);
    terminal.until("threads that wait alike");
    terminal.press("q");
    terminal.end(true);
}

#[test]
fn a_signal_ends_it_and_the_terminal_is_restored() {
    let terminal = start(endpoint());
    let pid = Pid::from_child(&terminal.child);
    kill_process(pid, Signal::TERM).unwrap();
    terminal.end(true);
}
