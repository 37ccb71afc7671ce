//! What led to a report: the last steps of the threads that it is about, as its end, and all that is recorded as a file, if the program has
//! named a folder.

use super::recording::Recording;
use super::text::Ago;
use crate::kernel::fork::PerProcess;
use crate::sched::inspect::runtimes;
use crate::sched::shared::Shared;
use crate::sched::worker::Worker;
use crate::sync_shim::watched::Mutex;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// Most steps at the end of a report.
const MOST: usize = 8;
/// Most files of a process. The next one takes the place of the oldest.
const FILES: usize = 16;
/// The least time between two panics whose steps are told: a recording takes milliseconds to read.
const BETWEEN_PANICS: Duration = Duration::from_secs(1);

/// The end of a report about `threads`, each with the address of its runtime ([`Shared::address`]): their last steps, and the file with all that is recorded. Empty
/// if nothing is recorded of them.
pub(in crate::sched) fn what_led_to(report: &str, threads: &[(usize, u64)]) -> String {
    let all = runtimes::all();
    let place = |address| all.iter().position(|shared| shared.address() == address);
    let threads: Vec<_> = threads.iter().filter_map(|(shared, id)| Some((place(*shared)?, *id))).collect();
    let recording = Recording::of(&all, threads.first().map(|(runtime, _)| *runtime));
    let mut text = recording.last_steps(&threads);
    if !text.is_empty()
        && let Some(folder) = folder(&all)
    {
        // Writing to a `String` cannot fail.
        let _ = match recording.save_in(&folder, report) {
            Ok(file) => write!(text, "\nAll that is recorded is in {}.", file.display()),
            Err(error) => {
                write!(text, "\nWhat is recorded cannot be written to {}: {error}", folder.display())
            }
        };
    }
    text
}

/// As [`what_led_to`], for a panic of the thread with this number, which has run on the calling worker: if a folder is named
/// (else one line is enough for a panic), and for one a second at most.
pub(crate) fn what_led_to_panic(thread: u64) -> String {
    static LAST: PerProcess<Mutex<Option<Instant>>> = PerProcess::new();
    let keeps = |worker: &&Worker| {
        let options = &worker.shared.options;
        options.record_dir.is_some() && !options.simulated
    };
    let Some(worker) = Worker::current().filter(keeps) else {
        return String::new();
    };
    let mut last = LAST.get().lock().unwrap_or_else(PoisonError::into_inner);
    let now = Instant::now();
    if last.is_some_and(|last| now - last < BETWEEN_PANICS) {
        return String::new();
    }
    *last = Some(now);
    drop(last);
    what_led_to("panic", &[(worker.shared.address(), thread)])
}

impl Shared {
    /// What tells it from the other runtimes of the process.
    pub(in crate::sched) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

/// The folder for recordings of the first of these runtimes that has one.
fn folder(all: &[Arc<Shared>]) -> Option<Arc<Path>> {
    all.iter().find_map(|shared| shared.options.record_dir.clone())
}

impl Recording {
    /// The last steps of these threads, as lines.
    fn last_steps(&self, threads: &[(usize, u64)]) -> String {
        let is_theirs = |runtime, id| threads.contains(&(runtime, id));
        let steps = self.steps().rev();
        let theirs =
            steps.filter(|step| step.what.thread().is_some_and(|one| is_theirs(step.runtime, one.id())));
        let last: Vec<_> = theirs.take(MOST).collect();
        let mut text = String::new();
        for (n, step) in last.iter().rev().enumerate() {
            let before = if n == 0 { "\nWhat led there (inspect::recording has more):" } else { "" };
            let ago = Ago(self.taken(), step.at).to_string();
            // Writing to a `String` cannot fail.
            let _ = write!(text, "{before}\n{ago:>9} ago  {}", step.what);
        }
        text
    }

    /// Writes all of it to a file in the folder that the program has named for that
    /// ([`RuntimeBuilder::record_dir`](crate::RuntimeBuilder::record_dir)), with `why` in its name, and returns the path of that.
    ///
    /// Call it where you notice that something went wrong, or took too long: the runtime cannot know how long a wait may be. At a
    /// deadlock, a worker that is held up, and a panic that nobody joins, it does the same by itself. A process keeps 16 files at
    /// most; the next one takes the place of the oldest. Files of earlier processes stay.
    ///
    /// # Examples
    /// ```no_run
    /// use lamprey::{block, inspect};
    /// use std::time::{Duration, Instant};
    ///
    /// # fn answer() {}
    /// let begun = Instant::now();
    /// answer();
    /// if begun.elapsed() > Duration::from_millis(100) {
    ///     let recording = inspect::recording();
    ///     let file = block(|| recording.save("slow-answer"))?;
    ///     eprintln!("slow: {}, {}", recording.why(lamprey::current().id(), begun..), file.display());
    /// }
    /// # std::io::Result::Ok(())
    /// ```
    ///
    /// # Errors
    /// `NotFound` if the runtimes of the process have no such folder; else the system's.
    ///
    /// # Cancellation
    /// The call is not interrupted.
    ///
    /// # Blocking
    /// It writes some hundred kilobytes on the calling kernel thread: see the example.
    #[doc(alias = "snapshot")]
    pub fn save(&self, why: &str) -> io::Result<PathBuf> {
        let Some(folder) = folder(&runtimes::all()) else {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                "no folder is named for recordings: RuntimeBuilder::record_dir, LAMPREY_RECORD_DIR",
            ));
        };
        self.save_in(&folder, why)
    }

    fn save_in(&self, folder: &Path, why: &str) -> io::Result<PathBuf> {
        /// The number of files so far, and those that are kept. A child made by `fork` removes none of its parent's.
        static FILES_SO_FAR: PerProcess<Mutex<(usize, VecDeque<PathBuf>)>> = PerProcess::new();
        std::fs::create_dir_all(folder)?;
        let mut files = FILES_SO_FAR.get().lock().unwrap_or_else(PoisonError::into_inner);
        let is_plain = |char: char| char.is_ascii_alphanumeric() || char == '-';
        let why: String = why.chars().take(40).map(|char| if is_plain(char) { char } else { '-' }).collect();
        let (path, mut file) = loop {
            files.0 += 1;
            let path = folder.join(format!("lamprey-{}-{}-{why}.txt", std::process::id(), files.0));
            // In a container each run of a program may have the same number. What is there stays as it is, links included.
            match File::create_new(&path) {
                Ok(file) => break (path, file),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        files.1.push_back(path.clone());
        let oldest = if files.1.len() > FILES { files.1.pop_front() } else { None };
        drop(files);
        if let Some(oldest) = oldest {
            // It may have been moved away.
            let _ = std::fs::remove_file(oldest);
        }
        if let Err(error) = file.write_all(format!("{self:#}\n").as_bytes()) {
            // Half of a recording looks like a whole one.
            let _ = std::fs::remove_file(&path);
            return Err(error);
        }
        Ok(path)
    }
}
