//! Lengths of time as text: `10ms`, `3s`.

use std::time::Duration;

/// Reads a whole number of `us`, `ms`, `s`, `m` or `h`, or of seconds without a unit; `None` for anything else, and for what
/// is longer than 500 million years. Constant, so that a bad argument of `#[lamprey::test]` does not compile.
pub(crate) const fn parse(text: &str) -> Option<Duration> {
    let text = text.as_bytes();
    let (mut at, mut number) = (0, 0_u64);
    while at < text.len() && text[at].is_ascii_digit() {
        number = match number.checked_mul(10) {
            Some(number) => match number.checked_add((text[at] - b'0') as u64) {
                Some(number) => number,
                None => return None,
            },
            None => return None,
        };
        at += 1;
    }
    let seconds = match text.split_at(at) {
        ([], _) => return None,
        (_, b"us") => return Some(Duration::from_micros(number)),
        (_, b"ms") => return Some(Duration::from_millis(number)),
        (_, b"" | b"s") => Some(number),
        (_, b"m") => number.checked_mul(60),
        (_, b"h") => number.checked_mul(3600),
        _ => None,
    };
    match seconds {
        Some(seconds) => Some(Duration::from_secs(seconds)),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        for (text, micros) in [
            ("0", 0),
            ("5", 5_000_000),
            ("5s", 5_000_000),
            ("70us", 70),
            ("10ms", 10_000),
            ("2m", 120_000_000),
        ] {
            assert_eq!(parse(text), Some(Duration::from_micros(micros)), "{text}");
        }
        assert_eq!(parse("1h"), Some(Duration::from_secs(3600)));
        for text in [
            "",
            "s",
            "-1s",
            "1.5s",
            " 1s",
            "1 s",
            "1S",
            "5sec",
            "18446744073709551616",
            "9999999999999999999h",
            "1é",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
