//! `process::exit` in a host ends the process, whatever the other workers do.

use crate::common::*;
use lamprey::{Builder, parasite, sleep};
use std::time::{Duration, Instant};

/// Hosts of worker 1 that compute and sleep by turns, and never end. Worker 0, idle between, helps them.
fn start_busy_hosts() {
    for _ in 0..4 {
        let busy = Builder::new().worker(1).spawn(|| {
            loop {
                sleep(Duration::from_millis(1));
                let start = Instant::now();
                while start.elapsed() < Duration::from_millis(5) {
                    std::hint::spin_loop();
                }
            }
        });
        drop(busy.unwrap());
    }
}

/// Runs itself again with each back-end, on two workers, and expects this code.
fn exits(name: &'static str, how: fn()) {
    if let Some(io) = role() {
        let io = if io == "uring" { lamprey::Io::Uring } else { lamprey::Io::Epoll };
        let runtime = lamprey::Runtime::builder().workers(2).io(io).build().unwrap();
        runtime.run(move || {
            start_busy_hosts();
            let (done, exits) = lamprey::oneshot();
            let main = Builder::new().worker(0).spawn(move || {
                (0..60).for_each(|_| sleep(Duration::from_millis(5)));
                how();
                done.send(()).unwrap();
            });
            drop(main.unwrap());
            exits.recv().unwrap();
        });
        unreachable!("it has not exited");
    }
    for io in ["epoll", "uring"] {
        if io == "uring" && lamprey::Io::Uring.check().is_err() {
            continue;
        }
        let status = within(FOREVER, move || again(name, io).output().unwrap());
        assert_eq!(status.status.code(), Some(3), "{io}: {}", String::from_utf8_lossy(&status.stderr));
    }
}

#[test]
fn a_host_exits_while_another_worker_is_busy() {
    exits("a_host_exits_while_another_worker_is_busy", || std::process::exit(3));
}

#[test]
fn a_parasite_exits_while_another_worker_is_busy() {
    exits("a_parasite_exits_while_another_worker_is_busy", || {
        parasite(async {
            lamprey::sleep_async(Duration::from_millis(5)).await;
            std::process::exit(3)
        })
        .join()
        .unwrap();
    });
}

#[test]
fn a_call_on_the_pool_exits_while_another_worker_is_busy() {
    exits("a_call_on_the_pool_exits_while_another_worker_is_busy", || {
        lamprey::block(|| std::process::exit(3));
    });
}
