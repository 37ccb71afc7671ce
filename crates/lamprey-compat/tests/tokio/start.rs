//! A runtime that cannot be started, in a process of its own.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::{self, Read};
use std::panic::catch_unwind;
use std::process::Command;
use std::{env, fs};

const CHILD: &str = "LAMPREY_COMPAT_TEST_WITHOUT";

fn without(what: &str) -> String {
    let test = "start::the_child";
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, what);
    let output = command.output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    text
}

#[test]
fn without_descriptors_the_error_says_so_and_a_later_call_works() {
    let text = without("descriptors");
    assert!(text.contains("error: tokio's runtime cannot be started: Too many open files"), "{text}");
    assert!(text.contains("panic: lamprey_compat::tokio: tokio's runtime cannot be started"), "{text}");
    assert!(text.contains("later: works"), "{text}");
}

#[test]
fn without_a_kernel_thread_the_error_says_so_and_a_later_call_works() {
    let text = without("memory");
    assert!(
        text.contains("error: tokio's runtime cannot be started: OS can't spawn worker thread"),
        "{text}"
    );
    assert!(text.contains("later: works"), "{text}");
}

/// Not a test of its own: nothing, unless it is the child.
#[test]
fn the_child() {
    let Ok(what) = env::var(CHILD) else { return };
    // An OS thread polls, because workers of Lamprey could not be started either.
    let (resource, used) = match &*what {
        "descriptors" => (Resource::Nofile, fs::read_dir("/proc/self/fd").unwrap().count() as u64 - 1),
        _ => (Resource::As, address_space().unwrap()),
    };
    let before = getrlimit(resource);
    setrlimit(resource, Rlimit { current: Some(used), ..before }).unwrap();
    let error = lamprey_compat::tokio::handle().unwrap_err();
    let panic = catch_unwind(|| lamprey_compat::tokio(async {}).wait()).unwrap_err();
    setrlimit(resource, before).unwrap();
    println!("error: {error}");
    println!("panic: {}", panic.downcast::<String>().unwrap());
    lamprey_compat::tokio(crate::nap(std::time::Duration::ZERO)).wait();
    println!("later: works");
}

/// What is in use now, and a little more, in bytes.
fn address_space() -> io::Result<u64> {
    let mut text = String::new();
    fs::File::open("/proc/self/statm")?.read_to_string(&mut text)?;
    let pages: u64 = text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or_default();
    Ok(pages * 4096 + (1 << 20))
}
