//! HTTP dates: the current one, formatted at most once a second, and those of files and requests.
//!
//! Invariant: every date is within the range of HTTP's format (1970 to 9999). Times of files outside of it
//! count as its nearest end.

use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A date in HTTP's format: `Sun, 06 Nov 1994 08:49:37 GMT`.
pub(crate) type DateText = [u8; 29];

/// The last second of the year 9999.
const LAST: u64 = 253_402_300_799;

/// Whole seconds since 1970, clamped to the range of HTTP's format.
pub(crate) fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs().min(LAST))
}

/// The date of `seconds` since 1970.
pub(crate) fn format(seconds: u64) -> DateText {
    let mut text = [0; 29];
    let date = httpdate::HttpDate::from(UNIX_EPOCH + Duration::from_secs(seconds.min(LAST)));
    write!(&mut text[..], "{date}").expect("an HTTP date has 29 bytes");
    text
}

/// Seconds since 1970 of a date in one of HTTP's three forms; `None` for anything else.
pub(crate) fn parse(value: &[u8]) -> Option<u64> {
    let time = httpdate::parse_http_date(std::str::from_utf8(value).ok()?).ok()?;
    let seconds = seconds(time);
    // The first form is as long as no other. One that comes out different was no date: the 31st of February, say.
    (value.len() != 29 || format(seconds) == value).then_some(seconds)
}

/// The current date. Each connection has its own, which is cheaper than to share one.
pub(crate) struct DateClock {
    second: u64,
    text: DateText,
}

impl DateClock {
    pub(crate) fn new() -> DateClock {
        DateClock { second: 0, text: format(0) }
    }

    /// The date now.
    pub(crate) fn now(&mut self) -> &DateText {
        let second = seconds(lamprey::sim::system_time());
        if second != self.second {
            *self = DateClock { second, text: format(second) };
        }
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_the_example_of_the_standard() {
        assert_eq!(&format(784_111_777), b"Sun, 06 Nov 1994 08:49:37 GMT");
    }

    #[test]
    fn parses_all_three_forms() {
        for form in
            ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
        {
            assert_eq!(parse(form.as_bytes()), Some(784_111_777), "{form}");
        }
    }

    #[test]
    fn refuses_what_is_not_a_date() {
        for form in ["", "yesterday", "Sun, 06 Nov 1994", "Sun, 99 Nov 1994 08:49:37 GMT", "784111777"]
            .into_iter()
            .chain([
                "Mon, 06 Nov 1994 08:49:37 GMT",
                "Thu, 31 Feb 1994 08:49:37 GMT",
                "Sun, 06 Nov 1994 24:49:37 GMT",
            ])
            .chain([
                "Sun, 06 Nov 1994 08:49:37 UTC",
                "sun, 06 nov 1994 08:49:37 gmt",
                "Sun, 6 Nov 1994 08:49:37 GMT",
            ])
        {
            assert_eq!(parse(form.as_bytes()), None, "{form}");
        }
        assert_eq!(parse(b"\xff\xfe"), None);
    }

    #[test]
    fn times_out_of_range_move_to_its_ends() {
        let early = UNIX_EPOCH - Duration::from_secs(5);
        assert_eq!(&format(seconds(early)), b"Thu, 01 Jan 1970 00:00:00 GMT");
        let late = UNIX_EPOCH + Duration::from_secs(LAST + 1_000_000);
        assert_eq!(&format(seconds(late)), b"Fri, 31 Dec 9999 23:59:59 GMT");
        assert_eq!(format(u64::MAX), format(LAST));
    }

    #[test]
    fn clock_tells_the_current_second() {
        let mut clock = DateClock::new();
        let before = seconds(SystemTime::now());
        let told = parse(clock.now()).unwrap();
        assert!((before..=before + 5).contains(&told));
    }
}
