//! The blocking call that a thread waits in, found in its stack: a call of the standard library, of the C library, or of another
//! library that blocks kernel threads; and what Lamprey has in its place.

use crate::sched::inspect::symbol::{self, Origin, plain};
use std::path::{Path, PathBuf};
use table::row_of;

mod table;

/// A blocking call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BlockingCall {
    /// Its name.
    pub(super) name: String,
    /// Where the program makes it, if the build says so.
    pub(super) place: Option<String>,
    pub(super) instead: &'static str,
    /// It waits for what another thread does, which may be one of the same worker.
    pub(super) is_lock: bool,
}

impl BlockingCall {
    /// True of a call that may take long without sleeping, such as reading a file that is in memory.
    pub(super) fn may_compute(&self) -> bool {
        self.name.starts_with("std::") && !self.is_lock
    }
}

/// A call of a stack.
struct Frame {
    name: String,
    /// The name as it is in a build that has lines only: without a module, or the type of a method.
    bare: Option<String>,
    file: Option<PathBuf>,
    line: Option<u32>,
}

/// What a thread waits in, as far as its stack shows it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Found {
    #[default]
    Nothing,
    Call(BlockingCall),
    /// A call of this crate, which makes blocking calls on purpose.
    Own,
}

/// The blocking call in a stack, innermost call first.
pub(super) fn find(stack: &[usize]) -> Found {
    let mut search = Search::default();
    for &address in stack {
        symbol::resolve(address, |found| {
            let file = found.filename().map(Path::to_owned);
            let name = found.name().map(|name| format!("{name:#}")).unwrap_or_default();
            search.pass(&Frame::new(name, file, found.lineno()));
        });
        if search.is_over {
            break;
        }
    }
    search.found
}

impl Frame {
    fn new(given: String, file: Option<PathBuf>, line: Option<u32>) -> Self {
        let name = symbol::with_module(given.clone(), file.as_deref());
        let bare = (name != given).then_some(given);
        Self { name, bare, file, line }
    }

    fn is_of_std(&self) -> bool {
        self.file.as_ref().is_some_and(|file| file.starts_with("/rustc"))
    }

    /// C has no paths, and no files of this kind.
    fn is_of_rust(&self) -> bool {
        self.name.contains("::")
            || self.file.as_ref().is_some_and(|file| file.extension().is_some_and(|end| end == "rs"))
    }

    /// File and line, if the build has them; a file below the working directory by its path from there.
    fn place(&self) -> Option<String> {
        let (file, line) = (self.file.as_ref()?, self.line?);
        let here = std::env::current_dir().unwrap_or_default();
        Some(format!("{}:{line}", file.strip_prefix(here).unwrap_or(file).display()))
    }
}

/// A search from the innermost call to the program's own.
#[derive(Default)]
struct Search {
    found: Found,
    is_over: bool,
}

impl Search {
    fn pass(&mut self, frame: &Frame) {
        if self.is_over {
            return;
        }
        let path = plain(&frame.name);
        if let Some(row) = row_of(&path) {
            let name = row.shown(&path, frame.bare.as_deref());
            self.found =
                Found::Call(BlockingCall { name, place: None, instead: row.instead, is_lock: row.is_lock });
            return;
        }
        match symbol::origin(&frame.name) {
            Origin::Lamprey if is_own_call(&path) => (self.found, self.is_over) = (Found::Own, true),
            // The base of the stack: what the program calls has been inlined into it.
            Origin::Lamprey => self.is_over = true,
            Origin::Program if frame.is_of_rust() && !frame.is_of_std() => {
                if let Found::Call(found) = &mut self.found {
                    found.place = frame.place();
                }
                self.is_over = true;
            }
            Origin::Std | Origin::Program => {}
        }
    }
}

/// False of what runs the program's code at the base of its stack.
fn is_own_call(path: &str) -> bool {
    const BASES: [&str; 4] =
        ["lamprey::thread::", "lamprey::sched::", "lamprey::runtime::", "lamprey::parasite::"];
    !BASES.iter().any(|base| path.starts_with(base))
}

#[cfg(test)]
mod tests;
