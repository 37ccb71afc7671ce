//! What `metrics` counts under loads of which each step is known. No test believes in a length of time: they count, and compare with
//! what they have measured themselves.

use crate::common::{FOREVER, run, within};
use lamprey::inspect::{Metrics, SiteMetrics, Spawned, metrics};
use lamprey::{Handle, Runtime, channel, parasite, sleep, spawn, yield_now};
use std::panic::Location;
use std::time::{Duration, Instant};

/// What was measured of the threads that were spawned in this line of this file, or in the next two.
fn at(metrics: &Metrics, line: u32) -> &SiteMetrics {
    let is_it = |site: &&SiteMetrics| matches!(site.site, Spawned::At(at) if (line..line + 3).contains(&at.line()) && at.file() == file!());
    metrics.sites.iter().find(is_it).unwrap_or_else(|| panic!("nothing of line {line}: {:?}", metrics.sites))
}

fn here() -> Metrics {
    Handle::current().unwrap().metrics()
}

#[track_caller]
fn line() -> u32 {
    Location::caller().line()
}

#[test]
fn each_step_of_a_small_load_is_measured() {
    run(1, || {
        let (start, threads) = (Instant::now(), 50);
        let (tx, rx) = channel::<u32>();
        let (receivers, line): (Vec<_>, _) = ((0..threads).map(|_| rx.clone()).collect(), line() + 1);
        let hosts: Vec<_> = receivers.into_iter().map(|rx| spawn(move || rx.recv().unwrap())).collect();
        yield_now();
        while here().workers[0].stats.communications < threads.into() {
            _ = tx.try_send(1);
            yield_now();
        }
        assert_eq!(hosts.into_iter().map(|host| host.join().unwrap()).sum::<u32>(), threads);
        let metrics = here();
        let site = at(&metrics, line);
        let threads = u64::from(threads);
        assert_eq!((site.spawn_to_run.count(), site.wake_to_run.count()), (threads, threads), "{site:?}");
        assert_eq!(site.run.count(), 2 * threads, "once until it waits, once to the end: {site:?}");
        let worker = &metrics.workers[0];
        assert!(Duration::from_nanos(worker.run.sum()) <= start.elapsed() + Duration::from_millis(100));
        assert!(worker.spawn_to_run.count() >= threads && worker.scheduling_points >= threads);
        assert_eq!(
            metrics.schedule_delay().count(),
            worker.spawn_to_run.count() + worker.wake_to_run.count()
        );
    });
}

/// Computes for at least so long, without a scheduling point.
fn compute(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {}
}

#[test]
fn who_waits_behind_one_that_computes_waits_as_long() {
    const TIME: Duration = Duration::from_millis(5);
    run(1, || {
        let (tx, rx) = channel::<()>();
        let line = line() + 1;
        let waits = spawn(move || rx.recv());
        yield_now();
        tx.send(()).unwrap();
        compute(TIME);
        waits.join().unwrap().unwrap();
        let metrics = here();
        let site = at(&metrics, line);
        assert!(site.wake_to_run.largest() >= TIME.as_nanos() as u64, "{site:?}");
        assert!(metrics.workers[0].run.largest() >= TIME.as_nanos() as u64);
        assert!(site.wake_to_run.quantile(1.0) >= site.wake_to_run.quantile(0.5));
    });
}

/// More are woken at once than are recorded in a row: those that were are seen to run, though nothing is noted any more by then.
#[test]
fn delays_longer_than_what_is_recorded_in_a_row_are_seen() {
    const THREADS: usize = 20_000;
    run(1, || {
        let (tx, rx) = lamprey::watch(0);
        let wait = |mut rx: lamprey::watch::Receiver<i32>| {
            move || {
                _ = rx.changed();
            }
        };
        let hosts: Vec<_> = (0..THREADS).map(|_| spawn(wait(rx.clone()))).collect();
        yield_now();
        while here().workers[0].ready != 0 {
            sleep(Duration::from_millis(1));
        }
        tx.send(1).unwrap();
        hosts.into_iter().for_each(|host| host.join().unwrap());
        let delays = here().workers[0].wake_to_run.clone();
        assert!(delays.count() >= 100, "{delays:?}");
    });
}

#[test]
fn parasites_are_told_by_the_type_of_their_future() {
    async fn receives(rx: lamprey::Receiver<u32>) -> u32 {
        rx.recv_async().await.unwrap()
    }
    run(1, || {
        let (tx, rx) = channel();
        let waits = parasite(receives(rx));
        tx.send(3).unwrap();
        assert_eq!(waits.join().unwrap(), 3);
        let metrics = here();
        let is_it =
            |site: &&SiteMetrics| matches!(site.site, Spawned::Future(name) if name.contains("receives"));
        let site = metrics.sites.iter().find(is_it).unwrap_or_else(|| panic!("{:?}", metrics.sites));
        assert_eq!((site.wake_to_run.count(), site.run.count()), (1, 1), "{site:?}");
    });
}

#[test]
fn timers_sleeps_and_calls_are_counted_each_time() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    runtime.run(|| (0..10).for_each(|_| sleep(Duration::from_millis(1))));
    let metrics = runtime.metrics();
    let worker = &metrics.workers[0];
    assert_eq!(worker.timer_late.count(), 10);
    // The last one may still go on.
    assert!((0..=1).contains(&(metrics.stats.sleeps - worker.asleep.count())), "{metrics:?}");
    assert!(worker.asleep.count() > 0 && worker.call_to_awake.count() <= worker.asleep.count());
    assert!(worker.ready_lengths.largest() < 16, "{worker:?}");
}

#[test]
fn without_recorder_there_are_counts_only() {
    let runtime = Runtime::builder().workers(1).recorder(0).build().unwrap();
    runtime.run(|| (0..10).for_each(|_| spawn(|| ()).join().unwrap()));
    let metrics = runtime.metrics();
    assert_eq!((metrics.schedule_delay().count(), metrics.sites.len()), (0, 0));
    assert!(metrics.stats.hosts >= 10 && metrics.workers[0].stats.hosts == metrics.stats.hosts);
    assert!(metrics.workers[0].scheduling_points >= 10);
}

#[test]
fn all_runtimes_are_in_the_list() {
    let line = run(2, || {
        let line = line() + 1;
        (0..20).for_each(|_| spawn(yield_now).join().unwrap());
        within(FOREVER, || metrics().iter().any(|one| !one.sites.is_empty() && one.workers.len() == 2));
        let all = metrics();
        let ran = |one: &Metrics| {
            one.sites.iter().any(|site| matches!(site.site, Spawned::At(at) if at.line() == line))
        };
        assert!(all.iter().any(ran));
        line
    });
    assert!(line > 0);
}

#[test]
fn a_simulation_measures_everything_in_its_own_time() {
    let measured = |seed| {
        Runtime::simulated(seed).run(|| {
            let line = line() + 1;
            let hosts: Vec<_> =
                (1..=5).map(|n| spawn(move || (0..n).for_each(|_| sleep(Duration::from_secs(3))))).collect();
            hosts.into_iter().for_each(|host| host.join().unwrap());
            let metrics = here();
            let site = at(&metrics, line);
            assert_eq!((site.spawn_to_run.count(), site.wake_to_run.count()), (5, 15), "{site:?}");
            assert_eq!(site.run.count(), 20);
            format!("{metrics:?}")
        })
    };
    for seed in [1, 2, 3] {
        assert_eq!(measured(seed), measured(seed));
    }
}
