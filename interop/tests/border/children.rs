//! A scope with async children of several libraries ends them all.

use crate::{Dropped, Seen, by_hyper, by_reqwest, run, see, silent};
use lamprey::{JoinError, scope};
use lamprey_compat::tokio as on_tokio;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

const ALL: [&str; 5] = ["async-channel", "hyper", "reqwest", "tokio", "tokio::sync"];

/// One child for each library, as parasites and as hosts; returns when the two that use the network have sent their requests.
fn start<'scope>(
    s: &'scope lamprey::scope::Scope<'scope, '_>,
    address: SocketAddr,
    seen: &Receiver<Seen>,
    dropped: &Sender<&'static str>,
) {
    let witness = |name| Dropped(name, dropped.clone());
    let (one, other) = (witness("tokio"), witness("reqwest"));
    s.parasite(on_tokio(async move {
        let _one = one;
        tokio::time::sleep(Duration::from_secs(1_000_000)).await;
    }));
    s.parasite(on_tokio(async move {
        let _other = other;
        by_reqwest(address).await;
    }));
    let one = witness("async-channel");
    s.parasite(async move {
        let _one = one;
        let (_sender, receiver) = async_channel::bounded::<()>(1);
        receiver.recv().await.unwrap();
    });
    let (one, other) = (witness("hyper"), witness("tokio::sync"));
    s.spawn(move || {
        let _one = one;
        on_tokio(by_hyper(address)).wait();
    });
    s.spawn(move || {
        let _other = other;
        lamprey::wait(tokio::sync::Notify::new().notified());
    });
    see(seen, 2, 0);
}

fn sorted(dropped: &Receiver<&'static str>) -> Vec<&'static str> {
    let mut names: Vec<_> = dropped.try_iter().collect();
    names.sort();
    names
}

#[test]
fn a_scope_that_is_cancelled_ends_them() {
    run(2, || {
        let (address, seen) = silent();
        let (dropped, is_dropped) = std::sync::mpsc::channel();
        scope(|s| {
            start(s, address, &seen, &dropped);
            s.cancel();
        });
        assert_eq!(sorted(&is_dropped), ALL);
        see(&seen, 0, 2); // the server sees both connections end
    });
}

#[test]
fn a_scope_that_unwinds_ends_them() {
    run(2, || {
        let (address, seen) = silent();
        let (dropped, is_dropped) = std::sync::mpsc::channel();
        let host = lamprey::spawn(move || {
            scope(|s| {
                start(s, address, &seen, &dropped);
                std::panic::panic_any(seen);
            })
        });
        let Err(JoinError::Panicked(panic)) = host.join() else { panic!("it has panicked") };
        let seen = panic.into_payload().downcast::<Receiver<Seen>>().unwrap();
        assert_eq!(sorted(&is_dropped), ALL);
        see(&seen, 0, 2);
    });
}

#[test]
fn a_host_that_is_cancelled_in_its_scope_ends_them() {
    run(2, || {
        let (address, seen) = silent();
        let (dropped, is_dropped) = std::sync::mpsc::channel();
        let (started, is_started) = lamprey::oneshot();
        let host = lamprey::spawn(move || {
            scope(|s| {
                start(s, address, &seen, &dropped);
                started.send(seen).unwrap();
            })
        });
        let seen = is_started.recv().unwrap();
        assert!(matches!(host.cancel_and_join(), Err(JoinError::Cancelled(_))));
        assert_eq!(sorted(&is_dropped), ALL);
        see(&seen, 0, 2);
    });
}
