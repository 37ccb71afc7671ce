//! What `recording` tells. The tests of a process run beside each other, so each looks for its own threads only, by their names.

use crate::common::{FOREVER, run, within};
use lamprey::inspect::{Cause, Recording, What, recording};
use lamprey::{Builder, Runtime, Wait, block, channel, parasite_fn, sleep, spawn, with_timeout, yield_now};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What has happened to the thread with this name, in order.
fn story(recording: &Recording, name: &str) -> Vec<What> {
    let of_it = |what: &What| what.thread().is_some_and(|thread| thread.name() == Some(name));
    recording.steps().map(|step| step.what.clone()).filter(of_it).collect()
}

/// A word for each step of a story.
fn words(story: &[What]) -> String {
    let word = |what: &What| match what {
        What::Spawned { .. } => "spawned",
        What::Arrived { .. } => "arrived",
        What::Reified { .. } => "reified",
        What::Ran { on: None, .. } => "ran",
        What::Ran { on: Some(_), .. } => "ran on",
        What::Blocked { wait: Some(_), .. } => "blocked",
        What::GaveWay { .. } => "gave way",
        What::Ended { .. } => "ended",
        What::Woken { cause: Cause::Wake, .. } => "woken",
        What::Woken { cause: Cause::Time, .. } => "timed out",
        What::Woken { cause: Cause::Cancellation, .. } => "cancelled",
        What::Sent { .. } => "sent",
        What::Inflated { .. } => "inflated",
        What::Called { .. } => "called",
        other => panic!("{other:?}"),
    };
    story.iter().map(word).collect::<Vec<_>>().join(", ")
}

#[test]
fn the_life_of_a_host_is_told_in_order() {
    run(1, || {
        let (tx, rx) = channel::<u32>();
        let main = lamprey::current();
        let host = Builder::new().name("life of a host").spawn(move || rx.recv()).unwrap();
        let id = host.id();
        yield_now(); // it begins, and waits
        tx.send(7).unwrap();
        assert_eq!(host.join().unwrap(), Ok(7));
        let recording = recording();
        let story = story(&recording, "life of a host");
        assert_eq!(words(&story), "spawned, ran, blocked, woken, ran, ended", "{recording}");
        assert!(story.iter().all(|what| what.thread().unwrap().id() == id));
        let site = story[0].thread().unwrap().spawn_site().unwrap();
        assert!(site.file().ends_with("recorder.rs"), "{site}");
        assert!(matches!(&story[0], What::Spawned { by: Some(by), .. } if by.id() == main.id()));
        assert!(matches!(&story[2], What::Blocked { wait: Some(Wait::Recv), .. }));
        assert!(matches!(&story[3], What::Woken { by: Some(by), .. } if by.id() == main.id()));
        let text = format!("{recording:#}");
        for line in [" `life of a host` waits: receive on a channel", " `life of a host` ends"] {
            assert!(text.contains(line), "{text}");
        }
    });
}

#[test]
fn parasites_are_told_from_when_they_first_block() {
    run(1, || {
        let (tx, rx) = channel::<u32>();
        let stackless = {
            let rx = rx.clone();
            Builder::new().name("a stackless one").parasite(async move { rx.recv_async().await }).unwrap()
        };
        tx.send(1).unwrap();
        assert_eq!(stackless.join().unwrap(), Ok(1));
        let stackful = Builder::new().name("a stackful one").parasite_fn(move || rx.recv()).unwrap();
        tx.send(2).unwrap();
        assert_eq!(stackful.join().unwrap(), Ok(2));
        let _over_at_once = Builder::new().name("over at once").parasite(async {}).unwrap();
        let recording = recording();
        let stackless = story(&recording, "a stackless one");
        assert_eq!(words(&stackless), "reified, woken, ran on, ended", "{recording:#}");
        assert!(matches!(&stackless[0], What::Reified { wait: Some(Wait::Recv), by: Some(_), .. }));
        let stackful = story(&recording, "a stackful one");
        assert_eq!(words(&stackful), "blocked, reified, woken, ran, ended", "{recording:#}");
        assert!(story(&recording, "over at once").is_empty());
    });
}

#[test]
fn an_inflated_parasite_is_told() {
    run(1, || {
        let parasite =
            Builder::new().name("inflated").parasite_fn(|| lamprey::parasite::inflate().sync()).unwrap();
        parasite.join().unwrap();
        let recording = recording();
        assert!(words(&story(&recording, "inflated")).starts_with("inflated, gave way"), "{recording:#}");
    });
}

#[test]
fn time_limits_and_cancellations_are_told() {
    run(1, || {
        let sleeper =
            Builder::new().name("sleeps shortly").spawn(|| sleep(Duration::from_millis(1))).unwrap();
        sleeper.join().unwrap();
        let limited = Builder::new().name("has a limit").spawn(|| {
            with_timeout(Duration::from_millis(1), || sleep(Duration::MAX)).unwrap_err();
        });
        limited.unwrap().join().unwrap();
        let cancelled = Builder::new().name("is cancelled").spawn(|| sleep(Duration::MAX)).unwrap();
        yield_now();
        cancelled.cancel();
        cancelled.join().unwrap_err();
        let recording = recording();
        let of = |name| words(&story(&recording, name));
        assert_eq!(of("sleeps shortly"), "spawned, ran, blocked, timed out, ran, ended", "{recording:#}");
        assert_eq!(of("has a limit"), "spawned, ran, blocked, cancelled, ran, ended", "{recording:#}");
        assert_eq!(of("is cancelled"), "spawned, ran, blocked, cancelled, ran, ended", "{recording:#}");
    });
}

#[test]
fn a_wake_across_workers_is_told_by_both() {
    run(2, || {
        let (tx, rx) = channel::<u32>();
        let there = Builder::new().name("on worker one").worker(1).spawn(move || rx.recv()).unwrap();
        let here = Builder::new().name("on worker zero").worker(0).spawn(move || tx.send(3)).unwrap();
        assert!(here.join().unwrap().is_ok());
        assert_eq!(there.join().unwrap(), Ok(3));
        let recording = recording();
        let story = story(&recording, "on worker one");
        let to_it = |what: &&What| matches!(what, What::Sent { to: Some(1), .. });
        assert!(story.iter().any(|what| to_it(&what)), "{recording:#}");
        assert!(story.iter().any(|what| matches!(what, What::Ended { .. })), "{recording:#}");
    });
}

#[test]
fn what_goes_to_other_workers_and_sleeps_are_counted() {
    within(FOREVER, || {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        runtime.run(|| {
            let hosts = [0, 1].map(|worker| {
                Builder::new().worker(worker).spawn(|| sleep(Duration::from_millis(1))).unwrap()
            });
            hosts.into_iter().for_each(|host| host.join().unwrap());
        });
        let stats = runtime.stats();
        assert!(stats.sent >= 1 && stats.sleeps >= 1, "{stats:?}");
    });
}

#[test]
fn a_long_name_is_cut() {
    run(1, || {
        let name = "a name that is longer than a note has room for";
        Builder::new().name(name).spawn(|| ()).unwrap().join().unwrap();
        let recording = recording();
        assert_eq!(
            words(&story(&recording, "a name that is longer…")),
            "spawned, ran, ended",
            "{recording:#}"
        );
    });
}

#[test]
fn a_thread_that_waits_for_its_turn_is_told_with_how_long() {
    run(1, || {
        let (tx, rx) = channel::<u32>();
        let late = Builder::new().name("comes late").spawn(move || rx.recv()).unwrap();
        yield_now(); // it begins, and waits
        tx.send(1).unwrap();
        let begun = std::time::Instant::now();
        while begun.elapsed() < Duration::from_millis(20) {} // it is ready
        assert_eq!(late.join().unwrap(), Ok(1));
        let delays = recording().delays();
        let late = delays.iter().find(|delay| delay.thread.name() == Some("comes late")).unwrap();
        // Not exactly as long, because the CPU's counter has told the time.
        assert!(late.waited >= Duration::from_millis(15), "{late:?}");
        assert!(delays.is_sorted_by(|one, next| one.waited >= next.waited));
    });
}

#[test]
fn what_a_busy_worker_misses_is_told() {
    run(1, || {
        let (tx, rx) = channel::<u32>();
        let busy = Builder::new().name("busy").spawn(move || rx.iter().count()).unwrap();
        for n in 0..100_000 {
            tx.send(n).unwrap();
        }
        drop(tx);
        assert_eq!(busy.join().unwrap(), 100_000);
        let recording = recording();
        let story = story(&recording, "busy");
        assert!(story.len() > 10, "{recording}");
        let missed = recording.steps().any(|step| matches!(step.what, What::Missed));
        // On a machine on which each step takes microseconds all are recorded, and the first ones overwritten.
        assert!(missed || recording.to_string().contains("which reach back"), "{recording}");
    });
}

#[test]
fn a_full_recorder_keeps_the_last_notes_and_their_names() {
    within(FOREVER, || {
        let runtime = Runtime::builder().workers(1).recorder(64).build().unwrap();
        runtime.run(|| {
            let host = Builder::new().name("turns").spawn(|| {
                for _ in 0..1000 {
                    block(|| ()); // slow enough to be recorded
                }
            });
            host.unwrap().join().unwrap();
            let recording = recording();
            let story = story(&recording, "turns");
            assert!(words(&story).ends_with("blocked, woken, ran, called, ended"), "{recording:#}");
            assert!(story.len() <= 2 * 64, "{recording:#}");
            assert!(recording.to_string().contains("which reach back"), "{recording}");
        });
    });
}

#[test]
fn a_recorder_that_is_off_says_so() {
    within(FOREVER, || {
        let runtime = Runtime::builder().workers(1).recorder(0).build().unwrap();
        runtime.run(|| {
            Builder::new().name("unrecorded").spawn(|| ()).unwrap().join().unwrap();
            let recording = recording();
            assert!(story(&recording, "unrecorded").is_empty());
            assert!(recording.to_string().contains("its recorder is off"), "{recording}");
        });
    });
    let error = Runtime::builder().recorder(usize::MAX).build().unwrap_err();
    assert!(error.to_string().contains("at most 16777216 notes"), "{error}");
}

#[test]
fn a_simulation_is_not_recorded() {
    Runtime::simulated(7).run(|| {
        Builder::new().name("simulated").spawn(|| ()).unwrap().join().unwrap();
        assert!(story(&recording(), "simulated").is_empty());
    });
}

#[test]
fn workers_go_on_while_they_are_read() {
    run(2, || {
        static STOP: AtomicBool = AtomicBool::new(false);
        let busy: Vec<_> = (0..2)
            .map(|worker| {
                let run = || {
                    while !STOP.load(Ordering::Relaxed) {
                        let (tx, rx) = channel::<u32>();
                        let answer = spawn(move || rx.recv());
                        tx.send(1).unwrap();
                        parasite_fn(|| sleep(Duration::from_micros(1))).join().unwrap();
                        assert_eq!(answer.join().unwrap(), Ok(1));
                    }
                };
                Builder::new().worker(worker).spawn(run).unwrap()
            })
            .collect();
        block(|| {
            for _ in 0..20 {
                let recording = recording();
                let times: Vec<_> = recording.steps().map(|step| step.at).collect();
                assert!(times.is_sorted());
                assert!(!format!("{recording:#}").is_empty());
            }
        });
        STOP.store(true, Ordering::Relaxed);
        busy.into_iter().for_each(|host| host.join().unwrap());
    });
}

#[test]
fn recordings_are_kept_in_the_folder_that_is_named_the_last_ones() {
    let named = std::env::temp_dir().join(format!("lamprey-kept-{}", std::process::id()));
    within(FOREVER, move || {
        let runtime = Runtime::builder().workers(1).record_dir(&named).build().unwrap();
        runtime.run(|| {
            Builder::new().name("is kept").spawn(|| ()).unwrap().join().unwrap();
            let recording = recording();
            let first = recording.save("slow: /etc/passwd").unwrap();
            let text = std::fs::read_to_string(&first).unwrap();
            assert!(text.contains("`is kept` ends"), "{text}");
            let name = first.file_name().unwrap().to_str().unwrap();
            assert!(first.parent() == Some(&named) && name.ends_with("-slow---etc-passwd.txt"), "{name}");
            let others: Vec<_> = (0..16).map(|_| recording.save("again").unwrap()).collect();
            assert!(!first.exists() && others.iter().all(|other| other.exists()), "{others:?}");
            // As in a container, where the process before had the same number.
            let name = |n| named.join(format!("lamprey-{}-{n}-here.txt", std::process::id()));
            let (victim, next) = (named.join("victim"), 18);
            std::fs::write(&victim, "as it was").unwrap();
            std::os::unix::fs::symlink(&victim, name(next)).unwrap();
            std::fs::write(name(next + 1), "of the process before").unwrap();
            assert_eq!(recording.save("here").unwrap(), name(next + 2));
            assert_eq!(std::fs::read_to_string(&victim).unwrap(), "as it was");
            assert_eq!(std::fs::read_to_string(name(next + 1)).unwrap(), "of the process before");
            std::fs::remove_dir_all(&named).unwrap();
        });
    });
}
