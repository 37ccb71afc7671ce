//! The tests of async crates, run on Lamprey.
//!
//! Crates on crates.io have their tests with them. `build.rs` copies them out of the packages that Cargo has unpacked, and makes
//! each test a `#[lamprey::test]`: it runs on a host of a runtime with two workers. What the tests wait with is replaced by crates of
//! the same names, in `shims/`: there `block_on` is `lamprey::wait`, and threads are hosts ([`thread`]). No code of others is kept in
//! this repository.
//!
//! `cargo run -p suites` runs all of them and says how many tests each suite has.

/// The suites: the name of the test target, the package, and its files. Those that are not here need what Lamprey is not: an
/// executor of their own, a paused clock, a nightly compiler (see `docs/rationale.md`).
pub const SUITES: &[(&str, &str, &[&str])] = include!("list.rs");

/// Tests that are left out: the suite, the file and the function, and why.
pub const LEFT_OUT: &[(&str, &str, &str)] = include!("left_out.rs");

/// Why some of them are.
const OF_TOKIO: &str = "tokio forbids a call that blocks to its own tasks only";
const BUDGET: &str = "tokio counts the operations of its own tasks only";

/// `std::thread` for tests, but hosts.
pub mod thread {
    pub use lamprey::{sleep, yield_now, JoinHandle};

    /// A host with a stack as large as a thread's.
    ///
    /// # Panics
    /// If there is no memory for it.
    pub fn spawn<T: Send + 'static>(closure: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
        lamprey::Builder::new().stack_size(2 << 20).spawn(closure).expect("memory for a host")
    }
}

/// `std::sync::mpsc` for tests, but for hosts.
pub mod mpsc {
    pub use lamprey::{unbounded as channel, TryRecvError};
}

pub use lamprey::{sync::Barrier, wait};

/// What `#[lamprey::test(crate = ::suites)]` expands to.
#[doc(hidden)]
pub mod __start {
    pub use lamprey::__start::{builder, limit};

    use std::process::{ExitCode, Termination};
    use std::sync::LazyLock;
    use std::time::Duration;

    /// For tests that spawn tasks of tokio.
    static TOKIO: LazyLock<tokio::runtime::Runtime> = LazyLock::new(|| {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("tokio starts")
    });

    /// One test.
    #[derive(Debug)]
    pub struct Test {
        /// Its path.
        pub name: &'static str,
        /// How long it may take.
        pub limit: Duration,
        /// It passes by a panic.
        pub should_panic: bool,
    }

    impl Test {
        /// Runs it, on a kernel thread that is in tokio's context for good: no other one ever is, so nothing is left in a wrong
        /// order.
        #[track_caller]
        pub fn run<T: Termination>(
            self,
            builder: lamprey::RuntimeBuilder,
            body: impl FnOnce() -> T + Send + 'static,
        ) -> ExitCode {
            let Self { name, limit, should_panic } = self;
            lamprey::__start::Test { name, limit, should_panic }.run(builder, || {
                std::mem::forget(TOKIO.enter());
                body()
            })
        }
    }
}
