//! Generators that are suspended in the middle of what their thread has entered end the process there, before
//! another thread can leave it.

use crate::common::{rerun, role, run, run_at_once};
use lamprey::CancelToken;
use lamprey::parasite::{Parasite, reify};
use std::cell::{Cell, RefCell};
use std::os::unix::process::ExitStatusExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use swapstack::{Generator, Yielder};

type Y = Yielder<(), ()>;

lamprey::host_local! {
    static VALUE: Cell<u8> = Cell::new(0);
}

/// Enters something in the way that is asked for, and is suspended there.
fn suspended_inside(how: &str) -> Generator<(), (), ()> {
    let how = how.to_owned();
    let mut generator = Generator::new(move |y: &Y, ()| match how.as_str() {
        "host_local" => VALUE.with(|_| y.suspend(())),
        "host_local_init" => {
            lamprey::host_local! {
                static PLAIN: u8 = 0;
            }
            PLAIN.with(|_| VALUE.with(|_| y.suspend(())));
        }
        "token" => drop(CancelToken::new().run(|| y.suspend(()))),
        "scope" => lamprey::scope(|_| y.suspend(())),
        "shield" => lamprey::shield(|| y.suspend(())),
        "transaction" => lamprey::stm::atomically(|_| {
            y.suspend(());
            Ok(())
        }),
        "timeout" => drop(lamprey::with_timeout(Duration::from_secs(1), || y.suspend(()))),
        "nested" => lamprey::shield(|| {
            Generator::scoped(|_: &Y, ()| y.suspend(()), |mut inner| inner.next().unwrap_or(()))
        }),
        other => panic!("nothing that could be entered: {other}"),
    });
    generator.resume(());
    generator
}

const WAYS: [&str; 8] =
    ["host_local", "host_local_init", "token", "scope", "shield", "transaction", "timeout", "nested"];

#[test]
fn a_generator_is_not_suspended_within_what_its_thread_has_entered() {
    const ME: &str = "a_generator_is_not_suspended_within_what_its_thread_has_entered";
    if let Some(role) = role() {
        let (place, how) = role.split_once(' ').unwrap();
        let how = how.to_owned();
        return match place {
            "host" => crate::common::runtime(1).run(move || drop(suspended_inside(&how))),
            "parasite" => crate::common::runtime(1).run(move || {
                lamprey::parasite_local(async move { drop(suspended_inside(&how)) }).join().unwrap();
            }),
            "stackful" => crate::common::runtime(1).run(move || {
                lamprey::parasite_fn(move || drop(suspended_inside(&how))).join().unwrap();
            }),
            _ => drop(suspended_inside(&how)),
        };
    }
    for place in ["host", "parasite", "stackful", "thread"] {
        for how in WAYS {
            let (output, text) = rerun(ME, &format!("{place} {how}"));
            // A scope is not to be had outside of a host only as far as its children are concerned.
            assert_eq!(output.status.signal(), Some(6), "{place} {how}: {:?} {text}", output.status);
            assert!(text.contains("is suspended inside of something"), "{place} {how}: {text}");
        }
    }
}

/// Whoever says first what generators compare could say that nothing ever differs.
#[test]
fn a_program_that_gives_generators_a_mark_of_its_own_cannot_use_lamprey() {
    const ME: &str = "a_program_that_gives_generators_a_mark_of_its_own_cannot_use_lamprey";
    match role().as_deref() {
        Some("late") => run(1, || assert!(!swapstack::generator::set_mark(|| [0, 0]))),
        Some(role) => {
            assert!(swapstack::generator::set_mark(|| [0, 0]));
            if role == "host" {
                run(1, || ());
            } else {
                let _ = CancelToken::new().run(|| ());
            }
        }
        None => {
            for role in ["host", "thread"] {
                let (output, text) = rerun(ME, role);
                assert_eq!(output.status.signal(), Some(6), "{role}: {:?} {text}", output.status);
                assert!(text.contains("set_mark has been called before"), "{role}: {text}");
            }
            let (output, text) = rerun(ME, "late");
            assert!(output.status.success(), "{:?} {text}", output.status);
        }
    }
}

/// As before, but what has been entered is left by the time.
#[test]
fn a_generator_that_has_left_what_it_entered_goes_from_host_to_host() {
    thread_local! {
        static SLOT: RefCell<Option<Generator<(), (), ()>>> = const { RefCell::new(None) };
    }
    run(1, || {
        lamprey::spawn(|| {
            let mut generator = Generator::new(|y: &Y, ()| {
                VALUE.with(|value| value.set(1));
                y.suspend(());
                assert_eq!(VALUE.with(Cell::get), 2); // the other host's
                lamprey::scope(|s| drop(s.spawn(lamprey::yield_now)));
                lamprey::sleep(Duration::from_millis(1));
                y.suspend(());
                lamprey::shield(lamprey::yield_now);
            });
            generator.resume(());
            SLOT.set(Some(generator));
            assert_eq!(VALUE.with(Cell::get), 1);
        })
        .join()
        .unwrap();
        lamprey::spawn(|| {
            VALUE.with(|value| value.set(2));
            let mut generator = SLOT.take().unwrap();
            lamprey::shield(|| generator.resume(())); // open at its resume, too
            drop(generator);
        })
        .join()
        .unwrap();
    });
}

/// A generator within a generator, the inner one of which is suspended in its own time.
#[test]
fn the_inner_of_two_generators_may_be_suspended_within_what_the_outer_has_entered() {
    run(1, || {
        let mut outer = Generator::new(|y: &Y, ()| {
            lamprey::shield(|| {
                let mut inner = Generator::new(|y: &Y, ()| y.suspend(()));
                inner.resume(());
                inner.resume(());
            });
            y.suspend(());
        });
        outer.resume(());
        outer.resume(());
    });
}

/// The stack of a generator has no room that its host knew of: what is woken there is run elsewhere.
#[test]
fn a_chain_of_parasites_within_a_generator_does_not_overflow() {
    const CHAIN: usize = 5000;
    // Generators' stacks above the hosts', and below.
    let early: Vec<_> = (0..2)
        .map(|_| {
            let mut generator = Generator::new(|y: &Y, ()| y.suspend(()));
            generator.resume(());
            generator
        })
        .collect();
    drop(early);
    let _keep = swapstack::DefaultStack::take(1).unwrap();
    // All are to start at once, however long one is held up.
    run_at_once(1, || {
        let slots: Arc<Vec<Mutex<Option<Parasite<u32>>>>> =
            Arc::new((0..CHAIN).map(|_| Mutex::new(None)).collect());
        let parasites: Vec<_> = (0..CHAIN)
            .map(|at| {
                let slots = slots.clone();
                lamprey::parasite(async move {
                    let value = reify(|me| *slots[at].lock().unwrap() = Some(me)).await;
                    let next = slots.get(at + 1).map(|slot| slot.lock().unwrap().take().unwrap());
                    next.into_iter().for_each(|next| next.prepare(value + 1).attach());
                    value
                })
            })
            .collect();
        let first = slots[0].lock().unwrap().take().unwrap();
        let mut generator =
            Generator::new(|_: &Yielder<Parasite<u32>, ()>, first: Parasite<u32>| first.prepare(0).attach());
        generator.resume(first);
        for (at, parasite) in parasites.into_iter().enumerate() {
            assert_eq!(parasite.join().unwrap() as usize, at);
        }
    });
}

/// `process::exit` within something that the thread has entered is no misuse.
#[test]
fn a_process_may_exit_within_a_level() {
    const ME: &str = "a_process_may_exit_within_a_level";
    let exit = || VALUE.with(|_| lamprey::shield(|| std::process::exit(7)));
    match role().as_deref() {
        None => {}
        Some("thread") => exit(),
        Some("host") => crate::common::runtime(1).run(exit),
        Some(_) => {
            let token = CancelToken::new();
            let theirs = token.clone();
            let _ = token.run(|| {
                std::thread::spawn(move || theirs.cancel());
                exit()
            });
        }
    }
    for role in ["thread", "host", "cut"] {
        let (output, text) = rerun(ME, role);
        assert_eq!(output.status.code(), Some(7), "{role}: {text}");
    }
}
