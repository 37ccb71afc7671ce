//! The rivals: the same work, written as their own users would write it (choices in `README.md`).

pub mod boost;
pub mod corosensei;
pub mod go;
pub mod may;
pub mod nginx;
pub mod os_locks;
pub mod os_scope;
pub mod pthread;
pub mod smol;
pub mod threads;
pub mod tokio;
pub mod tokio_echo;
pub mod tokio_events;
pub mod tokio_locks;
pub mod tokio_stalls;
pub mod tokio_structure;
pub mod tokio_tasks;

use anyhow::{Context, Result};
use std::env;
use std::path::PathBuf;

/// Finds a program on PATH, or where system daemons live.
pub fn find(program: &str) -> Result<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let daemons = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    let mut places = env::split_paths(&path).chain(daemons).map(|dir| dir.join(program));
    places.find(|p| p.is_file()).with_context(|| format!("no {program} on PATH"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_or_named() {
        assert!(find("sh").unwrap().is_absolute());
        assert_eq!(find("no-such-program").unwrap_err().to_string(), "no no-such-program on PATH");
    }
}
