//! `lamprey top`: the threads of a program, as they change.
//!
//! `feed` asks the endpoint, on a thread of its own, for what is on the screen; `data` is what it answers; `app` is what the user has chosen,
//! changed by `keys`; `draw` and `tables` show both, `whole` writes them where there is
//! no screen.

mod app;
mod data;
mod draw;
mod feed;
mod keys;
mod tables;
mod whole;

use crate::client::Client;
use crate::{Target, print, text};
use app::App;
use clap::Args;
use crossterm::event::{self, Event};
use feed::Feed;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use rustix::event::{PollFd, PollFlags, Timespec};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    /// Seconds from one look to the next.
    #[arg(long, short, value_name = "SECONDS", default_value_t = 1.0, value_parser = text::seconds)]
    delay: f64,
    /// Print one frame as text, and end: as large as the terminal, or the whole into a pipe or file.
    #[arg(long)]
    once: bool,
}

/// How often keys, answers and signals are looked for.
const TICK: Duration = Duration::from_millis(100);
/// The size of a terminal that does not tell its own.
const SIZE: (u16, u16) = (120, 40);

pub fn main(options: Options) -> Result<(), String> {
    let client = Client::of(options.target)?;
    let mut app = App::new(client.address.clone());
    // At once: where nobody answers there is nothing to watch.
    app.update(feed::ask(&client, &app.query())?);
    if options.once {
        return once(&mut app);
    }
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        return Err("`top` needs a terminal; `lamprey top --once` prints one frame as text".to_owned());
    }
    watch(&mut app, &Feed::start(client, Duration::from_secs_f64(options.delay)))
}

/// Until the user, or a signal, ends it. The terminal is as it was after that, also after a panic. (SIGHUP ends the process: there is no terminal any
/// more.)
fn watch(app: &mut App, feed: &Feed) -> Result<(), String> {
    let end = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT] {
        signal_hook::flag::register(signal, end.clone())
            .map_err(|error| format!("cannot watch for signals: {error}"))?;
    }
    let mut terminal = ratatui::try_init().map_err(|error| format!("cannot use the terminal: {error}"))?;
    let done = run(app, feed, &mut terminal, &end);
    ratatui::restore();
    done.map_err(|error| format!("cannot use the terminal: {error}"))
}

fn run(
    app: &mut App,
    feed: &Feed,
    terminal: &mut ratatui::DefaultTerminal,
    end: &AtomicBool,
) -> io::Result<()> {
    let mut is_new = true;
    // Relaxed: nothing else is told with it.
    while !app.is_over && !end.load(Ordering::Relaxed) {
        if is_new {
            terminal.draw(|frame| draw::draw(frame, app))?;
        }
        wait()?;
        is_new = press_all(app)?;
        feed.want(app.query(), app.is_paused);
        for answer in feed.answers() {
            is_new = true;
            match answer {
                Ok(answer) => app.update(answer),
                Err(error) => app.fail(error),
            }
        }
    }
    Ok(())
}

/// How long crossterm looks whether a key has come. With zero it does not look at all.
const GLANCE: Duration = Duration::from_millis(1);

/// Does what all keys say that have come; true if there were some. The terminal's bytes have been read for all of them, so that nothing would
/// wake `wait` for a second one.
fn press_all(app: &mut App) -> io::Result<bool> {
    let mut is_new = false;
    while !app.is_over && event::poll(GLANCE)? {
        is_new = true;
        match event::read()? {
            Event::Key(key) => keys::press(app, key),
            Event::Paste(_) | Event::Mouse(_) | Event::FocusGained | Event::FocusLost | Event::Resize(..) => {
            }
        }
    }
    Ok(is_new)
}

/// Waits for a key, or for a tick. Not by crossterm: where the terminal is gone, its `poll` reads an end of file again and again, and never returns.
///
/// # Errors
/// If the terminal is gone.
fn wait() -> io::Result<()> {
    let stdin = io::stdin();
    let mut input = [PollFd::new(&stdin, PollFlags::IN)];
    let tick = Timespec { tv_sec: 0, tv_nsec: TICK.subsec_nanos().into() };
    match rustix::event::poll(&mut input, Some(&tick)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let is_gone = input[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL);
    if is_gone { Err(io::Error::new(io::ErrorKind::NotConnected, "it is gone")) } else { Ok(()) }
}

fn once(app: &mut App) -> Result<(), String> {
    app.has_keys = false;
    if !std::io::stdout().is_terminal() {
        return print(whole::text(app).as_bytes());
    }
    let size = crossterm::terminal::size().ok().filter(|(columns, lines)| *columns >= 20 && *lines >= 10);
    let (columns, lines) = size.unwrap_or(SIZE);
    let Ok(mut terminal) = Terminal::new(TestBackend::new(columns, lines));
    let Ok(frame) = terminal.draw(|frame| draw::draw(frame, app));
    let mut text = String::new();
    for y in 0..lines {
        let line: String = (0..columns).map(|x| frame.buffer[(x, y)].symbol()).collect();
        text += line.trim_end();
        text.push('\n');
    }
    print(format!("{}\n", text.trim_end()).as_bytes())
}
