//! A worker that is held up while others wait for it: who holds it up is named on standard error, once. Each
//! in a process of its own.

use crate::common::{FOREVER, again, outcome, role, within};
use lamprey::Runtime;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_millis(60);
/// For a host that holds up nobody as long as the system leaves it the processor.
const LONG_LIMIT: Duration = Duration::from_secs(2);

fn compute_for(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Computes until the report has been made, as the parent process sees it on the pipe and says by closing
/// standard input.
fn until_reported() {
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_line(&mut String::new());
        IS_OVER.store(true, Ordering::Release);
    });
    while !IS_OVER.load(Ordering::Acquire) {
        std::hint::spin_loop();
    }
}

fn act(how: &str) {
    let limit = if how == "busy" { LONG_LIMIT } else { LIMIT };
    let runtime = Runtime::builder().workers(1).stuck_after(limit).build().unwrap();
    match how {
        "ready host" => runtime.run(|| {
            let waits = lamprey::spawn(|| ());
            until_reported();
            waits.join().unwrap();
        }),
        "timer" => runtime.run(|| {
            let waits = lamprey::spawn(|| lamprey::sleep(Duration::from_millis(20)));
            lamprey::yield_now();
            until_reported();
            waits.join().unwrap();
        }),
        "message from outside" => runtime.run(|| {
            let (tx, rx) = lamprey::channel();
            let waits = lamprey::spawn(move || rx.recv().unwrap());
            lamprey::yield_now();
            std::thread::spawn(move || tx.send(1).unwrap());
            until_reported();
            waits.join().unwrap();
        }),
        "parasite" => runtime.run(|| {
            let waits = lamprey::spawn(|| ());
            drop(lamprey::parasite(async { until_reported() }).join());
            waits.join().unwrap();
        }),
        "in the kernel" => runtime.run(|| {
            let waits = lamprey::spawn(|| ());
            let _ = std::io::stdin().read_line(&mut String::new());
            waits.join().unwrap();
        }),
        // Nobody is named.
        "alone" => runtime.run(|| compute_for(8 * LIMIT)),
        "with blocked ones" => runtime.run(|| {
            let (tx, rx) = lamprey::channel::<u8>();
            let waits = lamprey::spawn(move || rx.recv().unwrap_err());
            lamprey::yield_now();
            compute_for(8 * LIMIT);
            drop(tx);
            waits.join().unwrap();
        }),
        "busy" => runtime.run(|| {
            let other = lamprey::spawn(|| (0..30).for_each(|_| lamprey::yield_now()));
            (0..30).for_each(|_| {
                compute_for(LONG_LIMIT / 20);
                lamprey::yield_now();
            });
            other.join().unwrap();
        }),
        "idle" => runtime.run(|| lamprey::sleep(8 * LIMIT)),
        other => panic!("{other}"),
    }
}

#[test]
fn who_holds_a_worker_up_is_named_once() {
    const ME: &str = "who_holds_a_worker_up_is_named_once";
    if let Some(how) = role() {
        return act(&how);
    }
    for how in ["ready host", "timer", "message from outside", "parasite", "in the kernel"] {
        let mut command = again(ME, how);
        let mut process = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let reports =
            |line: &Result<String, _>| line.as_ref().is_ok_and(|line| line.contains("has been held up for"));
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let (report, lines) = within(FOREVER, move || (lines.find(reports).unwrap().unwrap(), lines));
        assert!(report.contains("worker 0") && report.contains("tests/sched/silent.rs:"), "{how}: {report}");
        assert_eq!(report.contains("parasite `sched::silent::act"), how == "parasite", "{how}: {report}");
        drop(process.stdin.take());
        assert_eq!(within(FOREVER, move || lines.filter(reports).count()), 0, "{how}");
        assert!(within(FOREVER, move || process.wait().unwrap()).success(), "{how}");
    }
}

#[test]
fn who_holds_up_nobody_is_not_named() {
    const ME: &str = "who_holds_up_nobody_is_not_named";
    if let Some(how) = role() {
        return act(&how);
    }
    for how in ["alone", "with blocked ones", "busy", "idle"] {
        let (output, text) = outcome(again(ME, how));
        assert!(output.status.success(), "{how}: {text}");
        assert!(!text.contains("held up"), "{how}: {text}");
    }
}
