//! The request line: a method, a target and a version, each with one space between them (RFC 9112, 3).
//!
//! Servers that guess what a line with other spaces means do not guess alike, and a proxy may have guessed before:
//! such a line is refused.

use crate::host::is_host;
use crate::path;
use crate::status::Status;

/// The method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The file.
    Get,
    /// Its header alone.
    Head,
    /// Known, but not allowed for files.
    Other,
    /// A method that no standard knows.
    Unknown,
}

/// A request line.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) method: Method,
    pub(crate) target: &'a str,
    /// Whether the version is 1.1 or a later 1.x, which is understood as 1.1 (RFC 9110, 2.5).
    pub(crate) is_http_1_1: bool,
}

/// Parses the line, which is here without its end.
pub(crate) fn parse(line: &[u8]) -> Result<Line<'_>, Status> {
    let text = std::str::from_utf8(line).map_err(|_| Status::BadRequest)?;
    let mut words = text.split(' ');
    let (Some(name), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(Status::BadRequest);
    };
    if name.is_empty()
        || !name.bytes().all(is_of_token)
        || !target.bytes().all(|byte| byte.is_ascii_graphic())
    {
        return Err(Status::BadRequest);
    }
    let is_http_1_1 = match version.as_bytes() {
        b"HTTP/1.1" => true,
        b"HTTP/1.0" => false,
        [b'H', b'T', b'T', b'P', b'/', major, b'.', minor]
            if major.is_ascii_digit() && minor.is_ascii_digit() =>
        {
            if *major != b'1' {
                return Err(Status::VersionNotSupported);
            }
            true
        }
        _ => return Err(Status::BadRequest),
    };
    let method = method_of(name);
    let has_its_form = match name {
        // `answer` looks at the rest.
        "GET" | "HEAD" if target.starts_with('/') => true,
        "CONNECT" => is_host(target.as_bytes()) && target.contains(':'),
        "OPTIONS" if target == "*" => true,
        _ => path::split(target).is_ok(),
    };
    if has_its_form { Ok(Line { method, target, is_http_1_1 }) } else { Err(Status::BadRequest) }
}

/// Whether `byte` may be in a method or in the name of a field.
pub(crate) fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn method_of(name: &str) -> Method {
    match name {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" | "PUT" | "DELETE" | "CONNECT" | "OPTIONS" | "TRACE" | "PATCH" => Method::Other,
        _ => Method::Unknown,
    }
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
