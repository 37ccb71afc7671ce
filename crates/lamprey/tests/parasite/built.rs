//! What a builder says of a parasite: its name, its stack, its worker; and who a parasite is.

use crate::common::{Counted, count, counter, run, run_at_once, runtime};
use lamprey::{Builder, JoinError, ThreadKind, channel, current, parasite, parasite_fn, yield_now};
use std::io::ErrorKind;
use std::sync::mpsc;
use std::time::Duration;

fn named(name: &str) -> Builder {
    Builder::new().name(name)
}

#[test]
fn a_name_is_current_in_it_and_on_its_handle() {
    run_at_once(1, || {
        let (tx, rx) = channel();
        let theirs = rx.clone();
        let stackless = named("one")
            .parasite(async move {
                theirs.recv_async().await.unwrap();
                current()
            })
            .unwrap();
        let stackful = named("two")
            .parasite_fn(move || {
                rx.recv().unwrap();
                current()
            })
            .unwrap();
        for (handle, name) in [(stackless, "one"), (stackful, "two")] {
            assert_eq!(handle.name(), Some(name));
            assert!(format!("{handle:?}").contains(name), "{handle:?}");
            let id = handle.id().unwrap();
            tx.send(()).unwrap();
            let info = handle.join().unwrap();
            assert_eq!((info.name(), info.id(), info.kind()), (Some(name), id, ThreadKind::Parasite));
        }
    });
}

#[test]
fn over_at_once_it_has_had_its_name() {
    run_at_once(1, || {
        for _ in 0..1000 {
            let at_once = named("one").parasite(async { current().name().unwrap().len() }).unwrap();
            assert!(at_once.is_finished() && at_once.id().is_none() && at_once.name().is_none());
            assert_eq!(at_once.join().unwrap(), 3);
            let at_once = named("three").parasite_fn(|| current().name().unwrap().len()).unwrap();
            assert_eq!(at_once.join().unwrap(), 5);
        }
    });
}

#[test]
fn the_next_one_without_a_name_has_none() {
    run_at_once(1, || {
        named("gone").parasite_fn(yield_now).unwrap().join().unwrap();
        let info = parasite_fn(current).join().unwrap();
        assert_eq!((info.name(), info.kind()), (None, ThreadKind::Parasite));
        named("gone").parasite(lamprey::yield_now_async()).unwrap().join().unwrap();
        let info = parasite(async { current() }).join().unwrap();
        assert!(info.name().unwrap().contains("built"), "the type of its future: {info:?}");
    });
}

#[test]
fn errors_have_the_name() {
    run_at_once(1, || {
        let errors: [JoinError; 4] = [
            named("it").parasite(async { panic!("no") }).unwrap().join().unwrap_err(),
            named("it").parasite_fn(|| panic!("no")).unwrap().join().unwrap_err(),
            named("it").parasite(std::future::pending::<()>()).unwrap().cancel_and_join().unwrap_err(),
            named("it").parasite_fn(|| lamprey::sleep(Duration::MAX)).unwrap().cancel_and_join().unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.thread().unwrap().name(), Some("it"), "{error}");
            assert!(error.to_string().contains(" `it` "), "{error}");
        }
    });
}

#[test]
fn named_ones_drop_what_they_own_once() {
    for workers in [1, 2] {
        run(workers, || {
            let drops = counter();
            for n in 0..300 {
                let (tx, rx) = channel::<()>();
                let (one, two) = (Counted(drops.clone()), Counted(drops.clone()));
                let stackless = named("a")
                    .parasite({
                        let rx = rx.clone();
                        async move {
                            let _ = rx.recv_async().await;
                            one
                        }
                    })
                    .unwrap();
                let stackful = named("b")
                    .parasite_fn(move || {
                        let _ = rx.recv();
                        two
                    })
                    .unwrap();
                match n % 3 {
                    0 => drop((stackless, stackful)),
                    1 => {
                        stackless.detach();
                        stackful.detach();
                        drop(tx);
                        while count(&drops) < 2 * n + 2 {
                            yield_now();
                        }
                    }
                    _ => {
                        drop(tx);
                        drop((stackless.join().unwrap(), stackful.join().unwrap()));
                    }
                }
                while count(&drops) < 2 * n + 2 {
                    yield_now();
                }
            }
            assert_eq!(count(&drops), 600);
        });
    }
}

#[test]
fn many_named_stackful_ones_block_and_end_in_any_order() {
    run_at_once(1, || {
        let mut all: Vec<_> = (0..500)
            .map(|n: u64| {
                let (tx, rx) = channel();
                let builder = named(&format!("number {n}")).stack_size(64 << 10);
                (n, tx, builder.parasite_fn(move || (rx.recv().unwrap(), current())).unwrap())
            })
            .collect();
        while !all.is_empty() {
            let (n, tx, handle) = all.swap_remove(all.len() * 7 / 11);
            tx.send(n).unwrap();
            let (got, info) = handle.join().unwrap();
            assert_eq!((got, info.name()), (n, Some(&*format!("number {n}"))));
        }
    });
}

/// Uses about `depth` KiB of stack.
fn deep(depth: usize) -> usize {
    let room = std::hint::black_box([1_u8; 1024]);
    if depth == 0 { 0 } else { deep(depth - 1) + usize::from(room[depth % 1024]) }
}

#[test]
fn a_stack_has_the_size_that_was_asked_for() {
    run_at_once(1, || {
        let large = Builder::new().stack_size(16 << 20);
        for _ in 0..3 {
            assert_eq!(large.clone().parasite_fn(|| deep(2000)).unwrap().join().unwrap(), 2000);
            let blocks = large.clone().parasite_fn(|| {
                yield_now();
                deep(2000)
            });
            assert_eq!(blocks.unwrap().join().unwrap(), 2000);
        }
    });
}

#[test]
fn it_starts_on_the_worker_that_was_asked_for_and_stays() {
    run(2, || {
        for index in 0..2 {
            let there = Builder::new().worker(index).name("there");
            let place = || (current().worker(), current().name().map(str::to_owned));
            let expected = (Some(index), Some("there".to_owned()));
            let stackful = there.clone().parasite_fn(move || {
                yield_now();
                place()
            });
            assert_eq!(stackful.unwrap().join().unwrap(), expected);
            let stackless = there.parasite(async move {
                lamprey::yield_now_async().await;
                place()
            });
            assert_eq!(stackless.unwrap().join().unwrap(), expected);
        }
        let (tx, rx) = channel::<()>();
        let elsewhere = 1 - current().worker().unwrap();
        let waits =
            Builder::new().worker(elsewhere).name("far").parasite(async move { rx.recv_async().await });
        let waits = waits.unwrap();
        assert_eq!(waits.name(), Some("far"));
        assert!(matches!(waits.cancel_and_join(), Err(JoinError::Cancelled(_))));
        assert!(tx.send(()).is_err());
        let spread = Builder::new().spread();
        let both: Vec<_> = (0..2).map(|_| spread.clone().parasite_fn(current).unwrap()).collect();
        let mut both: Vec<_> = both.into_iter().map(|it| it.join().unwrap().worker().unwrap()).collect();
        both.sort_unstable();
        assert_eq!(both, [0, 1]);
    });
}

#[test]
fn what_cannot_be_had_is_an_error() {
    let outside = Builder::new().parasite(async {}).unwrap_err();
    assert_eq!(outside.kind(), ErrorKind::NotConnected);
    assert_eq!(Builder::new().parasite_fn(|| ()).unwrap_err().kind(), ErrorKind::NotConnected);
    run(1, || {
        for builder in [Builder::new().worker(1), Builder::new().stack_size(usize::MAX)] {
            assert_eq!(builder.clone().parasite(async {}).unwrap_err().kind(), ErrorKind::InvalidInput);
            assert_eq!(builder.parasite_fn(|| ()).unwrap_err().kind(), ErrorKind::InvalidInput);
        }
    });
}

#[test]
fn spawn_sites_are_known() {
    run_at_once(1, || {
        let stackful = parasite_fn(current).join().unwrap();
        assert!(stackful.spawn_site().unwrap().file().ends_with("built.rs"));
        let stackless = parasite(async { current() }).join().unwrap();
        if cfg!(debug_assertions) {
            assert!(stackless.spawn_site().unwrap().file().ends_with("built.rs"));
        }
    });
}

#[test]
fn survivors_have_the_name() {
    let runtime = runtime(1);
    let (done, ended) = mpsc::channel();
    runtime.handle().spawn(move || {
        let keeps = named("keeper").parasite_fn(|| {
            lamprey::shield(|| lamprey::sleep(Duration::from_millis(300)));
        });
        let _ = done.send(());
        let _ = keeps.unwrap().join();
    });
    ended.recv().unwrap();
    let survivors = runtime.shutdown(Duration::from_millis(20));
    let keeper = survivors.iter().find(|it| it.thread().kind() == ThreadKind::Parasite).unwrap();
    assert_eq!(keeper.thread().name(), Some("keeper"));
    assert!(keeper.to_string().contains("`keeper`"), "{keeper}");
    assert!(keeper.thread().spawn_site().unwrap().file().ends_with("built.rs"));
}
