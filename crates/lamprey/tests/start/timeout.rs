//! A `#[lamprey::test]` that is over its limit: who is printed, and that it never passes. Each in a process of its own.

use crate::common::{again, outcome, rerun, role};
use lamprey::{Builder, Receiver, channel, shield, spawn};
use std::process::Output;
use std::time::Duration;

#[inline(never)]
fn count(till: &Receiver<u32>) {
    let _ = till.recv();
    std::hint::black_box(());
}

/// Runs `test`, which hangs where it has a role, with a limit that is long enough for its threads to start.
fn late(test: &str) -> (Output, String) {
    let mut command = again(test, "hang");
    command.env("LAMPREY_TEST_TIMEOUT", "2s");
    outcome(command)
}

/// The test's summary: the process has not ended before it.
fn goes_on(stdout: &[u8]) -> bool {
    String::from_utf8_lossy(stdout).contains("1 failed")
}

#[lamprey::test(timeout = "5s")]
fn hangs() {
    if role().is_none() {
        return;
    }
    let (_tx, rx) = channel::<u32>();
    let till = Builder::new().name("till").spawn(move || count(&rx)).unwrap();
    for _ in 0..20 {
        spawn(|| lamprey::sleep(Duration::MAX));
    }
    till.join().unwrap();
}

#[test]
fn the_threads_that_are_stuck_are_printed() {
    let (output, text) = rerun("hangs", "hang");
    assert_eq!(output.status.code(), Some(101), "{text}");
    assert!(goes_on(&output.stdout), "{output:?}");
    assert!(text.contains("the test `start::timeout::hangs` is not over after 5s"), "{text}");
    assert!(text.contains("these 22 threads"), "{text}");
    let line = |name: &str| text.lines().find(|line| line.contains(&format!("`{name}`"))).expect(&text);
    let till = text.lines().find(|line| line.starts_with("host") && line.contains("`till`")).expect(&text);
    assert!(till.contains("waits: receive on a channel for "), "{till}");
    assert!(till.contains("tests/start/timeout.rs:"), "{till}");
    assert!(line("hangs").contains("waits: join"), "{text}");
    assert_eq!(text.matches("waits: sleep").count(), 1, "alike ones are counted: {text}");
    assert!(text.contains("; and 19 others in the same way"), "{text}");
    assert!(text.contains("timeout::count"), "its stack: {text}");
}

#[lamprey::test]
fn cannot_be_ended() {
    if role().is_some() {
        let (_tx, rx) = channel();
        shield(|| count(&rx));
    }
}

#[test]
fn what_cannot_be_ended_ends_the_process() {
    let (output, text) = late("cannot_be_ended");
    assert_eq!(output.status.code(), Some(101), "{text}");
    assert!(!goes_on(&output.stdout), "{output:?}");
    assert!(text.contains("waits: receive on a channel"), "{text}");
    assert!(text.contains("1 of its threads cannot be ended, so the process ends here"), "{text}");
}

#[lamprey::test]
fn computes() {
    while role().is_some() {
        std::hint::spin_loop();
    }
}

#[test]
fn one_that_computes_is_printed_too() {
    let (output, text) = late("computes");
    assert_eq!(output.status.code(), Some(101), "{text}");
    let line = text.lines().find(|line| line.starts_with("host")).expect(&text);
    assert!(line.contains("`computes`") && line.contains(", runs"), "{text}");
    assert!(text.contains("timeout::computes"), "its stack: {text}");
}

#[lamprey::test]
#[should_panic]
fn is_to_panic() {
    if role().is_some() {
        lamprey::sleep(Duration::MAX);
    }
    panic!("as it should");
}

#[test]
fn a_test_that_is_to_panic_does_not_pass_by_being_late() {
    let (output, text) = late("is_to_panic");
    assert_eq!(output.status.code(), Some(101), "{text}");
    assert!(text.contains("must not pass by a panic"), "{text}");
    assert!(text.contains("waits: sleep"), "{text}");
}

#[lamprey::test]
async fn waits_for_ever() {
    if role().is_some() {
        std::future::pending::<()>().await;
    }
}

#[test]
fn the_environment_replaces_the_limit() {
    let (output, text) = late("waits_for_ever");
    assert_eq!(output.status.code(), Some(101), "{text}");
    assert!(text.contains("is not over after 2s"), "{text}");
    assert!(
        text.contains("this thread has not ended") && text.contains("waits: wait for a future"),
        "{text}"
    );

    for (value, passes) in [("off", true), ("1h", true), ("soon", false)] {
        let mut command = again("answers_late", "late");
        command.env("LAMPREY_TEST_TIMEOUT", value);
        let (output, text) = outcome(command);
        assert_eq!(output.status.success(), passes, "{value}: {text}");
        let told = "LAMPREY_TEST_TIMEOUT is \"soon\": it must be a time such as 90s or 5m, or `off`";
        assert_eq!(text.contains(told), !passes, "{value}: {text}");
    }
}

#[lamprey::test]
fn answers_late() {
    lamprey::sleep(Duration::from_millis(50));
}
