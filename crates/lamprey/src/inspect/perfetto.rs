//! What the workers have done, as a picture: a [`Recording`] for Perfetto and Chrome's trace viewer.

// The format is Chrome's trace events, in JSON. A runtime is a process of it, a worker a thread, whose track is covered by slices: the
// threads that ran, one after the other, with stackless parasites on top; `sleeps`; `scheduler`, where none ran; `not recorded`.
//
// Invariants:
// 1. The slices of a track lie beside or within each other; one that is within another comes after it in the file.
// 2. An arrow begins and ends within a slice, and has a number of its own.

use super::{Recording, Step, What};
use crate::sched::info::ThreadInfo;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::time::Instant;

/// The recording as a trace: write it to a file, and open that at <https://ui.perfetto.dev>.
///
/// Each worker is a track, with a slice for each time that a thread ran; stackless parasites lie on the slice of the host
/// that ran them. What a slice ended with (a wait and its reason, say) is in its arguments. Arrows lead from a wake to the
/// run that followed it, also from worker to worker.
///
/// # Examples
/// ```no_run
/// use lamprey::inspect::recording;
///
/// std::fs::write("trace.json", lamprey::inspect::perfetto::trace(&recording()))?;
/// # std::io::Result::Ok(())
/// ```
///
/// # Blocking
/// Never. It takes some ten milliseconds if the workers have recorded much.
#[doc(alias = "chrome trace")]
#[must_use]
pub fn trace(recording: &Recording) -> String {
    let begin = recording.steps().next().map_or(recording.taken(), |step| step.at);
    let mut trace =
        Trace { begin, events: Vec::new(), tracks: HashMap::new(), arrows: HashMap::new(), count: 0 };
    recording.steps().for_each(|step| trace.add(step));
    trace.end(recording.taken());
    json!({ "traceEvents": trace.events, "displayTimeUnit": "ns" }).to_string()
}

/// A worker: its runtime's number, and its own.
type Worker = (usize, usize);
/// A thread: its runtime's number, and its own.
type Thread = (usize, u64);

struct Trace {
    begin: Instant,
    events: Vec<Value>,
    tracks: HashMap<Worker, Track>,
    /// Arrows that have begun, by the thread that they lead to.
    arrows: HashMap<Thread, usize>,
    /// The number of arrows so far.
    count: usize,
}

/// The slices of a worker that are open, the outermost first. There is always one, unless the worker has done nothing yet.
#[derive(Default)]
struct Track(Vec<Slice>);

/// A slice that is open.
struct Slice {
    /// Where its event is.
    event: usize,
    begin: Instant,
    /// The thread that runs; `None`: the scheduler, or nobody.
    thread: Option<u64>,
}

impl Trace {
    /// Microseconds since the beginning.
    fn time(&self, at: Instant) -> f64 {
        at.saturating_duration_since(self.begin).as_nanos() as f64 / 1000.0
    }

    fn add(&mut self, step: &Step) {
        let (at, worker) = (step.at, (step.runtime, step.worker));
        if !self.tracks.contains_key(&worker) {
            self.begin_track(worker, at);
        }
        if self.tracks[&worker].0.last().is_some_and(|slice| self.events[slice.event]["name"] == MISSED) {
            self.replace(worker, at, SCHEDULER, None);
        }
        match &step.what {
            What::Ran { thread, on: None } => self.run(worker, at, thread),
            What::Ran { thread, on: Some(_) } => {
                self.open(worker, at, &thread.to_string(), Some(thread));
                self.end_arrow(worker, at, thread);
            }
            What::Blocked { thread, .. } | What::GaveWay { thread } | What::Ended { thread } => {
                self.stop(worker, at, thread, &step.what);
            }
            What::Slept => self.replace(worker, at, "sleeps", None),
            What::WokeUp { .. } => self.replace(worker, at, SCHEDULER, None),
            What::Missed => self.replace(worker, at, MISSED, None),
            what => {
                self.mark(worker, at, what);
                if let What::Woken { thread, .. } | What::Sent { thread, .. } = what {
                    self.begin_arrow(worker, at, thread);
                }
            }
        }
    }

    fn begin_track(&mut self, worker: Worker, at: Instant) {
        let (pid, tid) = worker;
        for (what, name) in
            [("process_name", format!("runtime {pid}")), ("thread_name", format!("worker {tid}"))]
        {
            self.events
                .push(json!({ "ph": "M", "name": what, "pid": pid, "tid": tid, "args": { "name": name } }));
        }
        self.tracks.insert(worker, Track::default());
        self.open(worker, at, SCHEDULER, None);
    }

    /// Opens a slice within those that are open.
    fn open(&mut self, worker: Worker, at: Instant, name: &str, thread: Option<&ThreadInfo>) {
        let mut event = self.event("X", worker, at, name);
        if let Some(site) = thread.and_then(ThreadInfo::spawn_site) {
            event["args"] = json!({ "spawned at": site.to_string() });
        }
        let slice = Slice { event: self.events.len(), begin: at, thread: thread.map(ThreadInfo::id) };
        self.events.push(event);
        self.tracks.entry(worker).or_default().0.push(slice);
    }

    /// Closes the innermost slice.
    fn close(&mut self, worker: Worker, at: Instant, why: Option<&What>) {
        let Some(slice) = self.tracks.get_mut(&worker).and_then(|track| track.0.pop()) else { return };
        let event = &mut self.events[slice.event];
        event["dur"] = (at.saturating_duration_since(slice.begin).as_nanos() as f64 / 1000.0).into();
        if let Some(why) = why {
            event["args"]["end"] = why.to_string().into();
        }
    }

    /// Closes all slices, and opens one.
    fn replace(&mut self, worker: Worker, at: Instant, name: &str, thread: Option<&ThreadInfo>) {
        while !self.tracks[&worker].0.is_empty() {
            self.close(worker, at, None);
        }
        self.open(worker, at, name, thread);
    }

    fn run(&mut self, worker: Worker, at: Instant, thread: &ThreadInfo) {
        self.replace(worker, at, &thread.to_string(), Some(thread));
        self.end_arrow(worker, at, thread);
    }

    /// `thread` runs no more. It may never have been seen to run, if it has blocked for the first time.
    fn stop(&mut self, worker: Worker, at: Instant, thread: &ThreadInfo, why: &What) {
        let open = &self.tracks[&worker].0;
        let Some(place) = open.iter().rposition(|slice| slice.thread == Some(thread.id())) else {
            return self.mark(worker, at, why);
        };
        while self.tracks[&worker].0.len() > place {
            let is_its = self.tracks[&worker].0.len() == place + 1;
            self.close(worker, at, is_its.then_some(why));
        }
        if place == 0 {
            self.open(worker, at, SCHEDULER, None);
        }
    }

    /// A moment on a worker's track.
    fn mark(&mut self, worker: Worker, at: Instant, what: &What) {
        let mut event = self.event("i", worker, at, &what.to_string());
        event["s"] = "t".into();
        self.events.push(event);
    }

    /// An arrow to where `thread` runs next begins here, unless there is one already, from another worker.
    fn begin_arrow(&mut self, worker: Worker, at: Instant, thread: &ThreadInfo) {
        let to = (worker.0, thread.id());
        if self.arrows.contains_key(&to) {
            return;
        }
        self.count += 1;
        self.arrows.insert(to, self.events.len());
        let mut event = self.event("s", worker, at, "wake");
        event["id"] = self.count.into();
        self.events.push(event);
    }

    fn end_arrow(&mut self, worker: Worker, at: Instant, thread: &ThreadInfo) {
        let Some(begun) = self.arrows.remove(&(worker.0, thread.id())) else { return };
        let mut event = self.event("f", worker, at, "wake");
        event["id"] = self.events[begun]["id"].clone();
        event["bp"] = "e".into();
        self.events.push(event);
    }

    fn event(&self, kind: &str, (pid, tid): Worker, at: Instant, name: &str) -> Value {
        json!({ "ph": kind, "name": name, "cat": "lamprey", "pid": pid, "tid": tid, "ts": self.time(at) })
    }

    /// Closes what is open, and takes out arrows to threads that have not run, and slices without a length of the scheduler's.
    fn end(&mut self, taken: Instant) {
        let workers: Vec<_> = self.tracks.keys().copied().collect();
        for worker in workers {
            while !self.tracks[&worker].0.is_empty() {
                self.close(worker, taken, None);
            }
        }
        let unused: HashSet<_> = self.arrows.values().copied().collect();
        let mut at = 0;
        self.events.retain(|event| {
            let is_nothing = event["name"] == SCHEDULER && event["dur"] == 0.0;
            at += 1;
            !is_nothing && !unused.contains(&(at - 1))
        });
    }
}

/// The slice in which no thread runs.
const SCHEDULER: &str = "scheduler";
/// The slice of which nothing is known.
const MISSED: &str = "not recorded";
