//! Shortens the bytes of a program that fails, as long as it fails (delta debugging).

use std::time::Instant;

/// The smaller program, at `end` at the latest; `None` if the original did not fail either.
///
/// # Errors
/// The first error of `fails`, which says whether the program of some bytes fails.
pub fn minimise<E>(
    mut bytes: Vec<u8>,
    end: Instant,
    mut fails: impl FnMut(&[u8]) -> Result<bool, E>,
) -> Result<Option<Vec<u8>>, E> {
    if !fails(&bytes)? {
        return Ok(None);
    }
    let mut size = bytes.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < bytes.len() && Instant::now() < end {
            let upto = (at + size).min(bytes.len());
            let fewer = [&bytes[..at], &bytes[upto..]].concat();
            // Zeros instead keep the meaning of the following bytes.
            let mut zeroed = bytes.clone();
            zeroed[at..upto].fill(0);
            if fails(&fewer)? {
                bytes = fewer;
            } else if zeroed != bytes && fails(&zeroed)? {
                bytes = zeroed;
                at = upto;
            } else {
                at = upto;
            }
        }
        size /= 2;
    }
    Ok(Some(bytes))
}
