//! A backtrace as addresses, which are resolved when it is displayed.

use super::symbol;
use std::fmt;
use std::panic::Location;
use std::sync::LazyLock;

/// A backtrace: an address within each of a thread's calls, the innermost first. Names and lines are looked
/// up when it is displayed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Stack {
    calls: Vec<usize>,
    /// The number that the first call is displayed with.
    first: usize,
}

impl Stack {
    /// A backtrace of `calls`, numbered from `first` on.
    pub(crate) fn new(calls: Vec<usize>, first: usize) -> Self {
        Self { calls, first }
    }

    /// The calls of the program: without those of the runtime, the standard library and the compiler that lead to them or
    /// from them. All of them if the variable `RUST_BACKTRACE` is `full`, or if none is the program's.
    pub(crate) fn of_program(&self) -> impl fmt::Display {
        fmt::from_fn(move |f| {
            if is_full() || self.write(f, |call| call.is_of_program())? == 0 {
                self.write(f, |_| true)?;
            }
            Ok(())
        })
    }

    /// An address within each call.
    pub(crate) fn calls(&self) -> &[usize] {
        &self.calls
    }

    /// The calls by name, innermost first; those of the program only unless `all` are asked for, or none is the program's. A call that was
    /// inlined is one of its own. Looking names up takes some milliseconds the first time.
    pub fn frames(&self, all: bool) -> Vec<Frame> {
        let mut frames = Vec::new();
        self.each(|call| {
            if all || call.is_of_program() {
                frames.push(call.frame());
            }
        });
        if frames.is_empty() && !all { self.frames(true) } else { frames }
    }

    /// True if no call is known.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }
}

/// A call of a [`Stack`](crate::thread::Stack).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The function's name; its address if that is not known.
    pub function: String,
    /// The file of its source, if the debug information tells.
    pub file: Option<String>,
    /// The line in that file.
    pub line: Option<u32>,
}

impl Frame {
    /// A call of which only the name is known.
    #[must_use]
    pub fn named(function: String) -> Self {
        Self { function, file: None, line: None }
    }
}

/// A call, or one that was inlined into it.
struct Call<'a> {
    number: usize,
    address: usize,
    symbol: Option<&'a backtrace::Symbol>,
}

impl Call<'_> {
    fn frame(&self) -> Frame {
        let name = self.symbol.and_then(backtrace::Symbol::name);
        let file = self.symbol.and_then(backtrace::Symbol::filename);
        Frame {
            function: name.map_or_else(|| format!("{:#x}", self.address), |name| format!("{name:#}")),
            file: file.map(|file| file.display().to_string()),
            line: self.symbol.and_then(backtrace::Symbol::lineno),
        }
    }

    fn is_of_program(&self) -> bool {
        let Some(symbol) = self.symbol else { return false };
        // Names alone do not tell: a call that was inlined may have only its last part, and a method of `std` begins with the
        // type of the program that it is called on.
        let file = symbol.filename().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
        // Of the C library they are relative.
        if file.starts_with("/rustc/")
            || file.starts_with("./")
            || SOURCES.iter().any(|source| file.contains(source))
        {
            return false;
        }
        let Some(name) = symbol.name() else { return false };
        let name = name.to_string();
        let path = name.trim_start_matches(['<', '&']);
        !OTHERS.iter().any(|other| path.starts_with(other))
    }
}

/// True if all calls are to be shown.
pub(super) fn is_full() -> bool {
    std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value == "full")
}

/// True if that place is in the sources of this crate: a thread spawned there is the runtime's own.
pub(super) fn is_own(site: &Location<'_>) -> bool {
    site.file().contains(SOURCES[0])
}

/// Where the sources are that are not the program's: this crate's, as the compiler names them, and the switch's.
static SOURCES: LazyLock<[&str; 3]> = LazyLock::new(|| {
    let own = file!().strip_suffix("sched/inspect/stack_trace.rs").unwrap_or(file!());
    [own, "/swapstack/src/", "/swapstack-"]
});

/// How the names of functions begin that are not the program's.
const OTHERS: [&str; 8] =
    ["lamprey::", "lamprey_compat::", "swapstack::", "core::", "std::", "alloc::", "__rust", "rust_"];

impl fmt::Display for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, address, symbol } = self;
        match symbol.map(|symbol| (symbol.name(), symbol.filename(), symbol.lineno())) {
            Some((Some(name), Some(file), Some(line))) => {
                writeln!(f, "{number:>4}: {name:#}\n          at {}:{line}", file.display())
            }
            Some((Some(name), _, _)) => writeln!(f, "{number:>4}: {name:#}"),
            _ => writeln!(f, "{number:>4}: {address:#x}"),
        }
    }
}

impl Stack {
    /// Names each call, and those that are inlined into it.
    fn each(&self, mut f: impl FnMut(&Call<'_>)) {
        for (number, &address) in (self.first..).zip(&self.calls) {
            let mut is_named = false;
            symbol::resolve(address, |symbol| {
                is_named = true;
                f(&Call { number, address, symbol: Some(symbol) });
            });
            if !is_named {
                f(&Call { number, address, symbol: None });
            }
        }
    }

    /// Writes those calls that `is_shown`; returns how many these are.
    fn write(
        &self,
        f: &mut fmt::Formatter<'_>,
        is_shown: impl Fn(&Call<'_>) -> bool,
    ) -> Result<usize, fmt::Error> {
        let (mut shown, mut result) = (0, Ok(()));
        self.each(|call| {
            if result.is_ok() && is_shown(call) {
                shown += 1;
                result = write!(f, "{call}");
            }
        });
        result.map(|()| shown)
    }
}

impl fmt::Display for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, |_| true).map(|_| ())
    }
}
