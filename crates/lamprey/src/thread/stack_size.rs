//! Default stack sizes, and which sizes are valid.

use std::io;

/// Default for hosts and parasites. Unoptimised code keeps every temporary in its frame and needs several
/// times as much; address space is cheap, and only pages that are touched use memory.
pub(crate) const DEFAULT: usize = if cfg!(debug_assertions) { 256 << 10 } else { 64 << 10 };

/// Minimum for the main host of a runtime: there is one per runtime, and whole programs run in it.
const MAIN: u32 = 1 << 20;

/// The largest valid stack size.
pub(crate) const LARGEST: usize = 1 << 30;

/// The environment variable that overrides [`DEFAULT`].
pub(crate) const VARIABLE: &str = "LAMPREY_STACK_SIZE";

/// What its value must be.
pub(crate) const EXPECTED: &str = "a number of bytes, or of KiB or MiB as in 256K or 1M, of at most 1024M";

/// Checks a stack size and rounds it up to what the descriptor keeps.
pub(crate) fn check(bytes: usize) -> io::Result<u32> {
    if bytes > LARGEST {
        let text = format!("a stack of {bytes} bytes was asked for; the largest is {LARGEST}");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    Ok(bytes.next_multiple_of(4096).max(16 << 10) as u32)
}

/// The stack size of the main host, if other hosts have `usual`.
pub(crate) fn of_main(usual: u32) -> u32 {
    usual.max(MAIN)
}

/// The size for a runtime whose builder sets none: the environment's, or [`DEFAULT`].
pub(crate) fn from_environment() -> io::Result<u32> {
    let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) else {
        return check(DEFAULT);
    };
    let invalid = || {
        let text = format!("{VARIABLE} is {text:?}: it must be {EXPECTED}");
        Err(io::Error::new(io::ErrorKind::InvalidInput, text))
    };
    text.to_str().and_then(parse).map_or_else(invalid, check)
}

/// Parses `65536`, `64K` or `1M`; `None` for anything else, and for more than [`LARGEST`].
pub(crate) fn parse(text: &str) -> Option<usize> {
    let (digits, shift) = match text.trim().as_bytes() {
        [digits @ .., b'k' | b'K'] => (digits, 10),
        [digits @ .., b'm' | b'M'] => (digits, 20),
        digits => (digits, 0),
    };
    let number: usize = std::str::from_utf8(digits).ok()?.parse().ok()?;
    number.checked_mul(1 << shift).filter(|bytes| (1..=LARGEST).contains(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        for (text, bytes) in [("65536", 65536), ("64K", 65536), ("1m", 1 << 20), (" 2M ", 2 << 20)] {
            assert_eq!(parse(text), Some(bytes), "{text}");
        }
        for text in [
            "",
            "K",
            "0",
            "-1",
            "64 K",
            "1G",
            "1025M",
            "99999999999999999999",
            "18446744073709551615M",
            "64é",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
