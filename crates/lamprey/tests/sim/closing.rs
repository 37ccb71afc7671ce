//! Channels that are closed, wait groups, callbacks: under many schedules nothing is lost and nobody waits for ever.

use crate::found::holds;
use lamprey::event::{Event, callback, choose, never};
use lamprey::sync::WaitGroup;
use lamprey::{Receives, Sends, channel_of, mailbox, spawn, wait, yield_now};

/// Two senders, two receivers, and a close that comes at any moment: each value is received once or comes back.
fn closed_at_any_moment<S, R>(make: impl Fn() -> (S, R))
where
    S: Sends<u32> + Clone + 'static,
    R: Receives<u32> + 'static,
{
    let (tx, mut rx) = make();
    let senders = [0, 10].map(|from| {
        let tx = tx.clone();
        spawn(move || (from..from + 3).filter(|&n| tx.send(n).is_err()).collect::<Vec<_>>())
    });
    let closer = spawn(move || {
        yield_now();
        tx.close()
    });
    let mut values: Vec<_> = std::iter::from_fn(|| rx.recv().ok()).collect();
    assert!(closer.join().unwrap());
    for sender in senders {
        values.extend(sender.join().unwrap());
    }
    assert!(rx.try_recv().is_err(), "it came after the end");
    values.sort();
    assert_eq!(values, [0, 1, 2, 10, 11, 12]);
}

#[test]
fn a_rendezvous_is_closed() {
    holds(|| closed_at_any_moment(|| channel_of(0)));
}

#[test]
fn a_buffered_channel_is_closed() {
    holds(|| closed_at_any_moment(|| channel_of(1)));
}

#[test]
fn an_unbounded_channel_is_closed() {
    holds(|| closed_at_any_moment(|| channel_of(None)));
}

#[test]
fn a_mailbox_is_closed() {
    holds(|| closed_at_any_moment(mailbox));
}

#[test]
fn all_receivers_of_an_unbounded_channel_are_served_and_end() {
    holds(|| {
        let (tx, rx) = lamprey::unbounded();
        let receivers = [0, 1, 2].map(|form| {
            let rx = rx.clone();
            spawn(move || {
                let next = || match form {
                    0 => rx.recv(),
                    1 => wait(rx.recv_async()),
                    _ => choose((rx.recv_evt(), never())).sync(),
                };
                std::iter::from_fn(|| next().ok()).collect::<Vec<u32>>()
            })
        });
        let senders = [0, 10].map(|from| {
            let tx = tx.clone();
            spawn(move || (from..from + 3).for_each(|n| tx.send(n).unwrap()))
        });
        drop(tx);
        let received = receivers.map(|receiver| receiver.join().unwrap());
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        let mut all = received.concat();
        all.sort();
        assert_eq!(all, [0, 1, 2, 10, 11, 12]);
    });
}

#[test]
fn a_group_is_waited_for_while_members_come_and_go() {
    holds(|| {
        let group = WaitGroup::new();
        let hosts = [0, 1, 2].map(|_| {
            let member = group.member();
            spawn(move || {
                let next = member.clone();
                drop(member);
                yield_now();
                drop(next);
            })
        });
        let theirs = group.clone();
        let waits = spawn(move || choose((theirs.wait_evt(), never())).sync());
        group.wait();
        assert_eq!(group.count(), 0);
        waits.join().unwrap();
        hosts.into_iter().for_each(|host| host.join().unwrap());
    });
}

#[test]
fn a_callback_is_called_twice_or_dropped() {
    holds(|| {
        let (done, event) = callback();
        let callers = [1, 2].map(|n| {
            let done = done.clone();
            spawn(move || done.call(n).is_ok())
        });
        drop(done);
        let value = choose((event, never())).sync().unwrap();
        let [first, second] = callers.map(|caller| caller.join().unwrap());
        assert!(first != second && value == if first { 1 } else { 2 });

        let (done, event) = callback::<u32>();
        spawn(move || drop(done));
        assert!(event.sync().is_err());
    });
}
