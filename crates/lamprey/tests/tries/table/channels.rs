//! Channels.

use super::{ZERO, later, rows};
use lamprey::{bounded, broadcast, channel, channel_of, mailbox, multicast, oneshot, unbounded, watch};

rows! {
    ["channel/rendezvous/ends Sender::try_send"] {
        let (tx, rx) = channel();
        later(move || rx.recv());
        while tx.try_send(1).is_err() {}
    }
    ["channel/rendezvous/ends Sender::send_timeout"] {
        let (tx, rx) = channel();
        later(move || rx.recv());
        while tx.send_timeout(1, ZERO).is_err() {}
    }
    ["channel/rendezvous/ends Receiver::try_recv"] {
        let (tx, rx) = channel();
        later(move || tx.send(1));
        while rx.try_recv().is_err() {}
    }
    ["channel/rendezvous/ends Receiver::recv_timeout"] {
        let (tx, rx) = channel();
        later(move || tx.send(1));
        while rx.recv_timeout(ZERO).is_err() {}
    }
    ["channel/rendezvous/ends Receiver::try_iter"] {
        let (tx, rx) = channel();
        later(move || tx.send(1));
        while rx.try_iter().next().is_none() {}
    }
    ["channel/rendezvous/ends $end::is_closed"] {
        let ((tx, rx), (back, answers)) = (channel::<u8>(), channel::<u8>());
        later(move || drop((rx, back)));
        while !tx.is_closed() {}
        while !answers.is_closed() {}
    }
    ["channel/bounded Sender::try_send"] {
        let (tx, rx) = bounded(1);
        tx.send(1).unwrap();
        later(move || rx.recv().map(|_| lamprey::yield_now()));
        while tx.try_send(1).is_err() {}
    }
    ["channel/bounded Sender::send_timeout"] {
        let (tx, rx) = bounded(1);
        tx.send(1).unwrap();
        later(move || rx.recv().map(|_| lamprey::yield_now()));
        while tx.send_timeout(1, ZERO).is_err() {}
    }
    ["channel/bounded Sender::is_empty", "channel/bounded Sender::len"] {
        let (tx, rx) = bounded(2);
        tx.send(1).unwrap();
        tx.send(1).unwrap();
        later(move || {
            let _ = (rx.recv(), lamprey::sleep(std::time::Duration::from_millis(1)), rx.recv());
        });
        while tx.len() == 2 {}
        while !tx.is_empty() {}
    }
    ["channel/bounded Receiver::try_recv"] {
        let (tx, rx) = bounded(1);
        later(move || tx.send(1));
        while rx.try_recv().is_err() {}
    }
    ["channel/bounded Receiver::recv_timeout"] {
        let (tx, rx) = bounded(1);
        later(move || tx.send(1));
        while rx.recv_timeout(ZERO).is_err() {}
    }
    ["channel/bounded Receiver::try_iter"] {
        let (tx, rx) = bounded(1);
        later(move || tx.send(1));
        while rx.try_iter().next().is_none() {}
    }
    ["channel/bounded Receiver::len"] {
        let (tx, rx) = bounded(1);
        later(move || tx.send(1));
        while rx.len() == 0 {}
    }
    ["channel/bounded Receiver::is_empty"] {
        let (tx, rx) = bounded(1);
        later(move || tx.send(1));
        while rx.is_empty() {}
    }
    ["channel/gate/sender $end::is_closed"] {
        let ((tx, rx), (back, answers)) = (bounded::<u8>(1), unbounded::<u8>());
        later(move || drop((rx, back)));
        while !tx.is_closed() {}
        while !answers.is_closed() {}
    }
    ["channel/unbounded Receiver::try_recv"] {
        let (tx, rx) = unbounded();
        later(move || tx.send(1));
        while rx.try_recv().is_err() {}
    }
    ["channel/unbounded Receiver::recv_timeout"] {
        let (tx, rx) = unbounded();
        later(move || tx.send(1));
        while rx.recv_timeout(ZERO).is_err() {}
    }
    ["channel/unbounded Receiver::try_iter"] {
        let (tx, rx) = unbounded();
        later(move || tx.send(1));
        while rx.try_iter().next().is_none() {}
    }
    ["channel/unbounded Receiver::len"] {
        let (tx, rx) = unbounded();
        later(move || tx.send(1));
        while rx.len() == 0 {}
    }
    ["channel/unbounded Receiver::is_empty"] {
        let (tx, rx) = unbounded();
        later(move || tx.send(1));
        while rx.is_empty() {}
    }
    ["channel/unbounded Sender::len"] {
        let (tx, rx) = unbounded();
        tx.send(1).unwrap();
        later(move || rx.recv());
        while tx.len() != 0 {}
    }
    ["channel/unbounded Sender::is_empty"] {
        let (tx, rx) = unbounded();
        tx.send(1).unwrap();
        later(move || rx.recv());
        while !tx.is_empty() {}
    }
    ["channel/mailbox Receiver::try_recv"] {
        let (tx, mut rx) = mailbox();
        later(move || tx.send(1));
        while rx.try_recv().is_err() {}
    }
    ["channel/mailbox Receiver::recv_timeout"] {
        let (tx, mut rx) = mailbox();
        later(move || tx.send(1));
        while rx.recv_timeout(ZERO).is_err() {}
    }
    ["channel/mailbox Receiver::try_iter"] {
        let (tx, mut rx) = mailbox();
        later(move || tx.send(1));
        while rx.try_iter().next().is_none() {}
    }
    ["channel/mailbox Receiver::len"] {
        let (tx, rx) = mailbox();
        later(move || tx.send(1));
        while rx.len() == 0 {}
    }
    ["channel/mailbox Receiver::is_empty"] {
        let (tx, rx) = mailbox();
        later(move || tx.send(1));
        while rx.is_empty() {}
    }
    ["channel/mailbox Sender::len"] {
        let (tx, mut rx) = mailbox();
        tx.send(1).unwrap();
        later(move || rx.recv());
        while tx.len() != 0 {}
    }
    ["channel/mailbox Sender::is_empty"] {
        let (tx, mut rx) = mailbox();
        tx.send(1).unwrap();
        later(move || rx.recv());
        while !tx.is_empty() {}
    }
    ["channel/broadcast Receiver::try_recv"] {
        let (tx, mut rx) = broadcast(1);
        later(move || tx.send(1));
        while rx.try_recv().is_err() {}
    }
    ["channel/broadcast Receiver::recv_timeout"] {
        let (tx, mut rx) = broadcast(1);
        later(move || tx.send(1));
        while rx.recv_timeout(ZERO).is_err() {}
    }
    ["channel/broadcast Receiver::len"] {
        let (tx, rx) = broadcast(1);
        later(move || tx.send(1));
        while rx.len() == 0 {}
    }
    ["channel/broadcast Receiver::is_empty"] {
        let (tx, rx) = broadcast(1);
        later(move || tx.send(1));
        while rx.is_empty() {}
    }
    ["channel/broadcast Sender::receiver_count"] {
        let (tx, rx) = broadcast::<u8>(1);
        later(move || drop(rx));
        while tx.receiver_count() != 0 {}
    }
    ["channel/multicast Receiver::try_recv"] {
        let (tx, mut rx) = multicast();
        later(move || tx.send(1));
        while rx.try_recv().is_err() {}
    }
    ["channel/multicast Receiver::recv_timeout"] {
        let (tx, mut rx) = multicast();
        later(move || tx.send(1));
        while rx.recv_timeout(ZERO).is_err() {}
    }
    ["channel/oneshot Receiver::try_recv"] {
        let (tx, mut rx) = oneshot();
        later(move || tx.send(1));
        while rx.try_recv().is_err() {}
    }
    ["channel/oneshot Receiver::recv_timeout"] {
        let (tx, mut rx) = oneshot();
        later(move || tx.send(1));
        while rx.recv_timeout(ZERO).is_err() {}
    }
    ["channel/oneshot Sender::is_closed"] {
        let (tx, rx) = oneshot::<u8>();
        later(move || drop(rx));
        while !tx.is_closed() {}
    }
    ["channel/oneshot/close Receiver::is_closed"] {
        let (tx, rx) = oneshot();
        later(move || tx.send(1));
        while !rx.is_closed() {}
    }
    ["channel/oneshot/close Receiver::is_empty"] {
        let (tx, rx) = oneshot();
        later(move || tx.send(1));
        while rx.is_empty() {}
    }
    ["channel/watch Receiver::has_changed"] {
        let (tx, rx) = watch(0);
        later(move || tx.send(1));
        while !rx.has_changed() {}
    }
    ["channel/watch Receiver::get"] {
        let (tx, rx) = watch(0);
        later(move || tx.send(1));
        while rx.get() == 0 {}
    }
    ["channel/watch Receiver::changed_timeout"] {
        let (tx, mut rx) = watch(0);
        later(move || tx.send(1));
        while rx.changed_timeout(ZERO).is_err() {}
    }
    ["channel/watch Sender::get"] {
        let (tx, _rx) = watch(0);
        let other = tx.clone();
        later(move || other.send(1));
        while tx.get() == 0 {}
    }
    ["channel/watch Sender::receiver_count"] {
        let (tx, rx) = watch(0);
        later(move || drop(rx));
        while tx.receiver_count() != 0 {}
    }
    [
        "channel/channel_of Sender::try_send", "channel/channel_of Sender::send_timeout",
        "channel/channel_of Receiver::try_recv", "channel/channel_of Receiver::recv_timeout",
        "channel/channel_of Receiver::try_iter",
        "channel/channel_of $end::is_closed", "channel/channel_of $end::is_empty", "channel/channel_of $end::len",
    ] {
        for capacity in [Some(0), Some(1), None] {
            let ((tx, rx), (back, answers)) = (channel_of(capacity), channel_of(capacity));
            later(move || {
                for value in &rx {
                    back.send(value).unwrap();
                }
            });
            while tx.try_send(1).is_err() {}
            while answers.try_recv().is_err() {}
            while tx.send_timeout(1, ZERO).is_err() {}
            while answers.recv_timeout(ZERO).is_err() {}
            while tx.try_send(1).is_err() {}
            if capacity != Some(0) {
                while answers.is_empty() {}
                while answers.len() == 0 {}
            }
            while answers.try_iter().next().is_none() {}
            drop(tx);
            while !answers.is_closed() {}
        }
    }
}
