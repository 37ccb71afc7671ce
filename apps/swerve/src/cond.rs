//! Conditional requests: whether the client has the file already.
//!
//! `If-None-Match` takes precedence over `If-Modified-Since` (RFC 9110, 13.2.2). A condition that cannot be
//! understood is ignored: the whole file is always a correct answer. For that reason several `If-None-Match`
//! lines, which no client sends, match no file.

use crate::date;

/// The conditions of a request: the values of its fields, unchanged.
#[derive(Debug, Default, Clone, Copy)]
pub struct Conditions<'a> {
    /// `If-None-Match`.
    pub if_none_match: Option<&'a [u8]>,
    /// `If-Modified-Since`.
    pub if_modified_since: Option<&'a [u8]>,
}

impl Conditions<'_> {
    /// Whether 304 is the answer for a file with this entity tag (with its quotes, and `W/` if it is weak),
    /// last modified at `modified` (seconds since 1970).
    pub fn met_by(&self, tag: &[u8], modified: u64) -> bool {
        match (self.if_none_match, self.if_modified_since) {
            (Some(list), _) => contains(list, tag),
            (None, Some(value)) => date::parse(value).is_some_and(|since| modified <= since),
            (None, None) => false,
        }
    }
}

/// Whether a list of entity tags contains `tag`, by weak comparison.
fn contains(list: &[u8], tag: &[u8]) -> bool {
    let mut rest = list.trim_ascii();
    if rest == b"*" {
        return true;
    }
    let tag = opaque(tag);
    loop {
        rest = opaque(rest.trim_ascii_start());
        let Some(inner) = rest.strip_prefix(b"\"") else { return false };
        let Some(end) = inner.iter().position(|&byte| byte == b'"') else { return false };
        if &rest[..end + 2] == tag {
            return true;
        }
        match inner[end + 1..].trim_ascii_start().strip_prefix(b",") {
            Some(more) => rest = more,
            None => return false,
        }
    }
}

/// An entity tag without its `W/`.
fn opaque(tag: &[u8]) -> &[u8] {
    tag.strip_prefix(b"W/").unwrap_or(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 784_111_777;
    const DAY_TEXT: &[u8] = b"Sun, 06 Nov 1994 08:49:37 GMT";

    fn by_tag(list: &str, tag: &str) -> bool {
        Conditions { if_none_match: Some(list.as_bytes()), ..Default::default() }.met_by(tag.as_bytes(), DAY)
    }

    #[test]
    fn tags_that_match() {
        for list in [
            "\"x\"",
            "*",
            " * ",
            "W/\"x\"",
            "\"a\", \"x\"",
            "\"a\",W/\"x\" , \"b\"",
            "\"a,b\", \"x\"",
            "\"\", \"x\"",
        ] {
            assert!(by_tag(list, "\"x\""), "{list}");
            assert!(by_tag(list, "W/\"x\""), "{list}");
        }
    }

    #[test]
    fn tags_that_do_not() {
        for list in [
            "",
            "x",
            "\"X\"",
            "\"x",
            "\"xx\"",
            "\"a\" \"x\"",
            "\"a, x\"",
            "w/\"x\"",
            "\"a\",",
            "*, \"a\"",
            ",",
            "\"*\"",
        ] {
            assert!(!by_tag(list, "\"x\""), "{list}");
        }
    }

    #[test]
    fn modified_since_compares_seconds() {
        let since = Conditions { if_modified_since: Some(DAY_TEXT), ..Default::default() };
        assert!(since.met_by(b"\"x\"", DAY));
        assert!(since.met_by(b"\"x\"", DAY - 1));
        assert!(!since.met_by(b"\"x\"", DAY + 1));
        let garbage = Conditions { if_modified_since: Some(b"now"), ..Default::default() };
        assert!(!garbage.met_by(b"\"x\"", 0));
    }

    #[test]
    fn a_tag_wins_over_a_date() {
        let both =
            |list: &'static [u8]| Conditions { if_none_match: Some(list), if_modified_since: Some(DAY_TEXT) };
        assert!(!both(b"\"y\"").met_by(b"\"x\"", DAY));
        assert!(both(b"\"x\"").met_by(b"\"x\"", DAY + 99));
        assert!(!Conditions::default().met_by(b"\"x\"", DAY));
    }
}
