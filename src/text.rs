//! Text from an endpoint, and numbers for people.

use std::borrow::Cow;
use std::io::IsTerminal;
use std::time::Duration;

/// For standard output: a terminal gets no control characters, with which a name could write over what is there.
pub fn for_output(text: Vec<u8>) -> Vec<u8> {
    if std::io::stdout().is_terminal() {
        plain(&String::from_utf8_lossy(&text)).into_owned().into_bytes()
    } else {
        text
    }
}

/// Without control characters, but line ends.
pub fn plain(text: &str) -> Cow<'_, str> {
    let is_bad = |char: char| char.is_control() && char != '\n' && char != '\t';
    if text.contains(is_bad) { text.replace(is_bad, "\u{fffd}").into() } else { text.into() }
}

/// A number of seconds that somebody has typed.
pub fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.1..=3600.0).contains(seconds));
    seconds.ok_or_else(|| "write a number from 0.1 to 3600".to_owned())
}

/// A time in two units at most: `1.2 s`, `3 m 20 s`.
pub fn time(nanoseconds: u64) -> String {
    let time = Duration::from_nanos(nanoseconds);
    let seconds = time.as_secs();
    match seconds {
        0 if nanoseconds < 1_000_000 => format!("{} us", nanoseconds / 1000),
        0 => format!("{} ms", nanoseconds / 1_000_000),
        1..60 => format!("{:.1} s", time.as_secs_f64()),
        60..3600 => format!("{} m {:02} s", seconds / 60, seconds % 60),
        3600..86400 => format!("{} h {:02} m", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} d {:02} h", seconds / 86400, seconds / 3600 % 24),
    }
}

/// So many of something: `1 thread`, `12.3k threads`.
pub fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A number with three digits at least: `999`, `12.3k`, `4.56M`.
pub fn count(number: u64) -> String {
    let scaled = |unit: f64, name: char| {
        let number = number as f64 / unit;
        let digits = if number < 10.0 { 2 } else { usize::from(number < 100.0) };
        format!("{number:.digits$}{name}")
    };
    match number {
        0..10_000 => number.to_string(),
        10_000..1_000_000 => scaled(1e3, 'k'),
        1_000_000..1_000_000_000 => scaled(1e6, 'M'),
        _ => scaled(1e9, 'G'),
    }
}

#[cfg(test)]
mod tests {
    use super::{count, plain, time};

    #[test]
    fn numbers_are_short() {
        let counts = [0, 9999, 12_345, 123_456, 4_561_234, 2_000_000_000].map(count);
        assert_eq!(counts, ["0", "9999", "12.3k", "123k", "4.56M", "2.00G"]);
        let times =
            [999, 5_000_000, 1_230_000_000, 200_000_000_000, 7_260_000_000_000, 90_000_000_000_000].map(time);
        assert_eq!(times, ["0 us", "5 ms", "1.2 s", "3 m 20 s", "2 h 01 m", "1 d 01 h"]);
    }

    #[test]
    fn a_terminal_gets_no_control_characters() {
        assert_eq!(plain("a\tb\n\u{1b}[31m\u{7}"), "a\tb\n\u{fffd}[31m\u{fffd}");
    }
}
