//! The rivals' programs: those that are built here, and those on PATH.

pub mod boost;
pub mod ghc;
pub mod go;
pub mod simulators;

use anyhow::{Context, Result};
use std::env;
use std::path::{Path, PathBuf};

/// The folder of the rivals' sources: the one around this crate's.
fn bench_folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Finds a program on PATH, or in the folders of system daemons.
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
