//! What a runtime leaves behind in the process: nothing. One test, so that no other's threads are counted.
mod common;

use common::{again, eventually, outcome, role, runtime};
use lamprey::{block, channel, spawn};
use std::fs;

/// The process's kernel threads that belong to a runtime.
fn threads() -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| name.starts_with("lamprey")).count()
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

fn address_space_pages() -> usize {
    let statm = fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').next().unwrap().parse().unwrap()
}

fn cycle() {
    let runtime = runtime(3);
    runtime.run(|| {
        let (tx, rx) = channel::<u8>();
        let hosts: Vec<_> = (0..100)
            .map(|_| {
                let rx = rx.clone();
                spawn(move || rx.recv())
            })
            .collect();
        block(|| ());
        drop(tx);
        hosts.into_iter().for_each(|host| drop(host.join()));
    });
    assert!(threads() >= 3);
}

#[test]
fn threads_descriptors_and_memory_are_given_back() {
    const ME: &str = "threads_descriptors_and_memory_are_given_back";
    if role().is_none() {
        // One arena, so that the growth of the address space is not malloc's.
        let mut command = again(ME, "child");
        command.env("MALLOC_ARENA_MAX", "1");
        let (output, text) = outcome(command);
        assert!(output.status.success(), "{text}");
        return;
    }
    for _ in 0..3 {
        cycle();
    }
    eventually("the end of the threads", || threads() == 0);
    let (open, pages) = (descriptors(), address_space_pages());
    for _ in 0..30 {
        cycle();
    }
    // The kernel takes a thread out of the list a moment after it has ended.
    eventually("the end of the threads", || threads() == 0);
    assert_eq!(descriptors(), open);
    let more = address_space_pages().saturating_sub(pages);
    assert!(more < 20 << 8, "{more} pages of address space more after 30 runtimes");
}
