//! A pseudo-terminal in which `lamprey top` runs; its other end is the test.

use crate::lamprey;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Longer than anything takes on a loaded machine, however often the screen is drawn meanwhile.
const PATIENCE: Duration = Duration::from_secs(100);
pub const LINES: u16 = 30;
pub const COLUMNS: u16 = 100;

/// A command that runs in a terminal.
pub struct Terminal {
    pub child: Child,
    /// The end of the one who types and reads.
    keyboard: File,
    /// The command's end; while it is open, the screen can be read.
    end: OwnedFd,
    /// What a terminal shows of all that has been written.
    shown: vt100::Parser,
}

impl Terminal {
    /// Starts `lamprey top` with these arguments.
    pub fn start(arguments: &[&str]) -> Self {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        let name = ptsname(&keyboard, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let end = rustix::fs::open(name, flags, Mode::empty()).unwrap();
        tcsetwinsize(&end, size(COLUMNS, LINES)).unwrap();
        let side = || Stdio::from(end.try_clone().unwrap());
        let mut command = lamprey();
        command.arg("top").args(arguments).stdin(side()).stdout(side()).env("TERM", "xterm");
        let child = command.spawn().unwrap();
        let shown = vt100::Parser::new(lines(LINES), lines(COLUMNS), 0);
        Self { child, keyboard: keyboard.into(), end, shown }
    }

    /// Another size.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        tcsetwinsize(&self.end, size(columns, rows)).unwrap();
        self.shown.screen_mut().set_size(lines(rows), lines(columns));
    }

    pub fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until `text` is on the screen.
    #[track_caller]
    pub fn until(&mut self, text: &str) {
        self.until_it(text, |screen| screen.contents().contains(text));
    }

    /// Waits until the line of the list that is selected has `text`.
    #[track_caller]
    pub fn until_selected(&mut self, text: &str) {
        self.until_it(&format!("selected line with {text}"), |screen| {
            // The heading of the list is as bright; the list is below it.
            let is_bright = |line: &u16| screen.cell(*line, 0).is_some_and(vt100::Cell::inverse);
            let selected = (0..LINES).filter(is_bright).nth(1);
            selected.is_some_and(|line| {
                screen.rows(0, COLUMNS).nth(line.into()).is_some_and(|row| row.contains(text))
            })
        });
    }

    /// Waits until the screen is as wanted: `what` says how, for the one who reads of a failure.
    #[track_caller]
    pub fn until_it(&mut self, what: &str, is_it: impl Fn(&vt100::Screen) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        let mut piece = [0; 4096];
        while !is_it(self.shown.screen()) {
            // Not renewed when something comes: a screen that is drawn again and again would wait for ever.
            let left = deadline.saturating_duration_since(Instant::now());
            let time = Timespec::try_from(left).unwrap();
            let is_there = poll(&mut [PollFd::new(&self.keyboard, PollFlags::IN)], Some(&time)).unwrap();
            let screen = self.shown.screen().contents();
            assert!(
                is_there != 0 && !left.is_zero(),
                "no {what} within {PATIENCE:?}; the screen is\n{screen}"
            );
            let length = self.keyboard.read(&mut piece).unwrap();
            assert_ne!(length, 0, "no {what}; the screen is\n{screen}");
            self.shown.process(&piece[..length]);
        }
    }

    /// What is on the screen.
    pub fn text(&self) -> String {
        self.shown.screen().contents()
    }

    /// Waits for the end, which has left the terminal as it was.
    #[track_caller]
    pub fn end(mut self, is_success: bool) {
        self.until_it("end of the other screen", |screen| !screen.alternate_screen());
        assert_eq!(self.child.wait().unwrap().success(), is_success);
        let modes = tcgetattr(&self.end).unwrap().local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO), "{modes:?}");
    }
}

fn size(columns: u16, rows: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

fn lines(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap()
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
