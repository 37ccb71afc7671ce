//! From a request's target to the name of a file inside the folder.
//!
//! Invariant: what [`resolve`] gives has no empty, `.` or `..` segment, no NUL, no control byte, no
//! backslash, and no slash that was not a slash in the address. It is decoded once. Odd names are refused,
//! never repaired: an address has one form. (That the file really lies in the folder is the kernel's
//! business, see `beneath`: this is the first of two walls.)

use crate::status::Status;

/// What a folder's address stands for.
const INDEX: &[u8] = b"index.html";

/// Splits a target in origin form (`/a?b`) or absolute form (`http://host/a?b`) into the path and the rest from its `?`.
pub(crate) fn split(target: &str) -> Result<(&str, &str), Status> {
    let local = match without_authority(target) {
        Some(rest) if rest.is_empty() || rest.starts_with('?') => return Ok(("/", rest)),
        Some(rest) => rest,
        None => target,
    };
    // A `#` belongs to the client, and raw bytes beyond ASCII to nobody: neither may be in a target.
    if !local.starts_with('/') || local.bytes().any(|byte| byte == b'#' || !byte.is_ascii_graphic()) {
        return Err(Status::BadRequest);
    }
    Ok(local.split_at(local.find('?').unwrap_or(local.len())))
}

/// What follows `http://host` in an absolute target; `None` if it is not absolute.
fn without_authority(target: &str) -> Option<&str> {
    let (scheme, rest) = target.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return None;
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    (end > 0).then(|| &rest[end..])
}

/// Writes into `name` the file that `path` (it starts with a slash) names, relative to the folder.
pub(crate) fn resolve(path: &str, name: &mut Vec<u8>) -> Result<(), Status> {
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

/// Appends `segment` with its `%xx` decoded; strict, unlike what browsers do with a lone `%`.
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
mod tests {
    use super::*;

    fn file(target: &str) -> Result<String, u16> {
        let mut name = b"left over".to_vec();
        split(target)
            .and_then(|(path, _)| resolve(path, &mut name))
            .map(|()| String::from_utf8_lossy(&name).into_owned())
            .map_err(Status::code)
    }

    #[test]
    fn plain_names() {
        let table = [
            ("/", "index.html"),
            ("/a", "a"),
            ("/a/b.txt", "a/b.txt"),
            ("/a/", "a/index.html"),
            ("/a?b/../c", "a"),
            ("/?q", "index.html"),
            ("/%61%2Etxt", "a.txt"),
            ("/a%20b+c", "a b+c"),
            ("/%e2%82%ac", "\u{20ac}"),
            ("/...", "..."),
            ("/.well-known/x", ".well-known/x"),
            ("/a%3fb", "a?b"),
            ("http://h/a", "a"),
            ("HTTP://h:80/a/", "a/index.html"),
            ("https://h", "index.html"),
            ("http://h?q=/../x", "index.html"),
            ("/a/http://x".split("//").next().unwrap(), "a/http:"),
        ];
        for (target, name) in table {
            assert_eq!(file(target).as_deref(), Ok(name), "{target}");
        }
    }

    #[test]
    fn tricks_are_refused() {
        let table = [
            ("/..", 400),
            ("/../etc/passwd", 400),
            ("/a/../../etc/passwd", 400),
            ("/%2e%2e/etc/passwd", 400),
            ("/%2E./etc/passwd", 400),
            ("/.%2e/", 400),
            ("/a/..", 400),
            ("/%252e%252e/x%00", 400),
            ("/..%2fetc", 404),
            ("/..%2Fetc%2Fpasswd", 404),
            ("/%2fetc/passwd", 404),
            ("/%2f", 404),
            ("//", 404),
            ("//etc/passwd", 404),
            ("/a//b", 404),
            ("/a//", 404),
            ("/.", 404),
            ("/./a", 404),
            ("/a/.", 404),
            ("/%2e/a", 404),
            ("/a%00.txt", 400),
            ("/a\0", 400),
            ("/a\\..\\b", 400),
            ("/..%5c..%5cetc", 400),
            ("/%0d%0aSet-Cookie:x", 400),
            ("/a%7f", 400),
            ("/%", 400),
            ("/%2", 400),
            ("/%zz", 400),
            ("/%+1", 400),
            ("/a#b", 400),
            ("/\u{20ac}", 400),
            ("*", 400),
            ("", 400),
            ("a", 400),
            ("etc/passwd", 400),
            ("file:///etc/passwd", 400),
            ("http:///etc/passwd", 400),
            ("http://h#x", 400),
            ("http://h//etc", 404),
            ("host:80", 400),
        ];
        for (target, status) in table {
            assert_eq!(file(target), Err(status), "{target:?}");
        }
    }

    #[test]
    fn a_doubly_encoded_name_is_decoded_once() {
        assert_eq!(file("/%252e%252e").as_deref(), Ok("%2e%2e"));
    }

    #[test]
    fn overlong_utf8_stays_what_it_is() {
        let mut name = Vec::new();
        resolve("/%c0%ae%c0%ae/x", &mut name).unwrap();
        assert_eq!(name, b"\xc0\xae\xc0\xae/x");
    }

    #[test]
    fn the_query_is_kept_apart() {
        assert_eq!(split("/a?b=c"), Ok(("/a", "?b=c")));
        assert_eq!(split("/a?"), Ok(("/a", "?")));
        assert_eq!(split("http://h?q"), Ok(("/", "?q")));
    }

    #[test]
    fn whatever_is_asked_for_the_invariant_holds() {
        let (mut state, mut name, mut accepted) = (0x2545_f491_4f6c_dd1d_u64, Vec::new(), 0);
        for _ in 0..200_000 {
            let mut target = String::from("/");
            for _ in 0..12 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                target.push_str(
                    ["a", "/", ".", "%2e", "%2f", "%5c", "%00", "\\", "%", "?"][(state >> 33) as usize % 10],
                );
            }
            let Ok((path, _)) = split(&target) else { continue };
            if resolve(path, &mut name).is_ok() {
                accepted += 1;
                let whole = name.split(|&byte| byte == b'/').all(|part| !matches!(part, b"" | b"." | b".."));
                assert!(
                    whole && !name.iter().any(|&byte| byte.is_ascii_control() || byte == b'\\'),
                    "{target}"
                );
                assert_eq!(
                    name.iter().filter(|&&byte| byte == b'/').count() + 1,
                    path.matches('/').count(),
                    "{target}"
                );
            }
        }
        assert!(accepted > 1000, "only {accepted} names were accepted: the test says little");
    }
}
