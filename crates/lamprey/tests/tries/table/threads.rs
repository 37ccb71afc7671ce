//! Hosts, parasites, scopes, and what ends them.

use super::{ZERO, flag, later, rows};
use lamprey::event::{AsyncEvent, Event};
use lamprey::scope::{Restart, Supervisor};
use lamprey::{
    CancelToken, bounded, is_cancelled, oneshot, parasite, scope, sleep, sleep_async, spawn, with_timeout,
};
use std::sync::atomic::Ordering;
use std::time::Duration;

const MOMENT: Duration = Duration::from_millis(1);

rows! {
    ["thread/join JoinHandle::is_finished"] {
        let host = spawn(|| ());
        while !host.is_finished() {}
    }
    ["thread/join JoinHandle::join_timeout"] {
        let mut host = spawn(|| ());
        while host.join_timeout(ZERO).is_err() {}
    }
    ["parasite/handle ParasiteHandle::is_finished"] {
        let task = parasite(sleep_async(MOMENT));
        while !task.is_finished() {}
    }
    ["parasite/handle ParasiteHandle::join_timeout"] {
        let mut task = parasite(sleep_async(MOMENT));
        while task.join_timeout(ZERO).is_err() {}
    }
    ["events/asynchronous/pending Pending::is_finished", "events/asynchronous/pending Pending::join_timeout"] {
        let (tx, rx) = bounded(1);
        let (_, mut one) = rx.clone().into_recv_evt().spawn_evt().a_sync();
        let (_, other) = rx.into_recv_evt().spawn_evt().a_sync();
        later(move || (tx.send(1), tx.send(1)));
        while !other.is_finished() {}
        while one.join_timeout(ZERO).is_err() {}
    }
    ["scope/host ScopedJoinHandle::is_finished", "scope/host ScopedJoinHandle::join_timeout"] {
        scope(|s| {
            let (one, mut other) = (s.spawn(|| ()), s.spawn(|| ()));
            while !one.is_finished() {}
            while other.join_timeout(ZERO).is_err() {}
        });
    }
    ["scope/parasite ScopedParasite::is_finished", "scope/parasite ScopedParasite::join_timeout"] {
        scope(|s| {
            let (one, mut other) = (s.parasite(sleep_async(MOMENT)), s.parasite(sleep_async(MOMENT)));
            while !one.is_finished() {}
            while other.join_timeout(ZERO).is_err() {}
        });
    }
    ["scope/mod Scope::is_cancelled"] {
        scope(|s| {
            s.spawn(|| s.cancel());
            while !s.is_cancelled() {}
        });
    }
    ["scope/token CancelToken::is_cancelled"] {
        let token = CancelToken::new();
        let other = token.clone();
        later(move || other.cancel());
        while !token.is_cancelled() {}
    }
    ["cancel/shield is_cancelled"] {
        let (send, ended) = oneshot();
        let host = spawn(move || {
            while !is_cancelled() {}
            send.send(()).unwrap();
        });
        sleep(MOMENT);
        host.cancel();
        ended.recv().unwrap();
    }
    ["cancel/with_timeout with_timeout"] {
        let (tx, rx) = bounded(1);
        later(move || tx.send(1));
        while with_timeout(ZERO, || rx.recv()).is_err() {}
    }
    ["scope/supervisor/handle SupervisorHandle::is_finished", "scope/supervisor/handle SupervisorHandle::join_timeout", "scope/supervisor/handle SupervisorHandle::children"] {
        let supervisor = Supervisor::new().child("brief", Restart::Never, || Ok(sleep(MOMENT))).until_stopped();
        let orders = supervisor.handle();
        later(move || supervisor.run());
        while orders.children().is_empty() {}
        while !orders.children().is_empty() {}
        orders.stop();
        while !orders.is_finished() {}
        while orders.join_timeout(ZERO).is_err() {}
        let supervisor = Supervisor::new().child("brief", Restart::Never, || Ok(sleep(MOMENT)));
        let orders = supervisor.handle();
        later(move || supervisor.run());
        while orders.join_timeout(ZERO).is_err() {}
    }
    ["sleep/future Sleep::is_elapsed"] {
        let (sleep, done) = (sleep_async(Duration::MAX), flag());
        while !done.load(Ordering::Relaxed) {
            assert!(!sleep.is_elapsed());
        }
    }
}
