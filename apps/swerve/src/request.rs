//! What the header block of a request asks for, and how its body is framed.
//!
//! Invariant: a [`Request`] exists only if it is known where the request ends (no body, a length, or chunks).
//! Ambiguous requests (two lengths, a length and a coding, two hosts) are refused, so that no proxy in front
//! of this server can see other boundaries between requests.

use crate::cond::Conditions;
use crate::host::is_host;
use crate::line::{self, Method};
use crate::status::Status;

/// The most header fields a request may have.
const MOST_FIELDS: usize = 100;
/// How many there is room for at first: room for all takes a while to prepare.
const USUAL_FIELDS: usize = 24;

/// How the body is framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// There is none.
    None,
    /// So many bytes.
    Length(u64),
    /// Chunks, each with its length.
    Chunked,
}

/// The header block of a request, borrowed from the bytes that it was parsed from.
#[derive(Debug)]
pub struct Request<'a> {
    /// What is asked for.
    pub method: Method,
    /// The address, as it came.
    pub target: &'a str,
    /// Whether the peer speaks HTTP/1.1 rather than HTTP/1.0.
    pub is_http_1_1: bool,
    /// Whether another request may follow.
    pub keep_alive: bool,
    /// How long its body is.
    pub body: Body,
    /// Whether the client waits for `100 Continue` before it sends the body.
    pub expects_continue: bool,
    /// When the file is not to be sent.
    pub conditions: Conditions<'a>,
}

/// Parses a whole header block: `block` ends with the empty line.
///
/// # Errors
/// The status to answer with. The connection must end after it, because the end of the request is unknown.
pub fn parse(block: &[u8]) -> Result<Request<'_>, Status> {
    let end = block.iter().position(|&byte| byte == b'\n').ok_or(Status::BadRequest)?;
    let (first, rest) = (&block[..end], &block[end + 1..]);
    let line = line::parse(first.strip_suffix(b"\r").unwrap_or(first))?;
    let (mut few, mut many);
    few = [httparse::EMPTY_HEADER; USUAL_FIELDS];
    let parsed = match httparse::parse_headers(rest, &mut few) {
        Err(httparse::Error::TooManyHeaders) => {
            many = [httparse::EMPTY_HEADER; MOST_FIELDS];
            httparse::parse_headers(rest, &mut many)
        }
        parsed => parsed,
    };
    let fields = match parsed {
        Ok(httparse::Status::Complete((length, fields))) if length == rest.len() => fields,
        Err(httparse::Error::TooManyHeaders) => return Err(Status::HeadersTooLarge),
        Ok(_) | Err(_) => return Err(Status::BadRequest),
    };
    let is_http_1_1 = line.is_http_1_1;
    let mut seen = Fields::default();
    for field in fields {
        seen.take(field.name, field.value.trim_ascii())?;
    }
    if seen.hosts > 1 || (is_http_1_1 && seen.hosts == 0) {
        return Err(Status::BadRequest);
    }
    let body = seen.body(is_http_1_1)?;
    if seen.strange_expectation && is_http_1_1 {
        return Err(Status::ExpectationFailed);
    }
    Ok(Request {
        method: line.method,
        target: line.target,
        is_http_1_1,
        keep_alive: !seen.close && (is_http_1_1 || seen.keep_alive),
        body,
        expects_continue: seen.expects_continue && is_http_1_1 && body != Body::None,
        conditions: seen.conditions,
    })
}

/// The fields that matter to this server, collected one by one.
#[derive(Default)]
struct Fields<'a> {
    hosts: usize,
    length: Option<u64>,
    /// Whether there is a list of transfer codings, whether the last one is `chunked`, and whether there are others.
    codings: bool,
    chunked: bool,
    unknown_coding: bool,
    close: bool,
    keep_alive: bool,
    expects_continue: bool,
    strange_expectation: bool,
    conditions: Conditions<'a>,
}

impl<'a> Fields<'a> {
    fn take(&mut self, name: &str, value: &'a [u8]) -> Result<(), Status> {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        // The length is compared first, because most fields do not matter here.
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
            8 if is("If-Match") => self.conditions.if_match.push(value),
            13 if is("If-None-Match") => self.conditions.if_none_match.push(value),
            14 if is("Content-Length") => {
                let length = number(value).ok_or(Status::BadRequest)?;
                if self.length.replace(length).is_some() {
                    return Err(Status::BadRequest);
                }
            }
            17 if is("Transfer-Encoding") => self.take_codings(value)?,
            17 if is("If-Modified-Since") => take_date(&mut self.conditions.if_modified_since, value),
            19 if is("If-Unmodified-Since") => take_date(&mut self.conditions.if_unmodified_since, value),
            _ => {}
        }
        Ok(())
    }

    fn host(&mut self, value: &[u8]) -> Result<(), Status> {
        self.hosts += 1;
        if is_host(value) { Ok(()) } else { Err(Status::BadRequest) }
    }

    /// Takes a line of `Transfer-Encoding`; several are one list.
    fn take_codings(&mut self, list: &[u8]) -> Result<(), Status> {
        self.codings = true;
        for coding in list.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|one| !one.is_empty()) {
            if self.chunked {
                return Err(Status::BadRequest);
            }
            self.chunked = coding.eq_ignore_ascii_case(b"chunked");
            self.unknown_coding |= !self.chunked;
        }
        Ok(())
    }

    /// How the body is framed (RFC 9112, 6.3).
    fn body(&self, is_http_1_1: bool) -> Result<Body, Status> {
        match (self.codings, self.length) {
            (false, None | Some(0)) => Ok(Body::None),
            (false, Some(length)) => Ok(Body::Length(length)),
            // Some would see its end at the length, others at the last chunk.
            (true, length) if length.is_some() || !is_http_1_1 => Err(Status::BadRequest),
            (true, _) if self.unknown_coding => Err(Status::NotImplemented),
            (true, _) if self.chunked => Ok(Body::Chunked),
            (true, _) => Err(Status::BadRequest),
        }
    }
}

/// Takes a field that has one date; several lines are no date.
fn take_date<'a>(field: &mut Option<&'a [u8]>, value: &'a [u8]) {
    *field = Some(if field.is_some() { b"" } else { value });
}

/// Whether a comma-separated list contains `word`, in upper or lower case.
fn has_word(list: &[u8], word: &[u8]) -> bool {
    list.split(|&byte| byte == b',').any(|item| item.trim_ascii().eq_ignore_ascii_case(word))
}

/// The value of digits without sign or space; `None` also if it overflows.
fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
