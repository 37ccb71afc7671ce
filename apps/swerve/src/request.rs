//! What a request's header block asks for, and how its body is framed.
//!
//! Invariant: a [`Request`] exists only if it is known where the request ends (no body, a length, or chunks).
//! Whatever could be read in two ways (two lengths, a length and a coding, two hosts) is refused, so that
//! nobody in front of this server can see other borders between requests than it does.

use std::mem::MaybeUninit;

use crate::cond::Conditions;
use crate::status::Status;

/// The most header fields a request may have.
const FIELDS: usize = 100;

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Head,
    /// Known, but not for files.
    Other,
    Unknown,
}

/// How the body is framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    None,
    Length(u64),
    Chunked,
}

/// A request's header block, borrowed from the bytes it was read from.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) method: Method,
    pub(crate) target: &'a str,
    /// Whether the peer speaks HTTP/1.1 rather than HTTP/1.0.
    pub(crate) is_http_1_1: bool,
    pub(crate) keep_alive: bool,
    pub(crate) body: Body,
    /// Whether the client waits for `100 Continue` before it sends the body.
    pub(crate) expects_continue: bool,
    pub(crate) conditions: Conditions<'a>,
}

/// Reads a whole header block: `block` ends with the empty line and nothing follows.
///
/// # Errors
/// The status to answer with; the connection cannot go on after it, as the end of the request is unknown.
pub(crate) fn parse(block: &[u8]) -> Result<Request<'_>, Status> {
    let mut fields = [const { MaybeUninit::uninit() }; FIELDS];
    let mut raw = httparse::Request::new(&mut []);
    match raw.parse_with_uninit_headers(block, &mut fields) {
        Ok(httparse::Status::Complete(length)) if length == block.len() => {}
        Ok(_) => return Err(Status::BadRequest),
        Err(httparse::Error::TooManyHeaders) => return Err(Status::HeadersTooLarge),
        Err(httparse::Error::Version) => return Err(version_refusal(block)),
        Err(_) => return Err(Status::BadRequest),
    }
    let (Some(method), Some(target), Some(version)) = (raw.method, raw.path, raw.version) else {
        return Err(Status::BadRequest);
    };
    let mut notes = Notes::default();
    for field in raw.headers.iter() {
        notes.take(field.name, field.value.trim_ascii())?;
    }
    let is_http_1_1 = version >= 1;
    if notes.hosts > 1 || (is_http_1_1 && notes.hosts == 0) {
        return Err(Status::BadRequest);
    }
    let body = match (notes.chunked, notes.length) {
        (true, Some(_)) => return Err(Status::BadRequest),
        (true, None) if !is_http_1_1 => return Err(Status::BadRequest),
        (true, None) => Body::Chunked,
        (false, None | Some(0)) => Body::None,
        (false, Some(length)) => Body::Length(length),
    };
    if notes.strange_expectation && is_http_1_1 {
        return Err(Status::ExpectationFailed);
    }
    Ok(Request {
        method: method_of(method),
        target,
        is_http_1_1,
        keep_alive: !notes.close && (is_http_1_1 || notes.keep_alive),
        body,
        expects_continue: notes.expects_continue && is_http_1_1 && body != Body::None,
        conditions: notes.conditions,
    })
}

fn method_of(name: &str) -> Method {
    match name {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" | "PUT" | "DELETE" | "CONNECT" | "OPTIONS" | "TRACE" | "PATCH" => Method::Other,
        _ => Method::Unknown,
    }
}

/// A version that is not 1.0 or 1.1: another version of HTTP, or not HTTP at all.
fn version_refusal(block: &[u8]) -> Status {
    let line = block.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or(b"");
    let word = line.trim_ascii().rsplit(|&byte| byte == b' ').next().unwrap_or(b"");
    match word.strip_prefix(b"HTTP/") {
        Some([major, b'.', minor]) if major.is_ascii_digit() && minor.is_ascii_digit() => {
            Status::VersionNotSupported
        }
        Some([major]) if major.is_ascii_digit() => Status::VersionNotSupported,
        _ => Status::BadRequest,
    }
}

/// What the fields say, gathered one by one.
#[derive(Default)]
struct Notes<'a> {
    hosts: usize,
    length: Option<u64>,
    chunked: bool,
    close: bool,
    keep_alive: bool,
    expects_continue: bool,
    strange_expectation: bool,
    conditions: Conditions<'a>,
}

impl<'a> Notes<'a> {
    fn take(&mut self, name: &str, value: &'a [u8]) -> Result<(), Status> {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        // By length first: most fields are none of ours.
        match name.len() {
            4 if is("Host") => self.host(value)?,
            6 if is("Expect") => {
                let continues = value.eq_ignore_ascii_case(b"100-continue");
                self.expects_continue |= continues;
                self.strange_expectation |= !continues;
            }
            10 if is("Connection") => {
                self.close |= has_word(value, b"close");
                self.keep_alive |= has_word(value, b"keep-alive");
            }
            13 if is("If-None-Match") => {
                let repeated = self.conditions.if_none_match.is_some();
                self.conditions.if_none_match = Some(if repeated { b"" } else { value });
            }
            14 if is("Content-Length") => {
                let length = number(value).ok_or(Status::BadRequest)?;
                if self.length.replace(length).is_some() {
                    return Err(Status::BadRequest);
                }
            }
            17 if is("Transfer-Encoding") => {
                if !value.eq_ignore_ascii_case(b"chunked") {
                    return Err(Status::NotImplemented);
                }
                if std::mem::replace(&mut self.chunked, true) {
                    return Err(Status::BadRequest);
                }
            }
            17 if is("If-Modified-Since") => self.conditions.if_modified_since = Some(value),
            _ => {}
        }
        Ok(())
    }

    fn host(&mut self, value: &[u8]) -> Result<(), Status> {
        self.hosts += 1;
        let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:[]%".contains(byte);
        if value.iter().all(allowed) { Ok(()) } else { Err(Status::BadRequest) }
    }
}

/// Whether a comma-separated list has `word`, in any case.
fn has_word(list: &[u8], word: &[u8]) -> bool {
    list.split(|&byte| byte == b',').any(|item| item.trim_ascii().eq_ignore_ascii_case(word))
}

/// Digits and nothing else: no sign, no space, no overflow.
fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
