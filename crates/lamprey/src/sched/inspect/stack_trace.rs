//! A backtrace as addresses, which are resolved when it is displayed.

use std::fmt;

/// A backtrace: an address within each of a thread's calls, the innermost first. Names and lines are looked
/// up when it is displayed.
#[derive(Debug, Clone, Default)]
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

    /// True if no call is known.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }
}

impl fmt::Display for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut result = Ok(());
        for (n, &address) in (self.first..).zip(&self.calls) {
            let mut is_named = false;
            // `resolve` takes a return address and looks just before it.
            let after = std::ptr::without_provenance_mut(address.wrapping_add(1));
            backtrace::resolve(after, |symbol| {
                if result.is_err() {
                    return;
                }
                is_named = true;
                result = match (symbol.name(), symbol.filename(), symbol.lineno()) {
                    (Some(name), Some(file), Some(line)) => {
                        writeln!(f, "{n:>4}: {name:#}\n          at {}:{line}", file.display())
                    }
                    (Some(name), _, _) => writeln!(f, "{n:>4}: {name:#}"),
                    _ => writeln!(f, "{n:>4}: {address:#x}"),
                };
            });
            if !is_named {
                writeln!(f, "{n:>4}: {address:#x}")?;
            }
        }
        result
    }
}
