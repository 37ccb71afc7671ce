//! The command's exit codes, and that a disturbed program still ends.

use std::process::{Command, Output};

fn jitter(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_jitter")).args(arguments).output().unwrap()
}

#[test]
fn the_commands_exit_code_is_passed_on() {
    assert_eq!(jitter(&["5", "true"]).status.code(), Some(0));
    assert_eq!(jitter(&["5", "sh", "-c", "exit 7"]).status.code(), Some(7));
    assert_eq!(jitter(&["5", "sh", "-c", "kill -9 $$"]).status.code(), Some(128 + 9));
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (arguments, said) in [
        (&[][..], "usage"),
        (&["5"], "usage"),
        (&["soon", "true"], "`soon`"),
        (&["0", "true"], "`0`"),
        (&["5", "no-such-command"], "`no-such-command`"),
    ] {
        let output = jitter(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains(said) && text.lines().count() == 1, "{arguments:?}: {text}");
    }
}

/// The program that the other test disturbs: this test binary again.
#[test]
fn threads_that_hand_on_a_number() {
    if std::env::var_os("JITTER_TEST_ROLE").is_none() {
        return;
    }
    let (first, mut last) = std::sync::mpsc::channel::<u32>();
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let (tx, rx) = std::sync::mpsc::channel();
            let from = std::mem::replace(&mut last, rx);
            std::thread::spawn(move || from.iter().for_each(|n| tx.send(n + 1).unwrap()))
        })
        .collect();
    (0..100).for_each(|n| {
        first.send(n).unwrap();
        assert_eq!(last.recv().unwrap(), n + 8);
    });
    drop(first);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn threads_are_stopped_and_go_on() {
    let this = std::env::current_exe().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_jitter"))
        .args(["20", this.to_str().unwrap(), "--exact", "threads_that_hand_on_a_number"])
        .env("JITTER_TEST_ROLE", "disturbed")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {text}", output.status);
    let stalls = text
        .lines()
        .find_map(|line| line.strip_prefix("jitter: ")?.strip_suffix(" stalls")?.parse::<u32>().ok());
    assert!(stalls.expect("it says how often") > 0, "{text}");
}
