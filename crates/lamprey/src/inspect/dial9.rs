//! What the workers have done, for [dial9](https://github.com/dial9-rs/dial9), a viewer and toolkit for traces of tokio: a
//! [`Recording`] in its format.

// The format says what its events are, and each reader takes those that it knows. The first eight are those of dial9's own recorder,
// by name and fields; of `WaitEvent` and `NotRecordedEvent` its viewer shows the fields.
//
// Invariant: the polls of a worker lie one after the other (the format has none within another one). While a stackless parasite
// runs on a host, the poll of the host is interrupted.

use super::{Recording, Step, What};
use crate::sched::info::ThreadInfo;
use dial9_trace_format::encoder::Encoder;
use dial9_trace_format::{InternedString, TraceEvent};
use std::collections::HashMap;
use std::io;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The recording as a trace: write it to a file, and open that with dial9's viewer (`dial9 serve --local-dir .`), or read it with the crate
/// `dial9-trace-format`.
///
/// A time that a thread runs is a poll of a task; wakes, spawns, and sleeps of workers are what they are there. What a
/// thread stops for is an event `WaitEvent`, and where steps are missing there is a `NotRecordedEvent`. Workers of all runtimes are
/// numbered as one. The counts that dial9 has of queues, CPU time and kernel threads are 0.
///
/// # Examples
/// ```no_run
/// use lamprey::inspect::recording;
///
/// std::fs::write("trace.bin", lamprey::inspect::dial9::trace(&recording()))?;
/// # std::io::Result::Ok(())
/// ```
///
/// # Blocking
/// Never. It takes some ten milliseconds if the workers have recorded much.
#[doc(alias = "flight recorder")]
#[must_use]
pub fn trace(recording: &Recording) -> Vec<u8> {
    let begin = recording.steps().next().map_or(recording.taken(), |step| step.at);
    let mut trace = Trace { begin, encoder: Encoder::new(), workers: Vec::new(), open: HashMap::new() };
    trace.write(recording).expect("memory takes all that is written to it");
    trace.encoder.finish()
}

/// The number of a task. Of the runtime's number there is room for 8 bits.
fn task(runtime: usize, thread: &ThreadInfo) -> u64 {
    (runtime as u64) << 56 | thread.id()
}

/// Who woke a thread is not known.
const NOBODY: u64 = 0;
/// The worker is not known.
const NOWHERE: u8 = 255;

struct Trace {
    begin: Instant,
    encoder: Encoder,
    /// The workers, by their runtime's number and their own, each at the place that is its number in the trace.
    workers: Vec<(usize, usize)>,
    /// The threads that run on a worker, the host first.
    open: HashMap<u64, Vec<ThreadInfo>>,
}

impl Trace {
    /// Nanoseconds since the beginning.
    fn time(&self, at: Instant) -> u64 {
        at.saturating_duration_since(self.begin).as_nanos() as u64
    }

    fn write(&mut self, recording: &Recording) -> io::Result<()> {
        self.workers = recording.steps().map(|step| (step.runtime, step.worker)).collect();
        self.workers.sort_unstable();
        self.workers.dedup();
        self.write_head()?;
        recording.steps().try_for_each(|step| self.add(step))?;
        (0..self.workers.len() as u64).try_for_each(|worker| self.end_all(worker, recording.taken()))
    }

    /// When it was, and whose workers these are.
    fn write_head(&mut self) -> io::Result<()> {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let realtime_ns = since_epoch.saturating_sub(self.begin.elapsed()).as_nanos() as u64;
        self.encoder.write(&ClockSyncEvent { timestamp_ns: 0, realtime_ns })?;
        let mut of_runtime = HashMap::<usize, Vec<String>>::new();
        for (number, (runtime, _)) in self.workers.iter().enumerate() {
            of_runtime.entry(*runtime).or_default().push(number.to_string());
        }
        let entries = of_runtime.into_iter();
        let entries =
            entries.map(|(runtime, of_it)| (format!("runtime.{runtime}"), of_it.join(","))).collect();
        self.encoder.write(&SegmentMetadataEvent { timestamp_ns: 0, entries })
    }

    fn add(&mut self, step: &Step) -> io::Result<()> {
        let place = (step.runtime, step.worker);
        let worker = self.workers.binary_search(&place).unwrap_or_default() as u64;
        let (at, timestamp_ns) = (step.at, self.time(step.at));
        let task = |thread: &ThreadInfo| task(step.runtime, thread);
        match &step.what {
            What::Ran { thread, on: None } => {
                self.end_all(worker, at)?;
                self.begin(worker, step, thread)
            }
            What::Ran { thread, on: Some(_) } => {
                if self.open.get(&worker).is_some_and(|open| !open.is_empty()) {
                    self.encoder.write(&PollEndEvent { timestamp_ns, worker_id: worker })?;
                }
                self.begin(worker, step, thread)
            }
            What::Blocked { thread, wait } => {
                self.stop(worker, step, thread)?;
                let text = wait.map_or_else(|| "not known".to_owned(), |wait| wait.to_string());
                let wait = self.encoder.intern_string(&text)?;
                self.encoder.write(&WaitEvent {
                    timestamp_ns,
                    worker_id: worker,
                    task_id: task(thread),
                    wait,
                })
            }
            What::GaveWay { thread } => self.stop(worker, step, thread),
            What::Ended { thread } => {
                self.stop(worker, step, thread)?;
                self.encoder.write(&TaskTerminateEvent { timestamp_ns, task_id: task(thread) })
            }
            What::Spawned { thread, .. } | What::Reified { parasite: thread, .. } => {
                let (task_id, spawn_loc, instrumented) = (task(thread), self.label(thread)?, true);
                let worker_id = Some(worker);
                let spawned = TaskSpawnEvent { timestamp_ns, task_id, spawn_loc, instrumented, worker_id };
                self.encoder.write(&spawned)
            }
            What::Woken { thread, by, .. } | What::Sent { thread, by, .. } => {
                let waker_task_id = by.as_ref().map_or(NOBODY, task);
                let target_worker = u8::try_from(worker).unwrap_or(NOWHERE);
                let woken_task_id = task(thread);
                let wake = WakeEventEvent { timestamp_ns, waker_task_id, woken_task_id, target_worker };
                self.encoder.write(&wake)
            }
            What::Slept => {
                self.end_all(worker, at)?;
                let sleeps = WorkerParkEvent {
                    timestamp_ns,
                    worker_id: worker,
                    local_queue: 0,
                    cpu_time_ns: 0,
                    tid: 0,
                };
                self.encoder.write(&sleeps)
            }
            What::WokeUp { .. } => self.encoder.write(&WorkerUnparkEvent {
                timestamp_ns,
                worker_id: worker,
                local_queue: 0,
                cpu_time_ns: 0,
                sched_wait_ns: None,
                tid: 0,
            }),
            What::Missed => {
                self.end_all(worker, at)?;
                self.encoder.write(&NotRecordedEvent { timestamp_ns, worker_id: worker })
            }
            _ => Ok(()),
        }
    }

    /// Name and spawn site of a thread.
    fn label(&mut self, thread: &ThreadInfo) -> io::Result<InternedString> {
        let label = match (thread.spawn_site(), thread.name()) {
            (Some(site), Some(name)) => format!("{site} `{name}`"),
            (Some(site), None) => site.to_string(),
            (None, name) => name.unwrap_or("not known").to_owned(),
        };
        self.encoder.intern_string(&label)
    }

    /// `thread` runs from now on, on top of those that do.
    fn begin(&mut self, worker: u64, step: &Step, thread: &ThreadInfo) -> io::Result<()> {
        self.open.entry(worker).or_default().push(thread.clone());
        let spawn_loc = self.label(thread)?;
        self.encoder.write(&PollStartEvent {
            timestamp_ns: self.time(step.at),
            worker_id: worker,
            local_queue: 0,
            task_id: task(step.runtime, thread),
            spawn_loc,
        })
    }

    /// `thread` runs no more, nor do those on top of it. It may never have been seen to run.
    fn stop(&mut self, worker: u64, step: &Step, thread: &ThreadInfo) -> io::Result<()> {
        let open = self.open.entry(worker).or_default();
        let Some(place) = open.iter().rposition(|one| one.id() == thread.id()) else { return Ok(()) };
        open.truncate(place);
        let below = open.pop();
        self.encoder.write(&PollEndEvent { timestamp_ns: self.time(step.at), worker_id: worker })?;
        below.map_or(Ok(()), |below| self.begin(worker, step, &below))
    }

    /// Nothing runs on the worker any more.
    fn end_all(&mut self, worker: u64, at: Instant) -> io::Result<()> {
        let open = self.open.entry(worker).or_default();
        if std::mem::take(open).is_empty() {
            return Ok(());
        }
        self.encoder.write(&PollEndEvent { timestamp_ns: self.time(at), worker_id: worker })
    }
}

#[derive(TraceEvent)]
struct ClockSyncEvent {
    #[traceevent(timestamp)]
    timestamp_ns: u64,
    realtime_ns: u64,
}

#[derive(TraceEvent)]
struct SegmentMetadataEvent {
    #[traceevent(timestamp)]
    timestamp_ns: u64,
    entries: Vec<(String, String)>,
}

#[derive(TraceEvent)]
struct PollStartEvent {
    #[traceevent(timestamp)]
    timestamp_ns: u64,
    worker_id: u64,
    local_queue: u8,
    task_id: u64,
    spawn_loc: InternedString,
}

#[derive(TraceEvent)]
struct PollEndEvent {
    #[traceevent(timestamp)]
    timestamp_ns: u64,
    worker_id: u64,
}

#[derive(TraceEvent)]
struct WorkerParkEvent {
    #[traceevent(timestamp)]
    timestamp_ns: u64,
    worker_id: u64,
    local_queue: u8,
    cpu_time_ns: u64,
    tid: u32,
}

#[derive(TraceEvent)]
struct WorkerUnparkEvent {
    #[traceevent(timestamp)]
    timestamp_ns: u64,
    worker_id: u64,
    local_queue: u8,
    cpu_time_ns: u64,
    sched_wait_ns: Option<u64>,
    tid: u32,
}

#[derive(TraceEvent)]
struct TaskSpawnEvent {
    #[traceevent(timestamp)]
    timestamp_ns: u64,
    task_id: u64,
    spawn_loc: InternedString,
    instrumented: bool,
    worker_id: Option<u64>,
}

#[derive(TraceEvent)]
struct TaskTerminateEvent {
    #[traceevent(timestamp)]
    timestamp_ns: u64,
    task_id: u64,
}

#[derive(TraceEvent)]
struct WakeEventEvent {
    #[traceevent(timestamp)]
    timestamp_ns: u64,
    waker_task_id: u64,
    woken_task_id: u64,
    target_worker: u8,
}

#[derive(TraceEvent)]
struct WaitEvent {
    #[traceevent(timestamp)]
    timestamp_ns: u64,
    worker_id: u64,
    task_id: u64,
    wait: InternedString,
}

#[derive(TraceEvent)]
struct NotRecordedEvent {
    #[traceevent(timestamp)]
    timestamp_ns: u64,
    worker_id: u64,
}
