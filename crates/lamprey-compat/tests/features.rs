//! Nothing of a library is linked without its feature.

use std::env;
use std::process::Command;

/// The crates that are linked into a program with these features, as Cargo sees it.
fn linked(features: &[&str]) -> Vec<String> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args([
        "tree",
        "--locked",
        "--offline",
        "-p",
        "lamprey-compat",
        "-e",
        "normal",
        "--prefix",
        "none",
    ]);
    command.args(["-f", "{lib}", "--no-default-features", "--features", &features.join(",")]);
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.trim().trim_end_matches(" (*)").to_owned()).collect()
}

#[test]
fn without_features_only_lamprey_is_linked() {
    let bare = linked(&[]);
    assert!(bare.contains(&"lamprey".to_owned()) && bare.contains(&"lamprey_compat".to_owned()), "{bare:?}");
    let others = ["tokio", "futures", "hyper", "tower", "rustls", "axum", "ureq", "mio", "bytes"];
    let found: Vec<_> =
        bare.iter().filter(|name| others.iter().any(|other| name.starts_with(other))).collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn the_feature_tokio_brings_tokio() {
    assert!(linked(&["tokio"]).contains(&"tokio".to_owned()));
}
