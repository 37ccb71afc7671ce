//! The limit of open descriptors.

use anyhow::{Context, Result};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Enough for 100,000 connections with both ends in one process.
const WANTED: u64 = 1 << 18;

/// How many a process has open besides: its runtime's, its files.
const OTHERS: u64 = 64;

/// How many descriptors a bench may open in this process.
pub fn available() -> Result<u64> {
    let (soft, _) = getrlimit(Resource::RLIMIT_NOFILE).context("getrlimit")?;
    Ok(soft.saturating_sub(OTHERS))
}

/// Raises the limit of this process, and of those that it starts later, as far as the system allows.
pub fn raise() {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    // Only root may raise the hard limit.
    if soft < WANTED && setrlimit(Resource::RLIMIT_NOFILE, WANTED, hard.max(WANTED)).is_err() {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard.min(WANTED), hard);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_never_lowered() {
        let before = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        raise();
        let after = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        assert!(after.0 >= before.0 && after.1 >= before.1, "{before:?} {after:?}");
    }
}
