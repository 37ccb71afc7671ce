//! A million hosts at once, in a process of their own whose memory is looked at.
mod common;

use common::{alone, count, counter, resident, role, runtime, tick};
use lamprey::{Builder, channel, spawn, yield_now};

const MILLION: usize = 1_000_000;

fn check_memory(before: usize, hosts: usize) {
    let each = (resident() - before) / hosts;
    eprintln!("{hosts} hosts blocked, {each} bytes each");
    // One page of stack, the packet, the handle: 4.4 KiB where the compiler makes small frames.
    assert!(each < 6 << 10, "{each} bytes each");
}

#[test]
fn a_million_hosts_wait_on_one_channel() {
    const ME: &str = "a_million_hosts_wait_on_one_channel";
    if role().is_none() {
        return alone(ME);
    }
    runtime(1).run(|| {
        let before = resident();
        let (tx, rx) = channel::<u64>();
        let begun = counter();
        let mut hosts = Vec::with_capacity(MILLION);
        for n in 0..MILLION {
            let (rx, begun) = (rx.clone(), begun.clone());
            let host = Builder::new().stack_size(16 << 10).spawn(move || {
                tick(&begun);
                rx.recv().unwrap()
            });
            hosts.push(host.unwrap());
            if n % 256 == 0 {
                yield_now();
            }
        }
        while count(&begun) < MILLION {
            yield_now();
        }
        check_memory(before, MILLION);
        (0..MILLION as u64).for_each(|n| tx.send(n).unwrap());
        let sum: u64 = hosts.into_iter().map(|host| host.join().unwrap()).sum();
        assert_eq!(sum, (0..MILLION as u64).sum::<u64>());
        // Their stacks serve others.
        assert_eq!(spawn(|| 1).join().unwrap(), 1);
    });
}

#[test]
#[ignore = "minutes: run with --ignored"]
fn a_million_hosts_wait_each_on_its_own_channel_over_two_workers() {
    const ME: &str = "a_million_hosts_wait_each_on_its_own_channel_over_two_workers";
    if role().is_none() {
        return alone(ME);
    }
    runtime(2).run(|| {
        let before = resident();
        let begun = counter();
        let mut hosts = Vec::with_capacity(MILLION);
        for n in 0..MILLION {
            let begun = begun.clone();
            let (tx, rx) = channel::<usize>();
            let host = Builder::new().spread().spawn(move || {
                tick(&begun);
                rx.recv().unwrap()
            });
            hosts.push((tx, host.unwrap()));
            if n % 256 == 0 {
                yield_now();
            }
        }
        while count(&begun) < MILLION {
            lamprey::sleep(std::time::Duration::from_millis(1));
        }
        check_memory(before, MILLION);
        hosts.iter().enumerate().for_each(|(n, (tx, _))| tx.send(n).unwrap());
        assert!(hosts.into_iter().enumerate().all(|(n, (_, host))| host.join().unwrap() == n));
    });
}

#[test]
fn a_hundred_thousand_hosts_end_with_their_runtime() {
    const ME: &str = "a_hundred_thousand_hosts_end_with_their_runtime";
    if role().is_none() {
        return alone(ME);
    }
    let drops = counter();
    let theirs = drops.clone();
    let runtime = runtime(2);
    runtime.run(|| {
        let (_tx, rx) = channel::<u8>();
        let begun = counter();
        for n in 0..100_000 {
            let (rx, begun, held) = (rx.clone(), begun.clone(), common::Counted(theirs.clone()));
            drop(spawn(move || {
                let _held = held;
                tick(&begun);
                let _ = rx.recv();
            }));
            if n % 256 == 0 {
                yield_now();
            }
        }
        common::eventually("their calls", || count(&begun) == 100_000);
        std::mem::forget(_tx);
    });
    drop(runtime);
    assert_eq!(count(&drops), 100_000);
    eprintln!("ended: {} bytes each left", resident() / 100_000);
}

#[test]
fn a_million_offers_that_lose_leave_nothing() {
    const ME: &str = "a_million_offers_that_lose_leave_nothing";
    if role().is_none() {
        return alone(ME);
    }
    use lamprey::event::{Event, choose};
    runtime(2).run(|| {
        let ((tx, rx), (never, quiet)) = (channel::<u64>(), channel::<u64>());
        // Others wait there too, so the offers that lose lie in a list, between them.
        let others: Vec<_> = (0..3)
            .map(|_| {
                let quiet = quiet.clone();
                spawn(move || quiet.recv())
            })
            .collect();
        let sender =
            Builder::new().worker(1).spawn(move || (0..MILLION as u64).try_for_each(|n| tx.send(n))).unwrap();
        let receive = |count: usize| {
            for _ in 0..count {
                choose([quiet.recv_evt(), rx.recv_evt()]).sync().unwrap();
            }
        };
        receive(MILLION / 10);
        let before = resident();
        receive(MILLION - MILLION / 10);
        let grown = resident().saturating_sub(before);
        eprintln!("{MILLION} choices, {} bytes each", grown as f64 / MILLION as f64);
        assert!(grown < 1 << 20, "{grown} bytes");
        sender.join().unwrap().unwrap();
        drop(never);
        others.into_iter().for_each(|other| assert!(other.join().unwrap().is_err()));
    });
}
