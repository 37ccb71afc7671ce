//! Places for values, requests, callbacks, actors, and the ends of any kind.

use super::{ZERO, flag, later, rows};
use lamprey::actor::{Inbox, bounded_inbox, inbox, spawn as actor};
use lamprey::event::{Event, callback};

use lamprey::{IVar, MVar, Receives, Sends, SwapChannel, bounded, channel, rpc};
use std::sync::atomic::Ordering;

rows! {
    ["channel/mvar MVar::try_take"] {
        let (place, other) = pair(MVar::empty());
        later(move || other.put(1));
        while place.try_take().is_none() {}
    }
    ["channel/mvar MVar::take_timeout"] {
        let (place, other) = pair(MVar::empty());
        later(move || other.put(1));
        while place.take_timeout(ZERO).is_err() {}
    }
    ["channel/mvar MVar::try_read"] {
        let (place, other) = pair(MVar::empty());
        later(move || other.put(1));
        while place.try_read().is_none() {}
    }
    ["channel/mvar MVar::try_put"] {
        let (place, other) = pair(MVar::new(0));
        later(move || other.take());
        while place.try_put(1).is_err() {}
    }
    ["channel/mvar MVar::put_timeout"] {
        let (place, other) = pair(MVar::new(0));
        later(move || other.take());
        while place.put_timeout(1, ZERO).is_err() {}
    }
    ["channel/mvar MVar::is_empty"] {
        let (place, other) = pair(MVar::empty());
        later(move || other.put(1));
        while place.is_empty() {}
    }
    ["sync/ivar IVar::try_get"] {
        let (place, other) = pair(IVar::new());
        later(move || other.put(1));
        while place.try_get().is_none() {}
    }
    ["sync/ivar IVar::try_get_ref"] {
        let (place, other) = pair(IVar::new());
        later(move || other.put(1));
        while place.try_get_ref().is_none() {}
    }
    ["sync/ivar IVar::get_timeout", "sync/ivar IVar::get_ref_timeout"] {
        let (place, other) = pair(IVar::new());
        later(move || other.put(1));
        while place.get_timeout(ZERO).is_none() {}
        let (place, other) = pair(IVar::new());
        later(move || other.put(1));
        while place.get_ref_timeout(ZERO).is_none() {}
    }
    ["sync/ivar IVar::get", "sync/ivar IVar::get_ref"] {
        // Full already: each call says so at once.
        let (full, done) = (IVar::new(), flag());
        full.put(1).unwrap();
        while !done.load(Ordering::Relaxed) {
            assert_eq!((full.get(), full.get_ref()), (1, &1));
        }
    }
    ["channel/rpc Server::try_recv", "channel/rpc Reply::is_abandoned"] {
        let (client, server) = rpc::<u8, u8>();
        later(move || client.call_timeout(1, std::time::Duration::from_millis(1)));
        let (_, reply) = loop {
            if let Ok(request) = server.try_recv() {
                break request;
            }
        };
        while !reply.is_abandoned() {}
    }
    ["channel/rpc Server::recv_timeout", "channel/rpc Server::is_closed"] {
        let (client, server) = rpc::<u8, u8>();
        later(move || client.call(1));
        let (_, reply) = loop {
            if let Ok(request) = server.recv_timeout(ZERO) {
                break request;
            }
        };
        reply.send(1).unwrap();
        while !server.is_closed() {}
    }
    ["channel/rpc Client::call_timeout", "channel/rpc Client::is_closed"] {
        let (client, server) = rpc::<u8, u8>();
        let (asked, was_asked) = pair(IVar::new());
        later(move || {
            drop(server.recv());
            was_asked.put(()).unwrap();
        });
        while client.call_timeout(1, ZERO).is_err() && asked.try_get().is_none() {}
        while !client.is_closed() {}
    }
    ["channel/swap SwapChannel::swap_timeout"] {
        let (mine, theirs) = pair(SwapChannel::new());
        later(move || theirs.swap(2));
        while mine.swap_timeout(1, ZERO) != Ok(2) {}
    }
    ["channel/callback Callback::is_wanted"] {
        let (done, event) = callback::<u8>();
        later(move || drop(event));
        while done.is_wanted() {}
    }
    ["channel/sends Sends::try_send", "channel/sends Sends::send_timeout", "channel/sends Sends::is_closed"] {
        let (tx, rx) = channel();
        let tx: Box<dyn Sends<u8>> = Box::new(tx);
        later(move || (rx.recv(), rx.recv()));
        while tx.try_send(1).is_err() {}
        while tx.send_timeout(1, ZERO).is_err() {}
        while !tx.is_closed() {}
    }
    [
        "channel/sends Receives::try_recv", "channel/sends Receives::recv_timeout", "channel/sends Receives::is_closed",
        "channel/sends Receives::len", "channel/sends Receives::is_empty",
    ] {
        let (tx, rx) = bounded(1);
        let mut rx: Box<dyn Receives<u8>> = Box::new(rx);
        later(move || (0..3).try_for_each(|n| tx.send(n)));
        while rx.is_empty() {}
        while rx.len() == 0 {}
        for _ in 0..2 {
            while rx.try_recv().is_err() {}
        }
        while rx.recv_timeout(ZERO).is_err() {}
        while !rx.is_closed() {}
    }
    ["events/algebra/mod Event::poll", "events/algebra/mod Event::sync_timeout"] {
        let (tx, rx) = channel();
        later(move || (tx.send(1), tx.send(1)));
        while rx.recv_evt().poll().is_none() {}
        while rx.recv_evt().sync_timeout(ZERO).is_none() {}
    }
    ["actor/address Address::try_tell", "actor/address Address::tell_timeout"] {
        let (to, mut inbox) = bounded_inbox(1);
        to.tell(1).unwrap();
        later(move || inbox.iter().for_each(drop));
        while to.try_tell(1).is_err() {}
        while to.tell_timeout(1, ZERO).is_err() {}
    }
    ["actor/address Address::len", "actor/address Address::is_empty"] {
        let (to, mut inbox) = inbox();
        to.tell(1).unwrap();
        to.tell(1).unwrap();
        later(move || inbox.iter().for_each(drop));
        while to.len() != 0 {}
        to.tell(1).unwrap();
        while !to.is_empty() {}
    }
    ["actor/inbox Inbox::try_recv", "actor/inbox Inbox::recv_timeout", "actor/inbox Inbox::len", "actor/inbox Inbox::is_empty"] {
        let (to, mut inbox) = bounded_inbox(1);
        later(move || (0..3).try_for_each(|n| to.tell(n)));
        while inbox.is_empty() {}
        while inbox.try_recv().is_err() {}
        while inbox.len() == 0 {}
        while inbox.recv_timeout(ZERO).is_err() {}
        while inbox.recv_timeout(ZERO).is_err() {}
    }
    ["actor/address Address::ask_timeout", "actor/life Monitor::try_wait", "actor/life Monitor::wait_timeout"] {
        let body = |inbox: &mut Inbox<lamprey::actor::Reply<u8>>| inbox.iter().take(1).for_each(|reply| {
            let _ = reply.send(1);
        });
        let (to, _host) = actor(body);
        let monitor = to.monitor();
        while to.ask_timeout(|reply| reply, ZERO).is_err() && monitor.try_wait().is_none() {}
        while monitor.try_wait().is_none() {}
        while monitor.wait_timeout(ZERO).is_err() {}
        let (to, _host) = actor(body);
        let monitor = to.monitor();
        drop(to);
        while monitor.wait_timeout(ZERO).is_err() {}
    }
}

fn pair<T>(place: T) -> (std::sync::Arc<T>, std::sync::Arc<T>) {
    let place = std::sync::Arc::new(place);
    (place.clone(), place)
}
