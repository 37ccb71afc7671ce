//! What every bench shares: how much to do, fresh processes, statistics, and the two forms of output.
//!
//! Every variant runs in a child process of its own (`worker`), driven over its stdin and stdout (`process`),
//! so that the threads, heap and caches of one runtime are not those of another, a variant that dies takes
//! nothing with it, and a Go program is driven exactly like a Rust one. The driver (`drive`) interleaves the
//! runs of the variants.

pub mod drive;
pub mod load;
pub mod machine;
pub mod process;
pub mod programs;
pub mod record;
pub mod stats;
pub mod table;
pub mod targets;
pub mod usage;
pub mod warm;
pub mod worker;

use std::time::Duration;

/// How much work a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// The sizes that results are quoted for.
    Full,
    /// A look in seconds: fewer and shorter runs.
    Quick,
    /// Just enough to see that a bench still works. Its numbers mean nothing.
    Tiny,
}

/// How a bench is sized.
#[derive(Clone, Copy, Debug)]
pub enum Size {
    /// Operations are doubled from `first` until a run takes about `goal` (a fifth of it when quick).
    UntilTakes {
        /// Operations in the first warm-up run; of them at most some thousands in the only run when tiny.
        first: u64,
        /// How long one run takes.
        goal: Duration,
    },
    /// A number that is part of what is measured. Each run gets a fresh process: nothing is warm.
    Exactly {
        /// Size for each effort.
        full: u64,
        /// As above.
        quick: u64,
        /// As above.
        tiny: u64,
    },
}

/// One number that a run has measured. Smaller is better, for every metric of every bench.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// What was measured, such as `hop`.
    pub metric: String,
    /// In what, such as `ns`.
    pub unit: String,
    /// How much of it, per operation.
    pub value: f64,
}

impl Sample {
    /// A sample of `value` `unit`s.
    pub fn new(metric: &str, unit: &str, value: f64) -> Self {
        Self { metric: metric.into(), unit: unit.into(), value }
    }

    /// The nanoseconds that each of `operations` took.
    pub fn ns_each(metric: &str, elapsed: Duration, operations: u64) -> Self {
        Self::new(metric, "ns", elapsed.as_nanos() as f64 / operations as f64)
    }
}

/// Does one run of the given size.
pub type Runner = Box<dyn FnMut(u64) -> anyhow::Result<Vec<Sample>>>;

/// Sets up what the runs share (a runtime, a server) for a number of workers.
pub type Prepare = fn(workers: usize) -> anyhow::Result<Runner>;

/// The program that stands in a bench under a name.
#[derive(Clone, Copy)]
pub struct Variant {
    /// Such as `lamprey` or `tokio`.
    pub name: &'static str,
    /// Only run with `--rivals`.
    pub rival: bool,
    /// Where its code is.
    pub code: Code,
}

/// Where the code of a variant is.
#[derive(Clone, Copy)]
pub enum Code {
    /// In this program.
    Here(Prepare),
    /// In this program, around another that must be on PATH.
    Around(&'static str, Prepare),
    /// In `go/`, built when the Go tool is on PATH.
    Go,
    /// In `boost/`, built when g++ is on PATH and finds Boost.Fiber.
    Boost,
}

impl Variant {
    /// A variant of Lamprey itself.
    pub const fn ours(name: &'static str, prepare: Prepare) -> Self {
        Self { name, rival: false, code: Code::Here(prepare) }
    }

    /// A rival.
    pub const fn rival(name: &'static str, prepare: Prepare) -> Self {
        Self { name, rival: true, code: Code::Here(prepare) }
    }

    /// The Go program of the same bench name.
    pub const fn go() -> Self {
        Self { name: "go", rival: true, code: Code::Go }
    }

    /// The program of the same bench name on Boost.Fiber.
    pub const fn boost() -> Self {
        Self { name: "boost", rival: true, code: Code::Boost }
    }
}

/// One bench: what is done, how much of it, and by whom.
pub struct Bench {
    /// Its name on the command line.
    pub name: &'static str,
    /// The loop that is measured, in a sentence or two.
    pub about: &'static str,
    /// Each number of workers it is run with.
    pub workers: &'static [usize],
    /// How much of it.
    pub size: Size,
    /// Runs at full effort.
    pub runs: usize,
    /// Lamprey first.
    pub variants: &'static [Variant],
}
