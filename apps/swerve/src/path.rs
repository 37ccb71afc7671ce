//! From the target of a request to the name of a file in the folder.
//!
//! Invariant: a name that [`resolve`] returns has no empty, `.` or `..` segment, no NUL, no control byte, no
//! backslash, and no slash that was not a slash in the address. It is decoded once. Other names are refused,
//! never repaired, so each file has one address. (This is the first of two checks: that the file lies in the
//! folder is checked by the kernel, see `beneath`.)

use crate::host::is_host;
use crate::status::Status;

/// The file that the address of a folder refers to.
const INDEX: &[u8] = b"index.html";

/// Splits a target in origin form (`/a?b`) or absolute form (`http://host/a?b`) into the path and the query
/// with its `?`.
pub fn split(target: &str) -> Result<(&str, &str), Status> {
    let local = match without_authority(target) {
        Some(rest) if rest.is_empty() || rest.starts_with('?') => return Ok(("/", rest)),
        Some(rest) => rest,
        None => target,
    };
    // Neither `#` nor bytes beyond ASCII may be in a target.
    if !local.starts_with('/') || local.bytes().any(|byte| byte == b'#' || !byte.is_ascii_graphic()) {
        return Err(Status::BadRequest);
    }
    Ok(local.split_at(local.find('?').unwrap_or(local.len())))
}

/// The part of an absolute target after `http://host`; `None` if the target is not absolute, or has no host or a user
/// (RFC 9110, 4.2).
fn without_authority(target: &str) -> Option<&str> {
    let (scheme, rest) = target.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return None;
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, rest) = rest.split_at(end);
    (is_host(host.as_bytes()) && !host.is_empty() && !host.starts_with(':')).then_some(rest)
}

/// Writes into `name` the name of the file at `path` (which begins with a slash), relative to the folder.
pub fn resolve(path: &str, name: &mut Vec<u8>) -> Result<(), Status> {
    name.clear();
    let inner = path.strip_prefix('/').ok_or(Status::BadRequest)?;
    let mut segments = inner.split('/').peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        let start = name.len();
        if segment.is_empty() && last {
            name.extend_from_slice(INDEX);
            break;
        }
        decode(segment, name)?;
        match &name[start..] {
            b"" | b"." => return Err(Status::NotFound),
            b".." => return Err(Status::BadRequest),
            decoded if decoded.contains(&b'/') => return Err(Status::NotFound),
            _ => {}
        }
        if !last {
            name.push(b'/');
        }
    }
    Ok(())
}

/// Appends `segment` with its `%xx` decoded; a `%` without two digits is refused.
fn decode(segment: &str, name: &mut Vec<u8>) -> Result<(), Status> {
    let mut bytes = segment.bytes();
    while let Some(mut byte) = bytes.next() {
        if byte == b'%' {
            let (high, low) = (bytes.next().and_then(digit), bytes.next().and_then(digit));
            byte = high.zip(low).map(|(high, low)| high << 4 | low).ok_or(Status::BadRequest)?;
        }
        if byte.is_ascii_control() || byte == b'\\' {
            return Err(Status::BadRequest);
        }
        name.push(byte);
    }
    Ok(())
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|value| value as u8)
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
