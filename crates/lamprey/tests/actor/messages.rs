//! What is told and asked, in all forms, from all kinds of threads.

use crate::common::{FOREVER, run, yield_until};
use lamprey::actor::{self, Address, AskError, AskTimeoutError, Ended, Inbox, Reply};
use lamprey::event::{Event, always, choose};
use lamprey::{JoinError, SendTimeoutError, TrySendError, parasite, spawn};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub enum Ask {
    Add(u64),
    Sum(Reply<u64>),
    /// Drops the reply.
    Ignore(Reply<u64>),
    /// Keeps the reply, and looks whether somebody waits when it handles the next message.
    Keep(Reply<u64>),
    Panic,
}

/// Adds; the sum at its end. Notes whether replies that it kept were abandoned.
pub fn adder(abandoned: Arc<Mutex<Vec<bool>>>) -> impl Fn(&mut Inbox<Ask>) -> u64 + Send + Sync {
    move |inbox| {
        let (mut sum, mut kept) = (0, Vec::<Reply<u64>>::new());
        for ask in inbox {
            abandoned.lock().unwrap().extend(kept.drain(..).map(|reply| reply.is_abandoned()));
            match ask {
                Ask::Add(n) => sum += n,
                Ask::Sum(reply) => drop(reply.send(sum)),
                Ask::Ignore(reply) => drop(reply),
                Ask::Keep(reply) => kept.push(reply),
                Ask::Panic => panic!("told to"),
            }
        }
        sum
    }
}

pub fn start() -> (Address<Ask>, lamprey::JoinHandle<u64>) {
    actor::spawn(adder(Arc::default()))
}

#[test]
fn every_form_asks_the_same() {
    for workers in [1, 2] {
        run(workers, || {
            let (address, host) = start();
            address.tell(Ask::Add(1)).unwrap();
            address.try_tell(Ask::Add(2)).map_err(|_| ()).unwrap();
            address.tell_timeout(Ask::Add(3), Duration::ZERO).unwrap();
            address.tell_evt(Ask::Add(4)).sync().unwrap();
            assert_eq!(address.ask(Ask::Sum), Ok(10));
            assert_eq!(address.ask_timeout(Ask::Sum, FOREVER), Ok(10));
            assert_eq!(address.ask_evt(Ask::Sum).sync(), Ok(10));
            let theirs = address.clone();
            let asked = parasite(async move {
                theirs.tell_async(Ask::Add(5)).await.unwrap();
                theirs.ask_async(Ask::Sum).await
            });
            assert_eq!(asked.join().unwrap(), Ok(15));
            let theirs = address.clone();
            let asked = std::thread::spawn(move || {
                let foreign = futures::executor::block_on(theirs.ask_async(Ask::Sum));
                (theirs.ask(Ask::Sum), foreign, theirs.monitor().try_wait())
            });
            yield_until("the OS thread has asked", || asked.is_finished());
            assert_eq!(asked.join().unwrap(), (Ok(15), Ok(15), None));
            drop(address);
            assert_eq!(host.join().unwrap(), 15);
        });
    }
}

#[test]
fn who_asks_learns_that_there_is_no_reply() {
    run(1, || {
        let (address, host) = start();
        assert_eq!(address.ask(Ask::Ignore), Err(AskError::NoReply));
        assert_eq!(address.ask_timeout(Ask::Ignore, FOREVER), Err(AskTimeoutError::NoReply));
        let panics = address.clone();
        let waits = spawn(move || panics.ask(Ask::Keep));
        lamprey::yield_now();
        address.tell(Ask::Panic).unwrap();
        assert_eq!(waits.join().unwrap(), Err(AskError::NoReply));
        assert!(matches!(host.join(), Err(JoinError::Panicked(_))));
        assert_eq!(address.ask(Ask::Sum), Err(AskError::Gone));
        assert!(address.tell(Ask::Add(1)).is_err());
        assert_eq!(address.ask_timeout(Ask::Sum, FOREVER), Err(AskTimeoutError::Gone));
        assert_eq!(lamprey::wait(address.ask_async(Ask::Sum)), Err(AskError::Gone));
    });
}

#[test]
fn an_ask_that_is_given_up_can_be_seen_by_the_actor() {
    run(2, || {
        let abandoned = Arc::new(Mutex::new(Vec::new()));
        let (address, host) = actor::spawn(adder(abandoned.clone()));
        let began = Instant::now();
        let short = Duration::from_millis(3);
        assert_eq!(address.ask_timeout(Ask::Keep, short), Err(AskTimeoutError::Timeout));
        assert!(began.elapsed() >= short);
        address.tell(Ask::Add(1)).unwrap();
        // A branch that is not chosen.
        assert_eq!(choose((address.ask_evt(Ask::Keep).wrap(|_| 1), always(2))).sync(), 2);
        address.tell(Ask::Add(1)).unwrap();
        // A host that is cancelled while it waits.
        let theirs = address.clone();
        let asks = spawn(move || theirs.ask(Ask::Keep));
        lamprey::yield_now();
        assert!(matches!(asks.cancel_and_join(), Err(JoinError::Cancelled(_))));
        address.tell(Ask::Add(1)).unwrap();
        // A future that is dropped.
        let mut asked = Box::pin(address.ask_async(Ask::Keep));
        assert!(futures::FutureExt::now_or_never(&mut asked).is_none());
        drop(asked);
        address.tell(Ask::Add(1)).unwrap();
        drop(address);
        assert_eq!(host.join().unwrap(), 4);
        assert!(abandoned.lock().unwrap().iter().all(|abandoned| *abandoned));
    });
}

#[test]
fn a_bounded_inbox_holds_back_who_tells_it_more() {
    for workers in [1, 2] {
        run(workers, || {
            let (address, mut inbox) = actor::bounded_inbox::<u32>(2);
            address.tell(1).unwrap();
            address.tell(2).unwrap();
            assert_eq!(address.len(), 2);
            assert!(matches!(address.try_tell(3), Err(TrySendError::Full(3))));
            let short = Duration::from_millis(2);
            assert!(matches!(address.tell_timeout(3, short), Err(SendTimeoutError::Timeout(3))));
            assert!(address.tell_evt(3).sync_timeout(short).is_none());
            let told = Arc::new(AtomicBool::new(false));
            let (theirs, done) = (address.clone(), told.clone());
            let tells = spawn(move || {
                theirs.tell(3).unwrap();
                done.store(true, Ordering::SeqCst);
            });
            let cancelled = spawn(move || address.tell(4).unwrap());
            (0..10).for_each(|_| lamprey::yield_now());
            assert!(!told.load(Ordering::SeqCst), "it waits for room");
            assert!(matches!(cancelled.cancel_and_join(), Err(JoinError::Cancelled(_))));
            let got = inbox.run(|inbox| inbox.iter().collect::<Vec<_>>());
            assert_eq!(got, Ok(vec![1, 2, 3]));
            tells.join().unwrap();
        });
    }
}

#[test]
#[should_panic(expected = "bounded_inbox(0)")]
fn a_bounded_inbox_has_room() {
    let _ = actor::bounded_inbox::<u32>(0);
}

#[test]
fn an_actor_receives_in_every_form() {
    run(1, || {
        let (address, mut inbox) = actor::inbox::<u32>();
        let got = spawn(move || {
            let mut got = vec![inbox.recv().unwrap()];
            got.push(lamprey::wait(inbox.recv_async()).unwrap());
            got.push(inbox.recv_evt().sync().unwrap());
            got.push(inbox.recv_timeout(FOREVER).unwrap());
            got.push(inbox.try_recv().unwrap());
            assert!(inbox.is_empty());
            assert!(inbox.try_recv().is_err() && inbox.recv_timeout(Duration::ZERO).is_err());
            got
        });
        (0..5).for_each(|n| address.tell(n).unwrap());
        assert_eq!(got.join().unwrap(), [0, 1, 2, 3, 4]);
        assert_eq!(address.monitor().wait(), Ended::NotRun);
    });
}

#[test]
fn what_waits_is_handled_before_the_end() {
    run(1, || {
        let (address, mut inbox) = actor::inbox::<u32>();
        (0..1000).for_each(|n| address.tell(n).unwrap());
        drop(address);
        assert_eq!(inbox.run(|inbox| inbox.iter().count()), Ok(1000));
    });
}

#[test]
fn a_simulation_replays_actors() {
    let once = |seed| {
        lamprey::Runtime::simulated(seed).run(|| {
            let (address, host) = actor::spawn(adder(Arc::default()));
            let askers: Vec<_> = (0..8)
                .map(|n| {
                    let address = address.clone();
                    spawn(move || {
                        address.tell(Ask::Add(1 << n)).unwrap();
                        address.ask_timeout(Ask::Keep, Duration::from_secs(n)).unwrap_err();
                        address.ask(Ask::Sum)
                    })
                })
                .collect();
            let sums: Vec<_> = askers.into_iter().map(|asker| asker.join().unwrap()).collect();
            drop(address);
            (sums, host.join().unwrap())
        })
    };
    assert_eq!(once(1).1, 255);
    assert_eq!(once(7), once(7));
}

#[test]
fn messages_of_one_sender_come_in_order_and_none_twice() {
    run(2, || {
        let (address, host) = actor::spawn(|inbox: &mut Inbox<(usize, u32)>| {
            let mut last = [0; 4];
            for (sender, n) in inbox {
                assert_eq!(n, last[sender] + 1);
                last[sender] = n;
            }
            last
        });
        let tell = |sender| {
            let address: Address<_> = address.clone();
            move || (1..=500).for_each(|n| address.tell((sender, n)).unwrap())
        };
        let hosts = [spawn(tell(0)), spawn(tell(1))];
        let threads = [std::thread::spawn(tell(2)), std::thread::spawn(tell(3))];
        hosts.into_iter().for_each(|host| host.join().unwrap());
        lamprey::block(|| threads.into_iter().for_each(|thread| thread.join().unwrap()));
        drop(address);
        assert_eq!(host.join().unwrap(), [500; 4]);
    });
}
