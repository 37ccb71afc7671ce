//! `#[lamprey::test]`: the forms of functions that it takes, and what fails them.

use crate::common::{outcome, rerun, role};
use lamprey::{ThreadKind, channel, current, spawn};
use std::error::Error;
use std::rc::Rc;

fn workers() -> usize {
    lamprey::Handle::current().unwrap().workers()
}

#[lamprey::test(from_env = false)]
fn a_function_runs_on_a_host_that_has_its_name() {
    assert_eq!(current().kind(), ThreadKind::Host);
    assert_eq!(current().name(), Some("a_function_runs_on_a_host_that_has_its_name"));
    assert!(current().spawn_site().unwrap().to_string().contains("attributes.rs"));
    assert_eq!(workers(), 2);
}

#[lamprey::test]
async fn an_async_function_may_keep_what_is_not_send() {
    let (tx, rx) = channel();
    let count = Rc::new(1);
    spawn(move || tx.send(41).unwrap());
    assert_eq!(rx.recv_async().await.unwrap() + *count, 42);
}

#[lamprey::test(workers = 3, from_env = false, stack_size = 512 << 10, timeout = 600,)]
pub(crate) fn all_arguments_at_once() -> () {
    assert_eq!(workers(), 3);
    let bytes = std::hint::black_box([1_u8; 300 << 10]);
    assert_eq!(bytes[bytes.len() - 1], 1);
}

#[lamprey::test]
fn an_error_need_not_be_send() -> Result<(), Box<dyn Error>> {
    assert_eq!("7".parse::<u32>()?, 7);
    Ok(())
}

#[lamprey::test]
async fn nor_that_of_an_async_function() -> Result<(), Box<dyn Error>> {
    lamprey::yield_now_async().await;
    Ok(())
}

#[lamprey::test]
#[should_panic(expected = "no ink")]
fn a_panic_is_that_of_the_test() {
    panic!("no ink");
}

#[lamprey::test]
#[should_panic(expected = "no paper")]
async fn so_is_that_of_another_thread() {
    spawn(|| panic!("no paper"));
    lamprey::sleep_async(std::time::Duration::MAX).await;
}

/// A thread that is running when the test returns ends first, and its panic counts.
#[lamprey::test]
#[should_panic(expected = "no time")]
fn so_is_that_of_one_that_is_still_running() {
    let (tell, told) = lamprey::oneshot();
    spawn(move || {
        tell.send(()).unwrap();
        // No call that waits, so the test has returned by then.
        std::thread::sleep(std::time::Duration::from_millis(100));
        panic!("no time");
    });
    told.recv().unwrap();
}

#[lamprey::test]
fn a_panic_that_was_joined_is_not() {
    spawn(|| panic!("seen")).join().unwrap_err();
}

/// Attributes stay where they are.
#[lamprey::test]
#[ignore = "must not run: --include-ignored gives a role"]
#[allow(unused_variables, reason = "also of what is within")]
fn attributes_are_kept() {
    let unused = 1;
    assert!(role().is_some(), "it ran");
}

#[lamprey::test]
#[cfg(any())]
fn left_out() {
    let no_such_name: u32 = no_such_function();
}

#[other::test(crate = ::other)]
async fn by_another_name_of_the_crate() {
    assert_eq!(other::current().kind(), ThreadKind::Host);
}

macro_rules! tests {
    ($($(#[$meta:meta])* $vis:vis $name:ident: $body:block)*) => {
        $(#[lamprey::test(workers = 1, from_env = false)] $(#[$meta])* $vis fn $name() $body)*
    };
}

tests! {
    /// Made by a macro.
    #[should_panic]
    a_macro_makes_one: { assert_eq!(workers(), 2) }
    pub(super) and_another: { assert_eq!(workers(), 1) }
}

#[lamprey::test]
fn what_a_test_leaves_behind_ends_with_it() {
    // A host that waits for ever does not hold the test up.
    spawn(|| lamprey::sleep(std::time::Duration::MAX));
}

#[test]
fn an_error_fails_the_test_and_is_printed() {
    let (output, text) = rerun("returns_an_error", "err");
    assert!(!output.status.success(), "{text}");
    assert!(text.contains("Error: ") && text.contains("InvalidDigit"), "{text}");
}

#[lamprey::test]
fn returns_an_error() -> Result<(), std::num::ParseIntError> {
    if role().is_some() { "x".parse::<u32>().map(drop) } else { Ok(()) }
}

#[test]
fn a_bad_environment_fails_the_test() {
    let mut command = crate::common::again("returns_an_error", "never");
    command.env("LAMPREY_WORKERS", "many");
    let (output, text) = outcome(command);
    assert!(!output.status.success(), "{text}");
    assert!(text.contains("`start::attributes::returns_an_error` cannot start"), "{text}");
    assert!(text.contains("LAMPREY_WORKERS is \"many\": it must be a number from 1 to 1024"), "{text}");
}
