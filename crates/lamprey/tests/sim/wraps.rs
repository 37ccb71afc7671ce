//! The functions of a `choose_all`: each may wait for what the peers of the other events do next.

use crate::found::holds;
use lamprey::event::{BoxedEvent, Event, choose, choose_all, never, prefer, with_nack};
use lamprey::{Receiver, Sender, channel, spawn};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(3600);

/// A peer that sends two values and then waits for the answer to the first.
struct Peer {
    first: Receiver<u32>,
    second: Receiver<u32>,
    answer: Sender<u32>,
}

impl Peer {
    fn start() -> Self {
        let ((one, first), (two, second), (answer, answered)) = (channel(), channel(), channel());
        spawn(move || {
            one.send(1).unwrap();
            two.send(2).unwrap();
            assert_eq!(answered.recv(), Ok(3));
        });
        Self { first, second, answer }
    }

    /// Answers in its function.
    fn answering(&self) -> BoxedEvent<'_, u32> {
        let answer = |got: Result<_, _>| {
            self.answer.send(3).unwrap();
            got.unwrap()
        };
        self.first.recv_evt().wrap(answer).boxed()
    }

    fn plain(&self) -> BoxedEvent<'_, u32> {
        self.second.recv_evt().wrap(Result::unwrap).boxed()
    }
}

/// `form` synchronises on both events of a peer.
fn both(form: impl Fn(&Peer) -> Vec<u32> + Send + Sync + Copy + 'static) {
    holds(move || {
        let mut got = form(&Peer::start());
        got.sort_unstable();
        assert_eq!(got, [1, 2]);
    });
}

#[test]
fn alone_in_either_order() {
    both(|peer| choose_all([peer.answering(), peer.plain()]).sync());
    both(|peer| choose_all([peer.plain(), peer.answering()]).sync());
}

#[test]
fn as_a_future() {
    both(|peer| lamprey::wait(choose_all([peer.answering(), peer.plain()])));
    both(|peer| lamprey::wait(choose((choose_all([peer.answering(), peer.plain()]), never()))));
}

#[test]
fn as_a_branch_of_a_choice() {
    both(|peer| choose((choose_all([peer.answering(), peer.plain()]), never())).sync());
    both(|peer| prefer((never(), choose_all([peer.answering(), peer.plain()]))).sync());
    both(|peer| {
        lamprey::select! {
            event(choose_all([peer.answering(), peer.plain()])) -> all => all,
            event(never::<()>()) -> () => unreachable!(),
        }
    });
}

#[test]
fn within_a_limit() {
    both(|peer| choose_all([peer.answering(), peer.plain()]).sync_timeout(LONG).unwrap());
    both(|peer| with_nack(|_| choose_all([peer.answering(), peer.plain()])).wrap_handler(|_| vec![]).sync());
}

/// The other event belongs to another `choose_all` within the same.
#[test]
fn one_within_another() {
    both(|peer| choose_all([choose_all([peer.answering()]), choose_all([peer.plain()])]).sync().concat());
    both(|peer| {
        let answering = choose((choose_all([peer.answering()]), never())).boxed();
        let plain = with_nack(|_| choose_all([peer.plain()])).wrap_handler(|_| vec![]).boxed();
        choose((choose_all([answering, plain]), never())).sync().concat()
    });
}

/// Values go from one event to the other, within one or between two.
#[test]
fn events_of_those_within_one_meet_each_other() {
    holds(|| {
        let ((tx, rx), (tx2, rx2)) = (channel(), channel());
        let sends = |tx: Sender<u32>| tx.into_send_evt(1).wrap(|sent| sent.map_or(0, |()| 10)).boxed();
        let receives = |rx: Receiver<u32>| rx.into_recv_evt().wrap(Result::unwrap).boxed();
        let one = choose_all([sends(tx), receives(rx2)]);
        let other = choose_all([receives(rx), sends(tx2)]);
        assert_eq!(choose_all([one, other]).sync().concat(), [10, 1, 1, 10]);
        let (tx, rx) = channel();
        assert_eq!(choose_all([choose_all([sends(tx), receives(rx)])]).sync(), [[10, 1]]);
        let (tx, rx) = channel();
        assert_eq!(lamprey::wait(choose_all([choose_all([receives(rx), sends(tx)]).boxed()])), [[1, 10]]);
    });
}
