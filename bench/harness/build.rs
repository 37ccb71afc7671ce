//! Hands the compiler's version to the program: results without it cannot be compared.

use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc).arg("--version").output();
    let version = version
        .map_or_else(|e| format!("unknown ({e})"), |o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
    println!("cargo::rustc-env=LAMPREY_BENCH_RUSTC={version}");
    println!("cargo::rerun-if-changed=build.rs");
}
