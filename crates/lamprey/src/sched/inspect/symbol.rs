//! Names of functions, as a backtrace has them.

mod lookup;

pub(in crate::sched) use lookup::look_up;

use std::path::Path;

/// Calls `f` for the function of a call, given an address within that, and for those that are inlined there, innermost first.
pub(in crate::sched) fn resolve(address: usize, f: impl FnMut(&backtrace::Symbol)) {
    // The library takes a return address and looks just before it.
    look_up(address.wrapping_add(1), f);
}

/// Whose code a function is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sched) enum Origin {
    Lamprey,
    Std,
    Program,
}

/// Whose code the function of this name is: by the crate that its path, or the type that it is a method of, begins with.
pub(in crate::sched) fn origin(name: &str) -> Origin {
    let path = name.trim_start_matches(['<', '&']).trim_start_matches("mut ").trim_start_matches("dyn ");
    match path.split("::").next() {
        Some("lamprey") => Origin::Lamprey,
        Some("std" | "core" | "alloc" | "__rust_try") => Origin::Std,
        _ => Origin::Program,
    }
}

/// The name with a path in front of it, if it has none: debug information with lines only (`debug = "line-tables-only"`) has
/// bare names, with or without generic arguments. A file of this crate, or of the standard library, then stands for its module.
pub(in crate::sched) fn with_module(name: String, file: Option<&Path>) -> String {
    let is_bare = !name.starts_with('<') && !name[..name.find('<').unwrap_or(name.len())].contains("::");
    let Some(file) = file.filter(|_| is_bare) else { return name };
    let own = file.strip_prefix(concat!(env!("CARGO_MANIFEST_DIR"), "/src/")).ok().and_then(Path::to_str);
    let module = own.map(|path| module("lamprey::", path)).or_else(|| module_of_std(file));
    module.map_or(name.clone(), |module| format!("{module}::{name}"))
}

/// The module whose code is in this file, if it is one of the standard library.
fn module_of_std(file: &Path) -> Option<String> {
    let path = file.to_str()?.strip_prefix("/rustc/")?.split_once("/library/")?.1;
    Some(module("", &path.replacen("/src/", "/", 1)))
}

/// The module of the file at `path`.
fn module(of: &str, path: &str) -> String {
    let path = path.strip_suffix(".rs").unwrap_or(path).replace('/', "::");
    format!("{of}{}", path.strip_suffix("::mod").unwrap_or(&path))
}

/// The path of a function without generic arguments; of a method of an implementation the type's path and the method's name:
/// `std::fs::File::read` for `<&std::fs::File as std::io::Read>::read`. Functions within functions count as those.
pub(in crate::sched) fn plain(name: &str) -> String {
    let mut path = match name.strip_prefix('<') {
        Some(_) => {
            let Some(close) = matching_close(name) else { return String::new() };
            format!("{}{}", plain(before_as(&name[1..close])), &name[close + 1..])
        }
        None => name.trim_start_matches('&').trim_start_matches("mut ").trim_start_matches("dyn ").to_owned(),
    };
    let (mut depth, mut last) = (0_usize, ' ');
    path.retain(|char| {
        depth += usize::from(char == '<');
        let is_outside = depth == 0;
        depth = depth.saturating_sub(usize::from(char == '>' && last != '-'));
        last = char;
        is_outside
    });
    let parts =
        path.split("::").filter(|part| !part.is_empty() && *part != "inner" && !part.starts_with('{'));
    parts.collect::<Vec<_>>().join("::")
}

/// Where the bracket closes that the name begins with.
fn matching_close(name: &str) -> Option<usize> {
    let (mut depth, mut last) = (0, ' ');
    for (at, char) in name.char_indices() {
        match char {
            '<' => depth += 1,
            '>' if last != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
        last = char;
    }
    None
}

/// The type of an implementation, without the trait.
fn before_as(of: &str) -> &str {
    let mut depth = 0;
    for (at, char) in of.char_indices() {
        match char {
            '<' => depth += 1,
            '>' => depth -= 1,
            ' ' if depth == 0 && of[at..].starts_with(" as ") => return &of[..at],
            _ => {}
        }
    }
    of
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_path_has_no_types_and_no_traits() {
        for (name, plain_of) in [
            ("std::thread::sleep", "std::thread::sleep"),
            ("<std::sync::barrier::Barrier>::wait", "std::sync::barrier::Barrier::wait"),
            ("std::sync::mpsc::Receiver<T>::recv", "std::sync::mpsc::Receiver::recv"),
            ("<std::sync::mpsc::Receiver<alloc::vec::Vec<u8>>>::recv", "std::sync::mpsc::Receiver::recv"),
            ("<&std::fs::File as std::io::Read>::read", "std::fs::File::read"),
            ("<std::io::Lines<std::io::StdinLock as X> as core::Iterator>::next", "std::io::Lines::next"),
            ("std::fs::read_to_string::<&str>", "std::fs::read_to_string"),
            ("std::fs::read_to_string::inner", "std::fs::read_to_string"),
            (
                "std::sync::once::Once::call_once::<app::main::{closure#0}>::{closure#0}",
                "std::sync::once::Once::call_once",
            ),
            ("core::ops::FnOnce<fn() -> u8>::call_once", "core::ops::FnOnce::call_once"),
            ("<<a::B<C>>::d::E as F>::g", "a::B::d::E::g"),
            ("__read", "__read"),
            ("<", ""),
            ("", ""),
        ] {
            assert_eq!(plain(name), plain_of, "{name}");
        }
    }

    #[test]
    fn a_bare_name_gets_the_module_of_its_file() {
        let of = |name: &str, file: &str| with_module(name.to_owned(), Some(Path::new(file)));
        let futex = "/rustc/59807616/library/std/src/sys/sync/mutex/futex.rs";
        assert_eq!(of("lock_contended", futex), "std::sys::sync::mutex::futex::lock_contended");
        assert_eq!(of("lock<u8>", "/rustc/59807616/library/std/src/fs/mod.rs"), "std::fs::lock<u8>");
        assert_eq!(of("own", "src/main.rs"), "own");
        let own = concat!(env!("CARGO_MANIFEST_DIR"), "/src/sync/mutex.rs");
        assert_eq!(of("lock<u8>", own), "lamprey::sync::mutex::lock<u8>");
        assert_eq!(of("app::own", futex), "app::own");
    }

    #[test]
    fn a_symbol_says_whose_code_it_is() {
        for (name, of) in [
            ("lamprey::sleep::sleep", Origin::Lamprey),
            ("<lamprey::channel::rendezvous::ends::Receiver<u8>>::recv", Origin::Lamprey),
            ("<&lamprey::net::tcp::TcpStream as std::io::Read>::read", Origin::Lamprey),
            ("std::io::Read::read_exact", Origin::Std),
            ("<&mut I as core::iter::traits::iterator::Iterator>::next", Origin::Program),
            ("<app::Own as lamprey::events::algebra::Event>::sync", Origin::Program),
            ("main", Origin::Program),
        ] {
            assert_eq!(origin(name), of, "{name}");
        }
    }
}
