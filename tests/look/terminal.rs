//! `lamprey top` in a terminal: a pseudo-terminal whose other end is the test.

use crate::{endpoint, lamprey};
use lamprey::inspect::serve;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};

/// Longer than anything takes on a loaded machine.
const PATIENCE: Timespec = Timespec { tv_sec: 100, tv_nsec: 0 };

/// A command that runs in a terminal of 100 columns and 30 lines.
struct Terminal {
    child: Child,
    /// The end of the one who types and reads.
    screen: File,
    /// The command's end; while it is open, the screen can be read.
    end: OwnedFd,
    seen: String,
}

impl Terminal {
    fn start(address: &str) -> Self {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&screen).unwrap();
        unlockpt(&screen).unwrap();
        let name = ptsname(&screen, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let end = rustix::fs::open(name, flags, Mode::empty()).unwrap();
        let size = Winsize { ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&end, size).unwrap();
        let side = || Stdio::from(end.try_clone().unwrap());
        let mut command = lamprey();
        command.args(["top", address, "--delay", "0.1"]).stdin(side()).stdout(side()).env("TERM", "xterm");
        let child = command.spawn().unwrap();
        Self { child, screen: screen.into(), end, seen: String::new() }
    }

    /// Another width: the next frame is drawn as a whole.
    fn resize(&mut self, columns: u16) {
        tcsetwinsize(&self.end, Winsize { ws_row: 30, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    }

    fn press(&mut self, keys: &str) {
        self.screen.write_all(keys.as_bytes()).unwrap();
    }

    /// Reads until `text` has been written since the last call. Only what changes is written, so that it may have to be
    /// [drawn anew](Self::resize).
    #[track_caller]
    fn until(&mut self, text: &str) {
        let mut piece = [0; 4096];
        while !self.seen.contains(text) {
            // Ends a test that hangs.
            let is_there = poll(&mut [PollFd::new(&self.screen, PollFlags::IN)], Some(&PATIENCE)).unwrap();
            assert_ne!(is_there, 0, "no `{text}` in {:?}", self.seen);
            let length = self.screen.read(&mut piece).unwrap();
            assert_ne!(length, 0);
            self.seen += &String::from_utf8_lossy(&piece[..length]);
        }
        self.seen.clear();
    }

    /// Waits for the end, which has left the terminal as it was.
    fn end(mut self, is_success: bool) {
        self.until("\u{1b}[?1049l");
        assert_eq!(self.child.wait().unwrap().success(), is_success);
        let modes = tcgetattr(&self.end).unwrap().local_modes;
        assert!(
            modes.contains(rustix::termios::LocalModes::ICANON | rustix::termios::LocalModes::ECHO),
            "{modes:?}"
        );
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_endpoint_that_goes_away_is_told_and_the_screen_stays() {
    let server = serve("127.0.0.1:0").unwrap();
    let address = server.addr().to_string();
    let mut terminal = Terminal::start(&address);
    terminal.until("spawned at");
    server.close();
    terminal.until("tries");
    terminal.resize(110);
    terminal.until(&format!("cannot ask {address}"));
    // Ctrl-C.
    terminal.press("\u{3}");
    terminal.end(true);
}

#[test]
fn a_signal_ends_it_and_the_terminal_is_restored() {
    let mut terminal = Terminal::start(endpoint());
    terminal.until("spawned at");
    let pid = Pid::from_child(&terminal.child);
    kill_process(pid, Signal::TERM).unwrap();
    terminal.end(true);
}
