//! The parts that all benches share: the amount of work, child processes, statistics, and the two forms of
//! output.
//!
//! Every variant runs in a child process of its own (`worker`), driven over its stdin and stdout (`process`).
//! So the runtimes do not share threads, heap and caches, a variant that crashes ends only itself, and a Go
//! program is driven exactly like a Rust one. The driver (`drive`) interleaves the runs of the variants.

pub mod cores;
pub mod descriptors;
pub mod drive;
pub mod machine;
pub mod order;
pub mod process;
pub mod programs;
pub mod record;
pub mod report;
pub mod stats;
pub mod table;
pub mod targets;
pub mod usage;
pub mod warm;
pub mod worker;

use std::time::Duration;

/// The amount of work of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// The sizes of published results.
    Full,
    /// Seconds: fewer and shorter runs.
    Quick,
    /// Just enough to check that a bench works. Its numbers mean nothing.
    Tiny,
}

/// The size of a bench.
#[derive(Clone, Copy, Debug)]
pub enum Size {
    /// Operations are doubled from `first` until a run takes about `goal` (a fifth of that with
    /// [`Effort::Quick`]).
    UntilTakes {
        /// Operations in the first warm-up run; of them at most some thousands in the only run when tiny.
        first: u64,
        /// The time of one run.
        goal: Duration,
    },
    /// A number that is part of what is measured. Each run has a new process: nothing is warm.
    Exactly {
        /// The size at full effort.
        full: u64,
        /// The size at quick effort.
        quick: u64,
        /// The size at tiny effort.
        tiny: u64,
    },
    /// As `Exactly`, but the process is kept between the runs, after a first one that does not count. For a server, the seconds of
    /// a load.
    Kept {
        /// The size at full effort.
        full: u64,
        /// The size at quick effort.
        quick: u64,
        /// The size at tiny effort.
        tiny: u64,
    },
}

impl Size {
    /// The size of a run, if it is a given one.
    fn given(self, effort: Effort) -> Option<u64> {
        let (Self::Exactly { full, quick, tiny } | Self::Kept { full, quick, tiny }) = self else {
            return None;
        };
        Some(match effort {
            Effort::Full => full,
            Effort::Quick => quick,
            Effort::Tiny => tiny,
        })
    }
}

/// One number that a run has measured. Smaller is better, for every metric of every bench.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The metric, such as `hop`.
    pub metric: String,
    /// The unit, such as `ns`.
    pub unit: String,
    /// The value per operation.
    pub value: f64,
}

impl Sample {
    /// A sample of `value` `unit`s.
    pub fn new(metric: &str, unit: &str, value: f64) -> Self {
        Self { metric: metric.into(), unit: unit.into(), value }
    }

    /// The nanoseconds per operation.
    pub fn ns_each(metric: &str, elapsed: Duration, operations: u64) -> Self {
        Self::new(metric, "ns", elapsed.as_nanos() as f64 / operations as f64)
    }
}

/// Does one run of the given size.
pub type Runner = Box<dyn FnMut(u64) -> anyhow::Result<Vec<Sample>>>;

/// Prepares what the runs share (a runtime, a server) for a number of workers.
pub type Prepare = fn(workers: usize) -> anyhow::Result<Runner>;

/// A program in a bench.
#[derive(Clone, Copy)]
pub struct Variant {
    /// Its name, such as `lamprey` or `tokio`.
    pub name: &'static str,
    /// Only run with `--rivals`.
    pub rival: bool,
    /// Its code.
    pub code: Code,
    /// Lamprey's I/O back-end, which its process is told in `LAMPREY_IO`; `None` leaves the choice to Lamprey.
    pub io: Option<&'static str>,
}

/// The place of a variant's code.
#[derive(Clone, Copy)]
pub enum Code {
    /// In this program.
    Here(Prepare),
    /// In this program, with another program that must be on PATH.
    Around(&'static str, Prepare),
    /// In `go/`, built when the Go tool is on PATH.
    Go,
    /// In `boost/`, built when g++ is on PATH and finds Boost.Fiber.
    Boost,
    /// In `ghc/`, built when GHC is on PATH.
    Ghc,
    /// In `simulators/`, built by cargo, for minutes: a tiny run takes it only if that has been done.
    Simulators,
}

impl Variant {
    /// A variant of Lamprey itself.
    pub const fn ours(name: &'static str, prepare: Prepare) -> Self {
        Self { name, rival: false, code: Code::Here(prepare), io: None }
    }

    /// A variant of Lamprey that needs `program` on PATH.
    pub const fn ours_around(name: &'static str, program: &'static str, prepare: Prepare) -> Self {
        Self { name, rival: false, code: Code::Around(program, prepare), io: None }
    }

    /// The same with an I/O back-end, of which Lamprey has several: a variant for each is a line.
    pub const fn io(self, io: &'static str) -> Self {
        Self { io: Some(io), ..self }
    }

    /// A rival.
    pub const fn rival(name: &'static str, prepare: Prepare) -> Self {
        Self { name, rival: true, code: Code::Here(prepare), io: None }
    }

    /// A rival that needs `program` on PATH.
    pub const fn rival_around(name: &'static str, program: &'static str, prepare: Prepare) -> Self {
        Self { name, rival: true, code: Code::Around(program, prepare), io: None }
    }

    /// The Go program of the same bench name.
    pub const fn go() -> Self {
        Self { name: "go", rival: true, code: Code::Go, io: None }
    }

    /// The Haskell program of the same bench name.
    pub const fn ghc() -> Self {
        Self { name: "ghc", rival: true, code: Code::Ghc, io: None }
    }

    /// A rival of Lamprey's simulator.
    pub const fn simulator(name: &'static str) -> Self {
        Self { name, rival: true, code: Code::Simulators, io: None }
    }

    /// The program of the same bench name on Boost.Fiber.
    pub const fn boost() -> Self {
        Self { name: "boost", rival: true, code: Code::Boost, io: None }
    }
}

/// One bench: the operation, its size, and its variants.
pub struct Bench {
    /// Its name on the command line.
    pub name: &'static str,
    /// A description of the measured loop, in a sentence or two.
    pub about: &'static str,
    /// The numbers of workers with which it runs.
    pub workers: &'static [usize],
    /// The size of a run.
    pub size: Size,
    /// The number of runs at full effort.
    pub runs: usize,
    /// The variants, Lamprey's first.
    pub variants: &'static [Variant],
}
