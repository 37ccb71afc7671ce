//! What `#[lamprey::test]` expands to: a body that runs in a runtime, or in simulations, within a limit of time.
//!
//! # Invariants
//! 1. A test that is over its limit never passes: it panics, or, where that would not do (the test expects a panic, or has
//!    threads that cannot be ended), the process ends.

use super::builder::RuntimeBuilder;
use super::stuck::Stuck;
use super::{Runtime, duration};
use crate::sim::{Explore, SimBuilder};
use crate::thread::{Builder, JoinError, JoinHandle, Panics, stack_size};
use std::ffi::OsStr;
use std::panic::Location;
use std::process::{ExitCode, Termination};
use std::sync::mpsc;
use std::time::Duration;

/// The environment variable that replaces the limit of each test.
const VARIABLE: &str = "LAMPREY_TEST_TIMEOUT";
/// How long the threads of a test that is over its limit have to end.
const PATIENCE: Duration = Duration::from_secs(5);
/// The status of a process that has to end, which is also that of a test program with failures.
const FAILED: i32 = 101;

/// A test, as its attribute describes it.
pub struct Test {
    /// Its path.
    pub name: &'static str,
    /// How long it may take.
    pub limit: Duration,
    /// It passes by a panic.
    pub should_panic: bool,
}

/// How much real time the simulations of a test take that does not say how many there are.
const TIME: Duration = Duration::from_secs(1);

/// The simulations of a test.
pub struct Simulations {
    /// This one only.
    pub seed: Option<u64>,
    /// As many, by the seeds from 0 on. `None`: as many as fit into `TIME`.
    pub runs: Option<u64>,
    /// The settings of each.
    pub set: fn(SimBuilder) -> SimBuilder,
}

/// The settings of a test's runtime, where its attribute does not say otherwise: two workers, for tests run beside each
/// other; a panic of any thread fails the test.
pub fn builder() -> RuntimeBuilder {
    Runtime::builder().workers(2).panics(Panics::Propagate)
}

/// The limit, from the attribute.
pub const fn limit(text: &str) -> Duration {
    match duration::parse(text) {
        Some(limit) => limit,
        None => {
            panic!("`timeout` must be a number of seconds, or a text such as \"500ms\", \"5s\" or \"2m\"")
        }
    }
}

impl Test {
    /// Runs the test as the first host of a runtime.
    #[track_caller]
    pub fn run<T: Termination>(
        self,
        builder: RuntimeBuilder,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> ExitCode {
        let limit = self.limit();
        let runtime = builder.build().unwrap_or_else(|error| panic!("`{}` cannot start: {error}", self.name));
        let short = self.name.rsplit("::").next().unwrap_or(self.name);
        let main = Builder::new().name(short);
        let main = main.stack_size(stack_size::of_main(runtime.shared.stack_size) as usize);
        let mut host = main
            .spawn_in(&runtime.handle(), move || body().report())
            .unwrap_or_else(|error| panic!("`{}` cannot start: {error}", self.name));
        match join_within(&mut host, limit) {
            Some(ended) => runtime.settle_at_end(ended),
            None => self.end_late(runtime, limit),
        }
    }

    #[track_caller]
    fn end_late(self, runtime: Runtime, limit: Duration) -> ! {
        let stuck = Stuck::of(&runtime.shared);
        let text = format!("the test `{}` is not over after {limit:?}; {stuck}", self.name);
        if self.should_panic {
            end_process(&format!(
                "{text}\nThe test is to panic, and must not pass by a panic because of that"
            ));
        }
        match runtime.shutdown(PATIENCE).len() {
            0 => panic!("{text}"),
            left => end_process(&format!("{text}\n{left} of its threads cannot be ended")),
        }
    }

    /// Runs the test in simulations, on a kernel thread of their own.
    #[track_caller]
    pub fn simulate<T: Termination>(
        self,
        simulations: Simulations,
        body: impl Fn() -> T + Send + Sync + 'static,
    ) -> ExitCode {
        let (limit, site) = (self.limit(), Location::caller());
        let (over, is_over) = mpsc::channel::<()>();
        let name = std::thread::current().name().unwrap_or(self.name).to_owned();
        let thread = std::thread::Builder::new().name(name).spawn(move || {
            let _over = over; // dropped at the end
            simulations.run(site, move || body().report())
        });
        let thread = thread.unwrap_or_else(|error| panic!("`{}` cannot start: {error}", self.name));
        if is_over.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
            end_process(&format!(
                "the test `{}` is not over after {limit:?} of real time. It runs in simulations: fewer `runs` take less, \
                 and one that never ends, at no step, can be had alone with LAMPREY_SEED",
                self.name
            ));
        }
        thread.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload))
    }

    /// The limit: the environment's, or that of the attribute.
    fn limit(&self) -> Duration {
        match std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) {
            None => self.limit,
            Some(text) if text == OsStr::new("off") => Duration::MAX,
            Some(text) => text.to_str().and_then(duration::parse).unwrap_or_else(|| {
                panic!("{VARIABLE} is {text:?}: it must be a time such as 90s or 5m, or `off`")
            }),
        }
    }
}

impl Simulations {
    fn run(self, site: &'static Location<'static>, body: impl Fn() -> ExitCode + Send + Sync) -> ExitCode {
        let body = || {
            // The error has been printed.
            assert!(body() == ExitCode::SUCCESS, "the test has returned an error");
        };
        match self.seed {
            Some(seed) => (self.set)(Runtime::simulated(seed)).run_from(site, body),
            None => {
                let explore = self.runs.map_or_else(|| Explore::fitting(TIME), Explore::new);
                explore.run(|sim| (self.set)(sim).run_from(site, body));
            }
        }
        ExitCode::SUCCESS
    }
}

fn join_within<T>(host: &mut JoinHandle<T>, limit: Duration) -> Option<Result<T, JoinError>> {
    host.join_timeout(limit).ok()
}

/// Ends the process. What is printed is not kept by the test program, as the output of its tests is.
fn end_process(text: &str) -> ! {
    crate::io::stdio::flush_at_end();
    crate::bug::say!("{text}, so the process ends here");
    std::process::exit(FAILED)
}
