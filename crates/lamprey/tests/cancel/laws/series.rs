//! What goes through a channel goes through once and in order, however often one end or the other is
//! cancelled.

use super::attempt::{Endpoint, Plan, Tries, pause, plans, start};
use super::holds;
use lamprey::event::{Event, choose, choose_all};
use lamprey::{IVar, MVar, broadcast, channel, mailbox, multicast, watch};
use std::sync::Arc;

const VALUES: u32 = 30;
const CASES: u32 = 60;

/// A blocking call and its awaitable form, of an end that is reached by `&mut`.
macro_rules! endpoint {
    ($name:ident($inner:ty) -> $item:ty { |$end:ident| $go:expr, $go_async:expr }) => {
        struct $name($inner);
        impl Endpoint for $name {
            type Item = $item;
            fn go(&mut self) -> $item {
                let $end = &mut self.0;
                $go
            }
            async fn go_async(&mut self) -> $item {
                let $end = &mut self.0;
                $go_async
            }
        }
    };
}
pub(super) use endpoint;

/// What the receiving end has got, in order, until there was no more.
fn received<E: Endpoint<Item = Option<u32>> + 'static>(
    plan: Plan,
    mut end: E,
    send: impl FnOnce(u64) + Send + 'static,
) -> Vec<u32> {
    let seed = !plan.seed;
    let sender = lamprey::spawn(move || send(seed));
    let receiver = start(plan.seat, move || {
        let (mut tries, mut got) = (Tries::new(plan), Vec::new());
        while let Some(value) = tries.until_done(&mut end) {
            got.push(value);
        }
        got
    });
    sender.join().unwrap();
    receiver()
}

/// All of them, in order.
#[track_caller]
fn is_complete(got: &[u32]) {
    assert_eq!(got, (0..VALUES).collect::<Vec<_>>());
}

/// Calls `send` with each value, with pauses.
fn each(seed: u64, mut send: impl FnMut(u32)) {
    let mut random = fastrand::Rng::with_seed(seed);
    for value in 0..VALUES {
        pause(&mut random);
        send(value);
    }
}

endpoint!(Rendezvous(lamprey::Receiver<u32>) -> Option<u32> { |rx| rx.recv().ok(), rx.recv_async().await.ok() });
endpoint!(Bounded(lamprey::bounded::Receiver<u32>) -> Option<u32> { |rx| rx.recv().ok(), rx.recv_async().await.ok() });
endpoint!(Mailbox(mailbox::Receiver<u32>) -> Option<u32> { |rx| rx.recv().ok(), rx.recv_async().await.ok() });
endpoint!(Broadcast(broadcast::Receiver<u32>) -> Option<u32> { |rx| rx.recv().ok(), rx.recv_async().await.ok() });
endpoint!(Multicast(multicast::Receiver<u32>) -> Option<u32> { |rx| rx.recv().ok(), rx.recv_async().await.ok() });
endpoint!(Take(Arc<MVar<Option<u32>>>) -> Option<u32> { |var| var.take().unwrap(), var.take_async().await.unwrap() });
endpoint!(Watch(watch::Receiver<u32>) -> Option<u32> {
    |rx| rx.changed().is_ok().then(|| rx.get()),
    rx.changed_async().await.is_ok().then(|| rx.get())
});
// One that is disconnected may win against a value that has come back to the other.
endpoint!(Choice((lamprey::Receiver<u32>, lamprey::Receiver<u32>)) -> Option<u32> {
    |both| choose([both.0.recv_evt(), both.1.recv_evt()]).sync().or_else(|_| left_in(both)).ok(),
    choose([both.0.recv_evt(), both.1.recv_evt()]).await.or_else(|_| left_in(both)).ok()
});

fn left_in(both: &(lamprey::Receiver<u32>, lamprey::Receiver<u32>)) -> Result<u32, lamprey::TryRecvError> {
    both.0.try_recv().or_else(|_| both.1.try_recv())
}

endpoint!(Both((lamprey::Receiver<u32>, lamprey::Receiver<u32>)) -> Vec<Option<u32>> {
    |both| choose_all(vec![both.0.recv_evt(), both.1.recv_evt()]).sync().into_iter().map(Result::ok).collect(),
    choose_all(vec![both.0.recv_evt(), both.1.recv_evt()]).await.into_iter().map(Result::ok).collect()
});

#[test]
fn a_bounded_channel_loses_nothing_when_receives_are_cancelled() {
    holds(CASES, &plans(), |plan| {
        let (tx, rx) = lamprey::bounded(2);
        let got = received(plan, Bounded(rx), move |seed| each(seed, |value| tx.send(value).unwrap()));
        is_complete(&got);
    });
}

#[test]
fn a_mailbox_loses_nothing_when_receives_are_cancelled() {
    holds(CASES, &plans(), |plan| {
        let (tx, rx) = mailbox();
        let got = received(plan, Mailbox(rx), move |seed| each(seed, |value| tx.send(value).unwrap()));
        is_complete(&got);
    });
}

#[test]
fn a_broadcast_misses_nothing_when_receives_are_cancelled() {
    holds(CASES, &plans(), |plan| {
        let (tx, rx) = broadcast(VALUES as usize);
        let send = move |seed| each(seed, |value| assert_eq!(tx.send(value), Ok(1)));
        is_complete(&received(plan, Broadcast(rx), send));
    });
}

#[test]
fn a_multicast_misses_nothing_when_receives_are_cancelled() {
    holds(CASES, &plans(), |plan| {
        let (tx, port) = multicast();
        let got = received(plan, Multicast(port), move |seed| each(seed, |value| tx.send(value).unwrap()));
        is_complete(&got);
    });
}

#[test]
fn an_mvar_loses_nothing_when_takes_are_cancelled() {
    holds(CASES, &plans(), |plan| {
        let var = Arc::new(MVar::empty());
        let got = received(plan, Take(var.clone()), move |seed| {
            each(seed, |value| var.put(Some(value)).unwrap());
            var.put(None).unwrap();
        });
        is_complete(&got);
    });
}

#[test]
fn a_watch_never_misses_the_last_change() {
    holds(CASES, &plans(), |plan| {
        let (tx, rx) = watch(u32::MAX);
        let got = received(plan, Watch(rx), move |seed| each(seed, |value| tx.send(value).unwrap()));
        assert!(got.is_sorted(), "{got:?}");
        assert_eq!(got.last(), Some(&(VALUES - 1)));
    });
}

#[test]
fn a_rendezvous_loses_nothing_when_receives_are_cancelled() {
    holds(CASES, &plans(), |plan| {
        let (tx, rx) = channel();
        let send = move |seed| each(seed, |value| tx.send(value).unwrap());
        is_complete(&received(plan, Rendezvous(rx), send));
    });
}

#[test]
fn a_choice_of_receives_loses_nothing_when_it_is_cancelled() {
    holds(CASES, &plans(), |plan| {
        let (one, other) = (channel(), channel());
        let got = received(plan, Choice((one.1, other.1)), move |seed| {
            each(seed, |value| if value % 2 == 0 { &one.0 } else { &other.0 }.send(value).unwrap());
        });
        // What has been put back may be overtaken in the other channel.
        for parity in [0, 1] {
            let got: Vec<_> = got.iter().filter(|&value| value % 2 == parity).collect();
            assert!(got.is_sorted_by(|a, b| a < b), "{got:?}");
        }
        assert_eq!(got.len(), VALUES as usize, "{got:?}");
    });
}

/// What has come before the cancellation goes back.
#[test]
fn a_choose_all_of_receives_takes_all_or_nothing() {
    holds(CASES, &plans(), |plan| {
        let (one, other) = (channel(), channel());
        let mut end = Both((one.1, other.1));
        let senders = [one.0, other.0].map(|tx| {
            let seed = plan.seed;
            lamprey::spawn(move || each(seed, |value| tx.send(value).unwrap()))
        });
        let receiver = start(plan.seat, move || {
            let (mut tries, mut got) = (Tries::new(plan), [Vec::new(), Vec::new()]);
            loop {
                let both = tries.until_done(&mut end);
                for (got, value) in got.iter_mut().zip(&both) {
                    got.extend(value);
                }
                if both.iter().all(Option::is_none) {
                    return got;
                }
            }
        });
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        receiver().iter().for_each(|got| is_complete(got));
    });
}

/// A sending end, and the value that is to go next.
struct Sends<T>(T, u32);

/// What arrives if each cancelled send is made again (`again`), or given up for the next value; before that
/// what has been sent for certain, and what may have been: where a future was dropped.
fn sent<T: Send + 'static>(
    plan: Plan,
    tx: T,
    again: bool,
    mut recv: impl FnMut() -> Option<u32> + Send + 'static,
) -> ((Vec<u32>, Vec<u32>), Vec<u32>)
where
    Sends<T>: Endpoint<Item = ()>,
{
    let seed = !plan.seed;
    let sender = start(plan.seat, move || {
        let (mut tries, mut end) = (Tries::new(plan), Sends(tx, 0));
        let (mut confirmed, mut uncertain) = (Vec::new(), Vec::new());
        while end.1 < VALUES {
            let dropped = tries.dropped;
            let is_sent = tries.once(&mut end).is_some();
            if is_sent {
                confirmed.push(end.1);
            } else if tries.dropped > dropped {
                uncertain.push(end.1);
            }
            end.1 += u32::from(is_sent || !again);
        }
        (confirmed, uncertain)
    });
    let receiver = lamprey::spawn(move || {
        let (mut random, mut got) = (fastrand::Rng::with_seed(seed), Vec::new());
        while let Some(value) = recv() {
            got.push(value);
            pause(&mut random);
        }
        got
    });
    (sender(), receiver.join().unwrap())
}

impl Endpoint for Sends<lamprey::Sender<u32>> {
    type Item = ();
    fn go(&mut self) {
        self.0.send(self.1).unwrap();
    }
    async fn go_async(&mut self) {
        self.0.send_async(self.1).await.unwrap();
    }
}

impl Endpoint for Sends<lamprey::bounded::Sender<u32>> {
    type Item = ();
    fn go(&mut self) {
        self.0.send(self.1).unwrap();
    }
    async fn go_async(&mut self) {
        self.0.send_async(self.1).await.unwrap();
    }
}

/// Puts `VALUES` when it is dropped: the end.
struct Puts(Arc<MVar<u32>>);

impl Drop for Puts {
    fn drop(&mut self) {
        self.0.put(VALUES).unwrap();
    }
}

impl Endpoint for Sends<Puts> {
    type Item = ();
    fn go(&mut self) {
        self.0.0.put(self.1).unwrap();
    }
    async fn go_async(&mut self) {
        self.0.0.put_async(self.1).await.unwrap();
    }
}

#[test]
fn a_send_to_a_bounded_channel_that_was_cancelled_has_not_happened() {
    holds(CASES, &plans(), |plan| {
        let (tx, rx) = lamprey::bounded(1);
        let (_, got) = sent(plan, tx, true, move || rx.recv().ok());
        is_complete(&got);
    });
}

#[test]
fn a_put_that_was_cancelled_has_not_happened() {
    holds(CASES, &plans(), |plan| {
        let var = Arc::new(MVar::empty());
        let puts = Puts(var.clone());
        let take = move || Some(var.take().unwrap()).filter(|&value| value < VALUES);
        is_complete(&sent(plan, puts, true, take).1);
    });
}

#[test]
fn a_send_to_a_rendezvous_that_was_cancelled_has_not_happened_unless_its_future_was_dropped() {
    holds(CASES, &plans(), |plan| {
        let (tx, rx) = channel();
        let ((confirmed, uncertain), got) = sent(plan, tx, false, move || rx.recv().ok());
        assert!(got.is_sorted_by(|a, b| a < b), "{got:?}");
        assert!(confirmed.iter().all(|value| got.contains(value)), "{confirmed:?} {got:?}");
        let is_explained = |value| confirmed.contains(value) || uncertain.contains(value);
        assert!(got.iter().all(is_explained), "{confirmed:?} {uncertain:?} {got:?}");
    });
}

endpoint!(Get(IVar<u32>) -> u32 { |var| var.get(), var.get_async().await });
endpoint!(Once(lamprey::oneshot::Receiver<u32>) -> Option<u32> {
    // (The blocking form consumes the receiver.)
    |rx| rx.recv_evt().sync().ok(),
    rx.recv_async().await.ok()
});
endpoint!(Join(lamprey::JoinHandle<u32>) -> u32 {
    |host| host.join_evt().sync().unwrap(),
    host.join_evt().await.unwrap()
});
endpoint!(JoinParasite(lamprey::ParasiteHandle<u32>) -> u32 {
    |parasite| parasite.join_evt().sync().unwrap(),
    parasite.join_evt().await.unwrap()
});

/// What comes once is there for whoever asks again.
#[test]
fn a_result_waits_for_whoever_was_cancelled() {
    holds(CASES, &plans(), |plan| {
        let (var, (tx, rx), seed) = (IVar::new(), lamprey::oneshot(), plan.seed);
        let theirs = var.clone();
        let work = move || {
            (0..10).for_each(|n| pause(&mut fastrand::Rng::with_seed(seed ^ n)));
            theirs.put(1).unwrap();
            tx.send(2).unwrap();
            3
        };
        let host = lamprey::spawn(work);
        let parasite = lamprey::parasite(async move {
            lamprey::yield_now_async().await;
            4
        });
        let results = start(plan.seat, move || {
            let mut tries = Tries::new(plan);
            let one = tries.until_done(&mut Get(var));
            let two = tries.until_done(&mut Once(rx)).unwrap();
            let three = tries.until_done(&mut Join(host));
            [one, two, three, tries.until_done(&mut JoinParasite(parasite))]
        });
        assert_eq!(results(), [1, 2, 3, 4]);
    });
}
