//! What the header block of a request asks for, and how its body is framed.
//!
//! Invariant: a [`Request`] exists only if it is known where the request ends (no body, a length, or chunks).
//! Ambiguous requests (two lengths, a length and a coding, two hosts) are refused, so that no proxy in front
//! of this server can see other boundaries between requests.

use std::mem::MaybeUninit;

use crate::cond::Conditions;
use crate::status::Status;

/// The most header fields a request may have.
const MOST_FIELDS: usize = 100;

/// The method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The file.
    Get,
    /// Its header alone.
    Head,
    /// Known, but not allowed for files.
    Other,
    /// Of no standard.
    Unknown,
}

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
    let mut fields = [const { MaybeUninit::uninit() }; MOST_FIELDS];
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
    let mut seen = Fields::default();
    for field in raw.headers.iter() {
        seen.take(field.name, field.value.trim_ascii())?;
    }
    let is_http_1_1 = version >= 1;
    if seen.hosts > 1 || (is_http_1_1 && seen.hosts == 0) {
        return Err(Status::BadRequest);
    }
    let body = match (seen.chunked, seen.length) {
        (true, Some(_)) => return Err(Status::BadRequest),
        (true, None) if !is_http_1_1 => return Err(Status::BadRequest),
        (true, None) => Body::Chunked,
        (false, None | Some(0)) => Body::None,
        (false, Some(length)) => Body::Length(length),
    };
    if seen.strange_expectation && is_http_1_1 {
        return Err(Status::ExpectationFailed);
    }
    Ok(Request {
        method: method_of(method),
        target,
        is_http_1_1,
        keep_alive: !seen.close && (is_http_1_1 || seen.keep_alive),
        body,
        expects_continue: seen.expects_continue && is_http_1_1 && body != Body::None,
        conditions: seen.conditions,
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

/// The answer to a version that is not 1.0 or 1.1: another version of HTTP, or not HTTP at all.
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

/// The fields that matter to this server, collected one by one.
#[derive(Default)]
struct Fields<'a> {
    hosts: usize,
    length: Option<u64>,
    chunked: bool,
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
