//! Where a thread is in the program: the innermost call that is not the runtime's or the standard library's.

/// Most calls that are looked at.
const DEPTH: usize = 64;

/// Return addresses of the calls that the calling thread is in, the innermost first. What they mean is looked up later, as
/// that takes more stack than a host may have.
pub(crate) fn calls() -> Vec<usize> {
    let mut calls = Vec::new();
    #[cfg(not(loom))]
    backtrace::trace(|frame| {
        calls.push(frame.ip().addr());
        calls.len() < DEPTH
    });
    calls.truncate(DEPTH);
    calls
}

/// What the program has called, and where: ` in lamprey::.. at file:line`. Empty if that is not known.
#[cfg_attr(loom, expect(unused_variables, unused_mut, reason = "nothing is looked up there"))]
pub(super) fn text_of(calls: &[usize]) -> String {
    let mut text = String::new();
    #[cfg(not(loom))]
    {
        let mut called = String::new();
        for &address in calls {
            backtrace::resolve(std::ptr::without_provenance_mut(address), |symbol| {
                let (Some(name), true) = (symbol.name(), text.is_empty()) else { return };
                let name = format!("{name:#}");
                match symbol.filename() {
                    _ if is_own(&name, "lamprey::") => called = format!(" in {name}"),
                    // The innermost are those that look for the place.
                    _ if called.is_empty() => {}
                    _ if OTHERS.iter().any(|room| is_own(&name, room)) => {}
                    // Inlined calls may have names without paths.
                    Some(file) if FILES.iter().any(|part| file.to_string_lossy().contains(part)) => {}
                    _ => text = line_of(symbol).map(|line| format!("{called} at {line}")).unwrap_or_default(),
                }
            });
            if !text.is_empty() {
                break;
            }
        }
    }
    text
}

/// File and line, if the build has them; a file below the working directory by its path from there.
#[cfg(not(loom))]
pub(crate) fn line_of(symbol: &backtrace::Symbol) -> Option<String> {
    let (file, line) = (symbol.filename()?, symbol.lineno()?);
    let here = std::env::current_dir().unwrap_or_default();
    Some(format!("{}:{line}", file.strip_prefix(here).unwrap_or(file).display()))
}

/// Crates whose calls are not the program's.
#[cfg(not(loom))]
const OTHERS: [&str; 5] = ["core::", "std::", "alloc::", "swapstack::", "backtrace::"];

/// Parts of the paths of files that are not the program's.
#[cfg(not(loom))]
const FILES: [&str; 4] =
    [concat!(env!("CARGO_MANIFEST_DIR"), "/src/"), "/registry/src/", "/rustc/", "/swapstack/src/"];

/// True of functions of a crate, and of its implementations (`<a::B as C>::d`).
#[cfg(not(loom))]
fn is_own(name: &str, room: &str) -> bool {
    name.trim_start_matches(['<', '&']).trim_start_matches("mut ").starts_with(room)
}
