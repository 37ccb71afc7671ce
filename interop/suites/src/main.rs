//! Runs all suites. Fails if one fails, or has no test.

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let mut failed = Vec::new();
    let mut table = String::new();
    for (suite, package, _) in suites::SUITES {
        let output = Command::new(env!("CARGO"))
            .args([
                "test",
                "--manifest-path",
                concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
                "--test",
                suite,
            ])
            .output()
            .unwrap_or_else(|error| panic!("cargo test: {error}"));
        let text = String::from_utf8_lossy(&output.stdout);
        let passed = passed(&text);
        table += &format!("{package:<16} {passed:>4} passed\n");
        if !output.status.success() || passed == 0 {
            eprintln!("{text}{}", String::from_utf8_lossy(&output.stderr));
            failed.push(*package);
        }
    }
    print!("{table}");
    for (suite, test, why) in suites::LEFT_OUT {
        println!("left out: {suite} {test}: {why}");
    }
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("failed, or without tests: {}", failed.join(", "));
    ExitCode::FAILURE
}

/// The number in the closing line of a test program.
fn passed(text: &str) -> usize {
    let line = text.lines().rev().find_map(|line| line.strip_prefix("test result: "));
    line.and_then(|line| line.split(" passed").next()?.rsplit(' ').next()?.parse().ok()).unwrap_or(0)
}
