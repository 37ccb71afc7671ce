//! Millions of stackless parasites at once, in a process of their own whose memory is looked at.

use crate::common::{alone, quiet, resident, role};
use lamprey::{channel, parasite};

/// Ten million where the compiler has optimised; four in a build for debugging.
const CROWD: usize = if cfg!(debug_assertions) { 4_000_000 } else { 10_000_000 };

#[test]
fn ten_million_wait_on_one_channel_in_96_bytes_each_and_give_them_back() {
    const ME: &str = "ten_million_wait_on_one_channel_in_96_bytes_each_and_give_them_back";
    if role().is_none() {
        return alone(ME);
    }
    // A spawner that is held up for a time slice would make hosts of the next ones.
    quiet().workers(1).inflation(false).build().unwrap().run(|| {
        let (tx, rx) = channel::<u64>();
        let rx: &'static lamprey::Receiver<u64> = Box::leak(Box::new(rx));
        let before = resident();
        for _ in 0..CROWD {
            parasite(async move { rx.recv_async().await.is_ok() }).detach();
        }
        let each = (resident() - before) as f64 / CROWD as f64;
        // Where debug assertions are on it keeps where it was spawned, and what it waits for, too.
        let most = if cfg!(debug_assertions) { 120.0 } else { 96.0 };
        assert!(each <= most, "{each} bytes each");
        for n in 0..CROWD as u64 {
            tx.send(n).unwrap();
            if n % 512 == 0 {
                lamprey::yield_now();
            }
        }
        // An idle worker gives the memory back after a second.
        for _ in 0..10 {
            lamprey::sleep(std::time::Duration::from_millis(1500));
            if resident() - before < CROWD * most as usize / 4 {
                return;
            }
        }
        panic!("{} MiB are still held", (resident() - before) >> 20);
    });
}

#[test]
fn ten_million_take_turns_in_48_bytes_each() {
    const ME: &str = "ten_million_take_turns_in_48_bytes_each";
    if role().is_none() {
        return alone(ME);
    }
    let runtime = quiet().workers(1).inflation(false).build().unwrap();
    let each = runtime.run(|| {
        let before = resident();
        for _ in 0..CROWD {
            parasite(async {
                loop {
                    lamprey::yield_now_async().await;
                }
            })
            .detach();
        }
        (0..100).for_each(|_| lamprey::yield_now());
        (resident() - before) as f64 / CROWD as f64
    });
    let most = if cfg!(debug_assertions) { 66.0 } else { 49.0 };
    assert!(each <= most, "{each} bytes each");
    drop(runtime); // ends them all
}
