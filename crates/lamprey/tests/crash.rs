//! How a process ends when a host outgrows its stack or touches what it must not, and what a panic prints.
//! Each in a process of its own.
mod common;

use common::{again, outcome, rerun, role, runtime};
use lamprey::Builder;
use std::hint::black_box;
use std::os::unix::process::ExitStatusExt;

#[inline(never)]
#[expect(unconditional_recursion, reason = "this is the test")]
fn without_end(n: u64) -> u64 {
    let frame = black_box([n; 16]);
    without_end(n + 1) + frame[3]
}

#[test]
fn an_overflow_names_the_host_its_size_and_its_spawn_site() {
    const ME: &str = "an_overflow_names_the_host_its_size_and_its_spawn_site";
    const LINE: u32 = line!() + 4;
    if let Some(bytes) = role() {
        let bytes: usize = bytes.parse().unwrap();
        runtime(2).run(move || {
            let host = Builder::new().name("deep").stack_size(bytes).spawn(|| without_end(0));
            host.unwrap().join().unwrap();
        });
        return;
    }
    for bytes in [16 << 10, 64 << 10, 256 << 10, 1 << 20_usize] {
        let (output, text) = rerun(ME, &bytes.to_string());
        assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{bytes}: {text}");
        let report = text.lines().find(|line| line.contains("stack overflow")).expect(&text);
        assert!(report.contains("`deep`"), "{report}");
        assert!(report.contains(&format!("spawned at crates/lamprey/tests/crash.rs:{LINE}:")), "{report}");
        let size: usize = report.split("size ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        assert!((bytes..bytes + (8 << 10)).contains(&size), "{bytes}: {report}");
        assert!(report.contains("high-water mark"), "{report}");
    }
}

/// Of each kind of thread, the one that the program has spawned is named, with the program's line; and its
/// stack is shown.
#[test]
fn an_overflow_names_the_spawn_of_the_program_and_shows_the_stack() {
    const ME: &str = "an_overflow_names_the_spawn_of_the_program_and_shows_the_stack";
    if let Some(kind) = role() {
        runtime(2).run(move || overflow_as(&kind));
        return;
    }
    let here = "spawned at crates/lamprey/tests/crash.rs:";
    for (kind, what) in [
        ("main", "host"),
        ("scope", "host"),
        ("join_all", "host"),
        ("supervisor", "host"),
        ("first poll", "parasite `crash::overflow_as"),
        ("woken", "parasite `crash::overflow_as"),
        ("woken by a timer", "parasite `crash::overflow_as"),
        ("stackful", "parasite"),
    ] {
        let (output, text) = rerun(ME, kind);
        assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{kind}: {text}");
        let report = text.lines().find(|line| line.contains("stack overflow in")).expect(&text);
        let (_, who) = report.split_once("stack overflow in ").unwrap();
        assert!(who.starts_with(what), "{kind}: {report}");
        // A parasite's own spawn site is known where debug assertions are on, and so is always that of the
        // host that it runs on.
        assert!(who.contains(here) || !cfg!(debug_assertions), "{kind}: {report}");
        assert!(!report.contains("lamprey/src/"), "{kind}: {report}");
        assert!(text.contains("LAMPREY_STACK_SIZE"), "{kind}: {text}");
        assert!(text.contains("without_end") && text.contains(" times, and then:"), "{kind}: {text}");
        let numbers =
            text.lines().filter_map(|line| line.trim_start().split_once(": ")?.0.parse::<u32>().ok());
        assert!(numbers.max() > Some(100), "the outermost calls are shown: {kind}: {text}");
    }
}

fn overflow_as(kind: &str) {
    let (tx, rx) = lamprey::channel();
    match kind {
        "main" => assert_eq!(without_end(0), 0),
        "scope" => lamprey::scope(|s| drop(s.spawn(|| without_end(0)))),
        "join_all" => drop(lamprey::scope::join_all([|| without_end(0)])),
        "supervisor" => {
            let child = || if without_end(0) == 0 { Ok(()) } else { Err("it came back") };
            let restart = lamprey::scope::Restart::Never;
            lamprey::scope::Supervisor::typed().child("deep", restart, child).run().unwrap();
        }
        "first poll" => drop(lamprey::parasite(async { without_end(0) }).join()),
        "woken" => {
            let parasite = lamprey::parasite(async move {
                rx.recv_async().await.unwrap();
                without_end(0)
            });
            tx.send(1).unwrap();
            drop(parasite.join());
        }
        "woken by a timer" => {
            let parasite = lamprey::parasite(async {
                lamprey::sleep_async(std::time::Duration::from_millis(1)).await;
                without_end(0)
            });
            drop(parasite.join());
        }
        _ => drop(lamprey::parasite_fn(|| without_end(0)).join()),
    }
}

/// A stackful parasite is named with its own name, size and spawn site: at once, after it has blocked, and as a host.
#[test]
fn an_overflow_names_the_stackful_parasite_its_size_and_its_spawn_site() {
    const ME: &str = "an_overflow_names_the_stackful_parasite_its_size_and_its_spawn_site";
    const LINE: u32 = line!() + 6;
    const BYTES: usize = 100 << 10;
    if let Some(when) = role() {
        runtime(1).run(move || {
            let (tx, rx) = lamprey::channel();
            let builder = Builder::new().name("deep").stack_size(BYTES);
            let parasite = builder.parasite_fn(move || {
                match &*when {
                    "at once" => {}
                    "inflated" => lamprey::parasite::inflate().sync(),
                    _ => rx.recv().unwrap(),
                }
                without_end(0)
            });
            let _ = tx.send(());
            drop(parasite.unwrap().join());
        });
        return;
    }
    for when in ["at once", "woken", "inflated"] {
        let (output, text) = rerun(ME, when);
        assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{when}: {text}");
        let report = text.lines().find(|line| line.contains("stack overflow in parasite ")).expect(&text);
        assert!(report.contains("`deep`"), "{when}: {report}");
        assert!(report.contains(&format!("spawned at crates/lamprey/tests/crash.rs:{LINE}:")), "{report}");
        let size: usize = report.split("size ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        assert!((BYTES..(256 << 10) + (8 << 10)).contains(&size), "{when}: {report}");
        assert!(text.contains("without_end") && text.contains(" times, and then:"), "{when}: {text}");
        assert!(text.contains("For this thread: Builder::stack_size"), "{when}: {text}");
    }
}

#[inline(never)]
fn has_a_large_frame(byte: u8) -> u8 {
    black_box(&mut [byte; 400 << 10])[17]
}

#[inline(never)]
fn calls_a_large_frame() -> u8 {
    black_box(has_a_large_frame(black_box(1)))
}

/// It does not recurse: who calls it is what helps.
#[test]
#[cfg_attr(target_arch = "aarch64", ignore = "the loop that touches the frame's pages is not known there")]
fn an_overflow_by_one_large_frame_shows_who_calls_it() {
    const ME: &str = "an_overflow_by_one_large_frame_shows_who_calls_it";
    if role().is_some() {
        runtime(1)
            .run(|| Builder::new().stack_size(64 << 10).spawn(calls_a_large_frame).unwrap().join().unwrap());
        return;
    }
    let (output, text) = rerun(ME, "child");
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{text}");
    assert!(text.contains("has_a_large_frame") && text.contains("calls_a_large_frame"), "{text}");
}

#[test]
fn the_environment_sets_the_size_of_stacks() {
    const ME: &str = "the_environment_sets_the_size_of_stacks";
    if let Some(who) = role() {
        if who == "bad" {
            let error = lamprey::Runtime::builder().workers(1).build().unwrap_err();
            eprintln!("refused: {error}");
            return;
        }
        runtime(1).run(move || {
            if who == "main" { without_end(0) } else { lamprey::spawn(|| without_end(0)).join().unwrap() }
        });
        return;
    }
    for (who, set, size) in [
        ("host", "300000", 300_000),
        ("host", "2M", 2 << 20),
        ("main", "2M", 2 << 20),
        ("main", "64K", 1 << 20),
    ] {
        let mut command = again(ME, who);
        command.env("LAMPREY_STACK_SIZE", set);
        let (_, text) = outcome(command);
        let report = text.lines().find(|line| line.contains("stack overflow in")).expect(&text);
        let got: usize = report.split("size ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        assert!((size..size + (8 << 10)).contains(&got), "{who} with {set}: {report}");
    }
    for set in ["much", "0", "2G", "-1"] {
        let mut command = again(ME, "bad");
        command.env("LAMPREY_STACK_SIZE", set);
        let (output, text) = outcome(command);
        assert!(output.status.success(), "{text}");
        assert!(text.contains(&format!("refused: LAMPREY_STACK_SIZE is \"{set}\"")), "{text}");
    }
}

#[test]
fn an_overflow_while_unwinding_or_in_a_destructor_is_told_too() {
    const ME: &str = "an_overflow_while_unwinding_or_in_a_destructor_is_told_too";
    struct Deep;
    impl Drop for Deep {
        fn drop(&mut self) {
            black_box(without_end(0));
        }
    }
    if role().is_some() {
        let runtime = runtime(1);
        let host = Builder::new().name("falling").spawn_in(&runtime.handle(), || {
            let _deep = Deep;
            panic!("first a panic");
        });
        let _: Result<(), _> = host.unwrap().join();
        return;
    }
    let (output, text) = rerun(ME, "child");
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{text}");
    assert!(text.contains("stack overflow in host") && text.contains("`falling`"), "{text}");
}

#[test]
fn a_wild_access_takes_the_default_way() {
    const ME: &str = "a_wild_access_takes_the_default_way";
    if let Some(role) = role() {
        let wild = move || {
            let address = black_box(std::ptr::without_provenance_mut::<u8>(0x10));
            // SAFETY: none: the fault is what the test is about.
            unsafe { address.write_volatile(1) };
        };
        let runtime = runtime(1);
        match &*role {
            "in a host" => drop(runtime.handle().spawn(wild).join()),
            _ => wild(),
        }
        return;
    }
    for role in ["in a host", "outside"] {
        let (output, text) = rerun(ME, role);
        assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{role}: {text}");
        assert!(!text.contains("overflow"), "{role}: {text}");
    }
}

#[test]
fn the_main_threads_own_overflow_still_has_its_message() {
    const ME: &str = "the_main_threads_own_overflow_still_has_its_message";
    if role().is_some() {
        let runtime = runtime(1);
        black_box(without_end(0)); // a thread of the test harness
        drop(runtime);
        return;
    }
    let (output, text) = rerun(ME, "child");
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{text}");
    assert!(text.contains("has overflowed its stack") && !text.contains("in host"), "{text}");
}

#[inline(never)]
fn a_function_of_the_host() {
    black_box(());
    panic!("look at the backtrace");
}

#[test]
fn a_backtrace_begins_at_the_panic_and_ends_at_the_hosts_entry() {
    const ME: &str = "a_backtrace_begins_at_the_panic_and_ends_at_the_hosts_entry";
    if role().is_some() {
        let runtime = runtime(1);
        let host = runtime.handle().spawn(|| {
            lamprey::yield_now();
            a_function_of_the_host();
        });
        drop(host.join());
        return;
    }
    for detail in ["1", "full"] {
        let mut command = again(ME, "child");
        command.env("RUST_BACKTRACE", detail);
        let (output, text) = outcome(command);
        assert!(output.status.success(), "{text}");
        assert!(text.contains("a_function_of_the_host"), "{detail}: {text}");
        for stranger in ["lang_start", ": clone3", "start_thread", "worker_main", "test::run_test"] {
            assert!(!text.contains(stranger), "{detail}: {stranger} in {text}");
        }
        let frames = text
            .lines()
            .filter(|line| line.trim_start().split(':').next().is_some_and(|n| n.parse::<u32>().is_ok()));
        assert!((3..60).contains(&frames.count()), "{detail}: {text}");
    }
}

#[test]
fn a_backtrace_taken_by_the_program_ends_too() {
    runtime(1).run(|| {
        let text = std::backtrace::Backtrace::force_capture().to_string();
        assert!(text.contains("a_backtrace_taken_by_the_program_ends_too"), "{text}");
        assert!(!text.contains(": clone3") && !text.contains("worker_main"), "{text}");
    });
}

#[test]
fn a_panic_while_a_panic_unwinds_aborts_as_always() {
    const ME: &str = "a_panic_while_a_panic_unwinds_aborts_as_always";
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("second");
        }
    }
    if role().is_some() {
        let runtime = runtime(1);
        let host = runtime.handle().spawn(|| {
            let _panics = Panics;
            panic!("first");
        });
        let _: Result<(), _> = host.join();
        return;
    }
    let (output, text) = rerun(ME, "child");
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{text}");
    assert!(text.contains("first") && text.contains("second"), "{text}");
}
