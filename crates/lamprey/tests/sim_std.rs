//! Feature `sim-std`: what `std` asks the system for follows from the seed.

use lamprey::Runtime;
use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime};

fn program() -> (Duration, Duration, Vec<u32>) {
    let (begin, day) = (Instant::now(), SystemTime::now());
    lamprey::sleep(Duration::from_secs(3600));
    let map: HashMap<u32, ()> = (0..50).map(|key| (key, ())).collect();
    (begin.elapsed(), day.elapsed().unwrap(), map.into_keys().collect())
}

#[test]
fn clocks_and_hash_maps_follow_from_the_seed() {
    let (elapsed, of_day, order) = Runtime::simulated(1).run(program);
    assert!(elapsed >= Duration::from_secs(3600) && elapsed < Duration::from_secs(3601), "{elapsed:?}");
    assert_eq!(of_day, elapsed);
    assert_eq!(Runtime::simulated(1).run(program), (elapsed, of_day, order.clone()));
    assert_ne!(Runtime::simulated(2).run(program).2, order);
}

#[test]
fn deadlines_by_the_clock_of_std_are_met() {
    Runtime::simulated(1).run(|| {
        let (_tx, rx) = lamprey::channel::<()>();
        let limit = Duration::from_secs(60);
        let deadline = Instant::now() + limit;
        assert!(rx.recv_timeout(limit).is_err());
        assert!(Instant::now() >= deadline && Instant::now() < deadline + limit);
    });
}

#[test]
fn a_simulation_leaves_the_clock_outside_alone() {
    let (begin, day) = (Instant::now(), SystemTime::now());
    Runtime::simulated(1).run(|| lamprey::sleep(Duration::from_secs(1_000_000)));
    assert!(begin.elapsed() < Duration::from_secs(1_000_000));
    assert!(day.elapsed().unwrap() < Duration::from_secs(1_000_000));
    std::thread::sleep(Duration::from_millis(1));
    assert!(begin.elapsed() >= Duration::from_millis(1));
}

#[test]
fn what_is_not_simulated_is_in_the_log() {
    let ((), log) = Runtime::simulated(1).run_logged(|| {
        std::thread::spawn(|| ()).join().unwrap();
        let _ = std::net::TcpListener::bind("127.0.0.1:0");
        std::thread::sleep(Duration::from_secs(1_000_000));
    });
    for what in ["a kernel thread", "a socket", "std::thread::sleep"] {
        assert!(log.contains(&format!("not simulated: {what}")), "{log}");
    }
}
