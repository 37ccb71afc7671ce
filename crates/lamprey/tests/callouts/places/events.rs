//! Functions of events.
use super::{Place, place};
use lamprey::channel;
use lamprey::event::{
    AsyncEvent, Event, Nack, a_guard, always, choose, future_evt, guard, never, prefer, spawn_evt, with_nack,
};

pub const PLACES: &[Place] = &[
    place("guard", |case| {
        case.again(|| guard(|| always(())).sync());
        guard(|| {
            case.act();
            always(())
        })
        .sync();
    }),
    place("with_nack", |case| {
        prefer((
            with_nack(|nack: Nack| {
                drop(nack);
                case.act();
                never::<()>()
            }),
            always(()),
        ))
        .sync();
    }),
    place("wrap", |case| {
        let (_tx, rx) = channel::<()>();
        choose((rx.recv_evt().wrap(drop), always(()).wrap(|()| case.act()))).sync();
    }),
    place("wrap of what a peer has chosen", |case| {
        let (tx, rx) = channel();
        let peer = lamprey::spawn(move || tx.send(1));
        choose((rx.recv_evt().wrap(|_| case.act()), never())).sync();
        let _ = peer.join();
    }),
    place("a future in an event", |case| choose((future_evt(async { case.act() }), never())).sync()),
    place("a value that was not sent by a choice", |case| {
        let (tx, _rx) = channel();
        let value = case.dropped();
        choose((tx.send_evt(value).wrap(drop), always(()))).sync();
    }),
    place("a value that was not sent by a choice that has waited", |case| {
        let ((tx, _rx), (go, on)) = (channel(), channel());
        let value = case.dropped();
        let peer = lamprey::spawn(move || go.send(()));
        choose((tx.send_evt(value).wrap(drop), on.recv_evt().wrap(drop))).sync();
        let _ = peer.join();
    }),
    place("a_guard", |case| {
        a_guard(|| {
            case.act();
            always(()).spawn_evt()
        })
        .a_sync();
    }),
    place("s_wrap", |case| {
        always(()).spawn_evt().s_wrap(|()| case.act()).a_sync();
    }),
    place("a_wrap", |case| {
        let theirs = case.clone();
        let ((), mut done) = spawn_evt(move || theirs.act()).a_sync();
        let _ = done.join_evt().sync();
    }),
];
