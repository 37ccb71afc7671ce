//! Where a header block begins and ends, and whether it is within its limits of length.

use crate::config::Limits;
use crate::line::is_of_token;
use crate::status::Status;

/// What a buffer begins with.
pub enum Scan {
    /// A header block of this many bytes.
    Whole(usize),
    /// The beginning of a header block.
    Part,
    /// Something else, or a header block that is too long; this is the answer.
    Wrong(Status),
}

/// How many bytes at the front are empty lines: some clients send them before a request, and they are ignored.
pub fn empty_lines(bytes: &[u8]) -> usize {
    let mut count = 0;
    loop {
        count += match &bytes[count..] {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => return count,
        };
    }
}

/// Looks for the end of the header block; the first `searched` bytes have been searched before, and there are no empty
/// lines at the front.
pub fn scan(bytes: &[u8], searched: usize, limits: &Limits) -> Scan {
    match bytes {
        // The rest of an empty line is on its way.
        b"\r" => return Scan::Part,
        // Another protocol (TLS, for example) is refused at its first byte, not after the time limit.
        [first, ..] if !is_of_token(*first) => return Scan::Wrong(Status::BadRequest),
        _ => {}
    }
    match end_of_block(bytes, searched.saturating_sub(2)) {
        Some(length) if length > limits.head_bytes => Scan::Wrong(too_long(&bytes[..length])),
        Some(length) => Scan::Whole(length),
        // The line has room for a method and a version beside the target.
        None if bytes.len() > limits.target_bytes + 64 && !bytes.contains(&b'\n') => {
            Scan::Wrong(Status::UriTooLong)
        }
        None if bytes.len() >= limits.head_bytes => Scan::Wrong(too_long(bytes)),
        None => Scan::Part,
    }
}

/// Whether it is the first line or the fields that are too long.
fn too_long(block: &[u8]) -> Status {
    if block.contains(&b'\n') { Status::HeadersTooLarge } else { Status::UriTooLong }
}

/// The length up to the end of the first empty line that ends at or after `from`.
fn end_of_block(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = bytes[at..].iter().position(|&byte| byte == b'\n') {
        at += found + 1;
        match &bytes[at..] {
            [b'\n', ..] => return Some(at + 1),
            [b'\r', b'\n', ..] => return Some(at + 2),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_found_wherever_the_pieces_are_cut() {
        for (block, rest) in
            [("GET / HTTP/1.1\r\nA: b\r\n\r\n", "GET"), ("GET / HTTP/1.0\n\n", "\n"), ("G\r\n\n", "x")]
        {
            let all = format!("{block}{rest}");
            for cut in 0..block.len() {
                assert_eq!(end_of_block(&all.as_bytes()[..cut], 0), None, "{block:?} cut at {cut}");
                assert_eq!(
                    end_of_block(all.as_bytes(), cut.saturating_sub(2)),
                    Some(block.len()),
                    "{block:?} cut at {cut}"
                );
            }
        }
    }

    #[test]
    fn empty_lines_end_with_a_line_feed() {
        for (bytes, count) in
            [("\r\n\n\r\nG", 5), ("G\r\n", 0), ("\r\n\r", 2), ("\r", 0), ("\rG", 0), ("", 0)]
        {
            assert_eq!(empty_lines(bytes.as_bytes()), count, "{bytes:?}");
        }
        let scan = |text: &str| scan(text.as_bytes(), 0, &Limits::default());
        assert!(matches!(scan("\r"), Scan::Part));
        assert!(matches!(scan("\rG"), Scan::Wrong(Status::BadRequest)));
    }

    #[test]
    fn limits_tell_a_long_line_from_long_fields() {
        let limits = Limits { head_bytes: 1000, target_bytes: 500, ..Limits::default() };
        let status = |text: &str| match scan(text.as_bytes(), 0, &limits) {
            Scan::Wrong(status) => status.code(),
            Scan::Whole(_) => 200,
            Scan::Part => 100,
        };
        assert_eq!(status(&"x".repeat(564)), 100);
        assert_eq!(status(&"x".repeat(565)), 414);
        assert_eq!(status(&format!("GET / HTTP/1.1\r\n{}", "x".repeat(983))), 100);
        assert_eq!(status(&format!("GET / HTTP/1.1\r\n{}", "x".repeat(984))), 431);
        assert_eq!(status(&format!("GET / HTTP/1.1\r\n{}\r\n\r\n", "x".repeat(980))), 200);
        assert_eq!(status(&format!("GET / HTTP/1.1\r\n{}\r\n\r\n", "x".repeat(981))), 431);
        assert_eq!(status("\x16\x03\x01"), 400);
        assert_eq!(status(""), 100);
    }
}
