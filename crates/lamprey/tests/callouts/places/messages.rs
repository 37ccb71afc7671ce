//! Messages: their destructors, and copies of them.
use super::{Place, SHORT, place};
use lamprey::{IVar, MVar, bounded, broadcast, channel, mailbox, multicast, oneshot, watch, with_timeout};
use std::sync::Arc;

pub const PLACES: &[Place] = &[
    place("a message that a channel gives back", |case| {
        let (tx, rx) = channel();
        drop(rx);
        drop(tx.send(case.dropped()));
    }),
    place("a message of a sender whose time is up", |case| {
        let (tx, rx) = channel();
        let (again, value) = (tx.clone(), case.dropped());
        case.again(move || drop(again.try_send(value_of_nobody())));
        let _ = with_timeout(SHORT, || tx.send(Some(value)));
        drop(rx);
    }),
    place("unread messages of a bounded channel", |case| {
        let (tx, rx) = bounded(2);
        let again = tx.clone();
        case.again(move || drop(again.try_send(value_of_nobody())));
        tx.send(Some(case.dropped())).unwrap();
        drop(rx);
    }),
    place("unread messages of a bounded channel without handles", |case| {
        let (tx, rx) = bounded(2);
        tx.send(case.dropped()).unwrap();
        drop((tx, rx));
    }),
    place("unread messages of a mailbox", |case| {
        let (tx, rx) = mailbox();
        let again = tx.clone();
        case.again(move || drop(again.send(value_of_nobody())));
        tx.send(Some(case.dropped())).unwrap();
        drop(rx);
    }),
    place("a message that a broadcast overwrites", |case| {
        let (tx, rx) = broadcast(1);
        let tx = Arc::new(tx);
        let again = tx.clone();
        case.again(move || drop(again.send(None)));
        tx.send(Some(case.dropped())).unwrap();
        tx.send(None).unwrap();
        case.again(|| ());
        drop(rx);
    }),
    place("a message that a broadcast copies", |case| {
        let (tx, mut rx) = broadcast(2);
        let (_other, tx) = (tx.subscribe(), Arc::new(tx));
        let again = tx.clone();
        case.again(move || drop(again.send(None)));
        tx.send(Some(case.cloned())).unwrap();
        let _ = rx.recv();
        case.again(|| ());
    }),
    place("a message that a watch replaces", |case| {
        let (tx, rx) = watch(Some(case.dropped()));
        let tx = Arc::new(tx);
        let again = rx.clone();
        case.again(move || assert!(again.has_changed()));
        let _ = tx.send(None);
        case.again(|| ());
        drop(rx);
    }),
    place("a message that a watch copies", |case| {
        let (tx, rx) = watch(Some(case.cloned()));
        let tx = Arc::new(tx);
        let again = tx.clone();
        case.again(move || drop(again.send(None)));
        drop(rx.get());
        case.again(|| ());
    }),
    place("the function of send_modify", |case| {
        let (tx, rx) = watch(0);
        let again = rx.clone();
        case.again(move || assert_eq!(again.get(), 0));
        tx.send_modify(|value| {
            case.act();
            *value = 1;
        });
        case.again(|| ());
        assert_eq!(rx.get(), 1);
    }),
    place("a message of a multicast that nobody reads", |case| {
        let (tx, rx) = multicast();
        let again = tx.clone();
        case.again(move || drop(again.send(None)));
        tx.send(Some(case.dropped())).unwrap();
        drop(rx);
        case.again(|| ());
    }),
    place("a message of a multicast that is copied", |case| {
        let (tx, mut rx) = multicast();
        let _other = tx.subscribe();
        let again = tx.clone();
        case.again(move || drop(again.send(None)));
        tx.send(Some(case.cloned())).unwrap();
        let _ = rx.recv();
        case.again(|| ());
    }),
    place("a message of a oneshot that nobody takes", |case| {
        let (tx, rx) = oneshot();
        tx.send(case.dropped()).unwrap();
        drop(rx);
    }),
    place("a message that a oneshot gives back", |case| {
        let (tx, rx) = oneshot();
        drop(rx);
        drop(tx.send(case.dropped()));
    }),
    place("a value in a variable", |case| {
        let place = MVar::new(case.dropped());
        drop(place);
    }),
    place("a value that a variable copies", |case| {
        let place = Arc::new(MVar::new(Some(case.cloned())));
        let again = place.clone();
        case.again(move || assert!(!again.is_empty()));
        drop(place.read());
        case.again(|| ());
    }),
    place("a value of a written-once variable", |case| {
        let place = Arc::new(IVar::new());
        let again = place.clone();
        assert!(place.put(Some(case.cloned())).is_ok());
        case.again(move || assert!(again.put(None).is_err()));
        drop(place.get());
        case.again(|| ());
    }),
    place("a value that a written-once variable gives back", |case| {
        let place = IVar::new();
        assert!(place.put(None).is_ok());
        drop(place.put(Some(case.dropped())));
    }),
    place("messages of parasites that are cancelled", |case| {
        let (tx, rx) = channel();
        let value = case.dropped();
        let sends = lamprey::parasite(async move { drop(tx.send_async(value).await) });
        drop(sends);
        drop(rx);
    }),
];

fn value_of_nobody() -> Option<super::Hook> {
    None
}
