//! A blocking call by its short name.

use std::fmt;

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
    fn a_symbol_says_which_call() {
        for (name, text) in [
            ("lamprey::sleep::sleep", "sleep"),
            ("lamprey::channel::rendezvous::ends::Receiver<T>::recv", "Receiver::recv"),
            ("<lamprey::channel::rendezvous::ends::Receiver<u8>>::recv", "Receiver::recv"),
            ("<lamprey::net::tcp::TcpStream as std::io::Read>::read", "TcpStream::read"),
            ("<&lamprey::net::tcp::TcpStream as std::io::Read>::read", "TcpStream::read"),
            ("lamprey::driver::pool::calls::block::<(), app::main::{closure#0}>", "block"),
            ("lamprey::events::algebra::Event::sync", "Event::sync"),
            (
                "<lamprey::events::algebra::wrap::Wrap<E, F> as lamprey::events::algebra::Event>::sync",
                "Wrap::sync",
            ),
            (
                "<lamprey::channel::iter::Iter<T> as core::iter::traits::iterator::Iterator>::next",
                "Iter::next",
            ),
            ("std::io::Read::read_exact", "Read::read_exact"),
            ("<&mut I as core::iter::traits::iterator::Iterator>::next", "I::next"),
            ("app::main::{{closure}}", "{{closure}}"),
            ("<app::Own as lamprey::events::algebra::Event>::sync", "Own::sync"),
            ("main", "main"),
        ] {
            assert_eq!(call(name).to_string(), text, "{name}");
        }
    }
}
