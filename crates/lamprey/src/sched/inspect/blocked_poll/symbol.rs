//! Names of functions, as a backtrace has them.

use std::fmt;
use std::path::Path;

/// Whose code a function is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Lamprey,
    Std,
    Program,
}

/// Whose code the function of this name is: by the crate that its path, or the type that it is a method of, begins with.
pub(super) fn origin(name: &str) -> Origin {
    let path = name.trim_start_matches(['<', '&']).trim_start_matches("mut ").trim_start_matches("dyn ");
    match path.split("::").next() {
        Some("lamprey") => Origin::Lamprey,
        Some("std" | "core" | "alloc" | "__rust_try") => Origin::Std,
        _ => Origin::Program,
    }
}

/// The name with a path in front of it, if it has none: debug information with lines only (`debug = "line-tables-only"`) has
/// bare names, with or without generic arguments. A file of this crate is then known by its folder, and stands for its module.
pub(super) fn with_module(name: String, file: Option<&Path>) -> String {
    let is_bare = !name.starts_with('<') && !name[..name.find('<').unwrap_or(name.len())].contains("::");
    let Some(file) = file.filter(|_| is_bare) else { return name };
    let own = file.strip_prefix(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).ok().and_then(Path::file_stem);
    match own {
        Some(module) => format!("lamprey::{}::{name}", module.display()),
        None if file.starts_with("/rustc") => format!("std::{name}"),
        None => name,
    }
}

/// A call by its short name, such as `sleep` or `Receiver::recv`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Call<'a> {
    /// The type, if it is a method.
    pub(super) of: Option<&'a str>,
    /// The module, or the type.
    pub(super) within: &'a str,
    pub(super) name: &'a str,
}

/// The call of a function with this name: `lamprey::sleep::sleep`, `lamprey::sync::mutex::Mutex<T>::lock`, or
/// `<lamprey::net::tcp::TcpStream as std::io::Read>::read`.
pub(super) fn call(name: &str) -> Call<'_> {
    let (path, method) = match split_last(name) {
        Some((path, method)) => (path, method),
        None => return Call { name, ..Call::default() },
    };
    // Of an implementation the type, without the trait.
    let path = match path.strip_prefix('<').and_then(|path| path.strip_suffix('>')) {
        Some(path) => path.split(" as ").next().unwrap_or(path),
        None => path,
    };
    let path = path.trim_start_matches(['&', '<']).trim_start_matches("mut ");
    let path = path.find('<').map_or(path, |at| &path[..at]).trim_end_matches(':');
    let within = path.rsplit("::").next().unwrap_or(path);
    let of = Some(within).filter(|of| of.starts_with(|first: char| first.is_ascii_uppercase()));
    Call { of, within, name: method.find('<').map_or(method, |at| &method[..at]).trim_end_matches(':') }
}

/// Splits at the last `::` that is not within angle brackets.
fn split_last(name: &str) -> Option<(&str, &str)> {
    let name = name.strip_suffix('>').filter(|_| name.contains("::<")).map_or(name, |_| {
        // Generic arguments of the function itself.
        let at = matching_open(name).unwrap_or(name.len());
        name[..at].trim_end_matches("::")
    });
    let mut depth = 0;
    let bytes = name.as_bytes();
    for at in (1..bytes.len()).rev() {
        match bytes[at] {
            b'>' if bytes[at - 1] != b'-' => depth += 1,
            b'<' => depth -= 1,
            b':' if depth == 0 && bytes[at - 1] == b':' => return Some((&name[..at - 1], &name[at + 1..])),
            _ => {}
        }
    }
    None
}

/// Where the bracket opens that the name's last character closes.
fn matching_open(name: &str) -> Option<usize> {
    let mut depth = 0;
    let bytes = name.as_bytes();
    for at in (0..bytes.len()).rev() {
        match bytes[at] {
            b'>' if at == 0 || bytes[at - 1] != b'-' => depth += 1,
            b'<' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

impl fmt::Display for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.of, self.name) {
            (_, "") => f.write_str("a blocking call"),
            (Some(of), name) => write!(f, "{of}::{name}"),
            (None, name) => write!(f, "{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_says_whose_code_it_is_and_which_call() {
        for (name, origin_of, text) in [
            ("lamprey::sleep::sleep", Origin::Lamprey, "sleep"),
            ("lamprey::channel::rendezvous::ends::Receiver<T>::recv", Origin::Lamprey, "Receiver::recv"),
            ("<lamprey::channel::rendezvous::ends::Receiver<u8>>::recv", Origin::Lamprey, "Receiver::recv"),
            ("<lamprey::net::tcp::TcpStream as std::io::Read>::read", Origin::Lamprey, "TcpStream::read"),
            ("<&lamprey::net::tcp::TcpStream as std::io::Read>::read", Origin::Lamprey, "TcpStream::read"),
            ("lamprey::driver::pool::calls::block::<(), app::main::{closure#0}>", Origin::Lamprey, "block"),
            ("lamprey::events::algebra::Event::sync", Origin::Lamprey, "Event::sync"),
            (
                "<lamprey::events::algebra::wrap::Wrap<E, F> as lamprey::events::algebra::Event>::sync",
                Origin::Lamprey,
                "Wrap::sync",
            ),
            (
                "<lamprey::channel::iter::Iter<T> as core::iter::traits::iterator::Iterator>::next",
                Origin::Lamprey,
                "Iter::next",
            ),
            ("std::io::Read::read_exact", Origin::Std, "Read::read_exact"),
            ("<&mut I as core::iter::traits::iterator::Iterator>::next", Origin::Program, "I::next"),
            ("app::main::{{closure}}", Origin::Program, "{{closure}}"),
            ("<app::Own as lamprey::events::algebra::Event>::sync", Origin::Program, "Own::sync"),
            ("main", Origin::Program, "main"),
        ] {
            assert_eq!(origin(name), origin_of, "{name}");
            assert_eq!(call(name).to_string(), text, "{name}");
        }
    }
}
