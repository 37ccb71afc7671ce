//! Follows a log: prints the lines that are added to a file, as `tail -F` does.
//!
//! inotify says when something has changed in the file's folder; a `Descriptor` waits for it like for a socket, so any
//! number of files could be followed without a kernel thread for each. A file that is cut is read from its start, and
//! one that is replaced (by a program that rotates logs) is opened again.
//!
//! ```sh
//! cargo run -p lamprey --example follow -- /var/log/syslog error
//! ```
//! With a second argument only lines that contain it are printed. A line that is `END` ends the program. Without
//! arguments it follows a file that it writes itself.

use lamprey::event::{Event, choose};
use lamprey::fs::{self, File};
use lamprey::io::Descriptor;
use lamprey::signal;
use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Waits for changes in a folder.
struct Watch(Descriptor<OwnedFd>);

impl Watch {
    fn new(folder: &Path) -> io::Result<Self> {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let changes = WatchFlags::MODIFY | WatchFlags::CREATE | WatchFlags::MOVE;
        inotify::add_watch(&inotify, folder, changes)?;
        Ok(Self(Descriptor::new(inotify)?))
    }

    /// Takes all changes that are there. Which they are does not matter: the file is looked at.
    fn drain(&self) -> io::Result<()> {
        let mut buffer = [const { MaybeUninit::uninit() }; 4096];
        let mut reader = Reader::new(self.0.get_ref(), &mut buffer);
        loop {
            match reader.next() {
                Ok(_) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// A file that grows, is cut, or is replaced.
struct Log {
    path: PathBuf,
    open: Option<(File, u64)>,
    /// How far it has been read.
    place: u64,
    /// A line that has no end yet.
    rest: Vec<u8>,
}

impl Log {
    fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), open: None, place: 0, rest: Vec::new() }
    }

    /// The lines that have come since the last call.
    fn lines(&mut self) -> io::Result<Vec<String>> {
        let mut lines = Vec::new();
        self.read_on(&mut lines)?;
        let named = fs::metadata(&self.path).ok();
        let is_replaced = |inode| named.as_ref().is_some_and(|named| named.ino() != inode);
        if self.open.as_ref().is_none_or(|(_, inode)| is_replaced(*inode)) && named.is_some() {
            self.read_on(&mut lines)?; // what was written to the old one before it was replaced
            let file = match File::open(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(lines), // replaced again
                opened => opened?,
            };
            let inode = file.metadata()?.ino();
            (self.open, self.place, self.rest) = (Some((file, inode)), 0, Vec::new());
            self.read_on(&mut lines)?;
        }
        Ok(lines)
    }

    fn read_on(&mut self, lines: &mut Vec<String>) -> io::Result<()> {
        let Some((file, _)) = &mut self.open else { return Ok(()) };
        if file.metadata()?.len() < self.place {
            io::Seek::rewind(file)?;
            (self.place, self.rest) = (0, Vec::new());
        }
        self.place += file.read_to_end(&mut self.rest)? as u64;
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            lines.push(String::from_utf8_lossy(&line[..end]).into_owned());
        }
        Ok(())
    }
}

fn follow(path: &Path, pattern: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let watch = Watch::new(folder.unwrap_or(Path::new(".")))?; // before the first look: nothing is missed
    let (mut log, signals) = (Log::new(path), signal::ctrl_c()?);
    loop {
        for line in log.lines()? {
            if line == "END" {
                return Ok(());
            }
            if line.contains(pattern) {
                println!("{line}");
            }
        }
        let changed = watch.0.readable_evt().wrap(|ready| ready.map(|()| true));
        let stopped = signals.recv_evt().wrap(|signal| signal.map(|_| false));
        if !choose((changed, stopped)).sync()? {
            return Ok(());
        }
        watch.drain()?;
    }
}

/// Writes a log, and cuts and replaces it.
fn demonstrate(path: &Path) -> io::Result<()> {
    use io::Write;
    let mut file = File::create(path)?;
    writeln!(file, "one")?;
    lamprey::sleep(std::time::Duration::from_millis(20));
    fs::rename(path, path.with_extension("old"))?;
    fs::write(path, "two\nEND\n")
}

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (path, pattern) = (arguments.next(), arguments.next().unwrap_or_default());
    lamprey::run(|| match path {
        Some(path) => follow(Path::new(&path), &pattern),
        None => {
            let folder = std::env::temp_dir().join(format!("follow-{}", std::process::id()));
            fs::create_dir_all(&folder)?;
            let (path, place) = (folder.join("log"), folder.join("log"));
            let shows = lamprey::spawn(move || demonstrate(&place));
            follow(&path, &pattern)?;
            shows.join().unwrap()?;
            fs::remove_dir_all(folder)
        }
    })
}
