//! Signals that are sent to simulated machines.

use lamprey::event::{Event, choose, timeout};
use lamprey::signal::{Signal, Signals, ctrl_c, listen};
use lamprey::sim::Machine;
use lamprey::{JoinError, JoinHandle, Runtime, channel};
use std::sync::Arc;
use std::time::Duration;

/// A host on `machine` that listens, says so, and does `f`.
fn listener<T: Send + 'static>(
    machine: &Machine,
    signals: &'static [Signal],
    f: impl FnOnce(Signals) -> T + Send + 'static,
) -> JoinHandle<T> {
    let (tx, rx) = channel();
    let host = machine.spawn(move || {
        let listener = listen(signals).unwrap();
        tx.send(()).unwrap();
        f(listener)
    });
    rx.recv().unwrap();
    host
}

#[test]
fn a_listener_gets_what_is_sent_in_order() {
    for seed in 0..50 {
        let (taken, log) = Runtime::simulated(seed).run_logged(|| {
            let there = Machine::new("there");
            let host = listener(&there, &[Signal::HUP, Signal::USR1, Signal::TERM], |signals| {
                signals.iter().map(Result::unwrap).take(4).collect::<Vec<_>>()
            });
            for signal in [Signal::USR1, Signal::HUP, Signal::TERM, Signal::HUP] {
                there.signal(signal);
                lamprey::sleep(Duration::from_millis(1));
            }
            host.join().unwrap()
        });
        assert_eq!(taken, [Signal::USR1, Signal::HUP, Signal::TERM, Signal::HUP], "seed {seed}");
        assert!(log.contains("there is sent SIGUSR1"), "{log}");
    }
}

#[test]
fn of_several_that_wait_already_the_lowest_is_first() {
    Runtime::simulated(1).run(|| {
        let there = Machine::here();
        let signals = listen(&[Signal::TERM, Signal::HUP]).unwrap();
        there.signal(Signal::TERM);
        there.signal(Signal::HUP);
        there.signal(Signal::HUP);
        let taken = [signals.try_recv(), signals.try_recv(), signals.try_recv()];
        assert_eq!(taken, [Some(Signal::HUP), Some(Signal::TERM), None]);
    });
}

#[test]
fn it_reaches_one_machine() {
    Runtime::simulated(1).run(|| {
        let (one, other) = (Machine::new("one"), Machine::new("other"));
        let within = |signals: Signals| signals.recv_timeout(Duration::from_secs(1)).ok();
        let hosts = [&one, &other].map(|machine| listener(machine, &[Signal::USR2], within));
        one.signal(Signal::USR2);
        assert_eq!(hosts.map(|host| host.join().unwrap()), [Some(Signal::USR2), None]);
    });
}

#[test]
fn each_listener_gets_it() {
    Runtime::simulated(1).run(|| {
        let there = Machine::new("there");
        let hosts = [0, 1, 2].map(|_| listener(&there, &[Signal::USR1], |signals| signals.recv().unwrap()));
        there.signal(Signal::USR1);
        hosts.into_iter().for_each(|host| assert_eq!(host.join().unwrap(), Signal::USR1));
    });
}

#[test]
fn it_is_chosen_as_an_event_and_awaited() {
    Runtime::simulated(3).run(|| {
        let signals = Arc::new(ctrl_c().unwrap());
        let within =
            |limit| choose((signals.recv_evt().wrap(|taken| taken.ok()), timeout(limit).wrap(|()| None)));
        assert_eq!(within(Duration::from_secs(1)).sync(), None);
        let theirs = signals.clone();
        let parasite = lamprey::parasite(async move { theirs.recv_async().await.unwrap() });
        Machine::here().signal(Signal::INT);
        assert_eq!(parasite.join().unwrap(), Signal::INT);
        Machine::here().signal(Signal::INT);
        assert_eq!(within(Duration::from_secs(1)).sync(), Some(Signal::INT));
    });
}

#[test]
fn the_default_action_ends_the_program() {
    for signal in [Signal::TERM, Signal::INT, Signal::KILL, Signal::HUP] {
        Runtime::simulated(1).run(|| {
            let there = Machine::new("there");
            let host = there.spawn(|| lamprey::sleep(Duration::MAX));
            lamprey::yield_now();
            there.signal(Signal::CHLD);
            there.signal(Signal::STOP);
            assert!(there.is_up());
            there.signal(signal);
            assert!(!there.is_up());
            there.signal(signal);
            assert!(matches!(host.join(), Err(JoinError::Cancelled(_))));
            there.restart();
            assert_eq!(there.spawn(|| 1).join().unwrap(), 1);
        });
    }
}

#[test]
fn a_listener_turns_it_off_until_the_program_ends() {
    Runtime::simulated(1).run(|| {
        let there = Machine::new("there");
        listener(&there, &[Signal::TERM], drop).join().unwrap();
        there.signal(Signal::TERM);
        assert!(there.is_up(), "it is ignored from now on");
        there.signal(Signal::KILL);
        assert!(!there.is_up());
        there.restart();
        there.signal(Signal::TERM);
        assert!(!there.is_up(), "another program, which does not listen");
    });
}

#[test]
fn signals_of_the_process_reach_nobody() {
    Runtime::simulated(1).run(|| {
        let signals = listen(&[Signal::CHLD]).unwrap();
        // SAFETY: plain numbers; by default the signal is ignored.
        assert_eq!(unsafe { libc::raise(libc::SIGCHLD) }, 0);
        assert_eq!(signals.try_recv(), None);
    });
}
