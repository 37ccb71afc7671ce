//! Conditional requests: whether the client has the file already, or has another version than it thinks.
//!
//! The order is that of RFC 9110, 13.2.2: `If-Match`, else `If-Unmodified-Since`; then `If-None-Match`, else
//! `If-Modified-Since`. (`If-Range` does not matter: a range is answered with the whole file.) A date that cannot
//! be understood is no condition; a tag that cannot be understood is that of no file.

use crate::date;
use crate::validators::Validators;

/// The conditions of a request: the values of its fields, unchanged. A list may have come in several lines; a date that
/// did is none.
#[derive(Debug, Default, Clone)]
pub struct Conditions<'a> {
    /// The lines of `If-Match`.
    pub if_match: Vec<&'a [u8]>,
    /// `If-Unmodified-Since`.
    pub if_unmodified_since: Option<&'a [u8]>,
    /// The lines of `If-None-Match`.
    pub if_none_match: Vec<&'a [u8]>,
    /// `If-Modified-Since`.
    pub if_modified_since: Option<&'a [u8]>,
}

/// What a request's conditions make of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The answer is what it would be without conditions.
    Send,
    /// 304: the client has this version.
    NotModified,
    /// 412: it is not the version that the client wants.
    Failed,
}

impl Conditions<'_> {
    /// The verdict for a file. Not to be asked where the answer has no file: a condition is about a 200 only.
    pub fn judge(&self, file: &Validators) -> Verdict {
        let modified_after = |value: &[u8]| date::parse(value).map(|date| file.modified() > date);
        let wanted = if self.if_match.is_empty() {
            !self.if_unmodified_since.and_then(modified_after).unwrap_or(false)
        } else {
            contains(&self.if_match, |tag| tag == file.tag() && tag.starts_with(b"\""))
        };
        let sent_before = if self.if_none_match.is_empty() {
            !self.if_modified_since.and_then(modified_after).unwrap_or(true)
        } else {
            contains(&self.if_none_match, |tag| opaque(tag) == opaque(file.tag()))
        };
        match (wanted, sent_before) {
            (false, _) => Verdict::Failed,
            (true, true) => Verdict::NotModified,
            (true, false) => Verdict::Send,
        }
    }
}

/// Whether one of the tags in these lines is the wanted one, or a line is `*`.
fn contains(lines: &[&[u8]], is_wanted: impl Fn(&[u8]) -> bool) -> bool {
    lines.iter().any(|line| line.trim_ascii() == b"*" || tags(line).any(&is_wanted))
}

/// The entity tags of a list, up to the first thing that is none. Elements may be empty (RFC 9110, 5.6.1.2).
fn tags(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = list;
    std::iter::from_fn(move || {
        let begin = rest.iter().position(|&byte| !b", \t".contains(&byte))?;
        let inner = opaque(&rest[begin..]).strip_prefix(b"\"")?;
        let end = rest.len() - inner.len() + inner.iter().position(|&byte| byte == b'"')? + 1;
        let (tag, after) = (&rest[begin..end], rest[end..].trim_ascii_start());
        // What follows a tag without a comma makes it none.
        let is_whole = after.is_empty() || after.starts_with(b",");
        rest = after;
        is_whole.then_some(tag)
    })
}

/// An entity tag without its `W/`.
fn opaque(tag: &[u8]) -> &[u8] {
    tag.strip_prefix(b"W/").unwrap_or(tag)
}

#[cfg(test)]
#[path = "cond_tests.rs"]
mod tests;
