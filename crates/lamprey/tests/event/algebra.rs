//! Events: choices from all kinds of threads, each case by its moment.

use lamprey::event::{Event, always, at, choose, future_evt, guard, never, prefer, timeout, with_nack};
use lamprey::{RecvError, SendError, channel, parasite, run, spawn, yield_now};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(3);

/// Runs `f` on a host, in a parasite's thread of control by `wait`, and on an OS thread.
fn everywhere(f: impl Fn() + Send + Sync + Copy + 'static) {
    f();
    run(f);
    run(move || lamprey::parasite_fn(f).join().unwrap());
}

#[test]
fn one_that_is_ready_is_taken_at_once() {
    everywhere(|| {
        assert_eq!(choose((always(1), never())).sync(), 1);
        assert_eq!(choose((never(), always(2))).sync(), 2);
        assert_eq!(prefer((always(1), always(2), always(3))).sync(), 1);
        assert_eq!(choose(vec![always(7).boxed(), never().boxed()]).sync(), 7);
        assert_eq!(choose((never(), choose((never(), always(3).wrap(|n| n + 1))))).sync(), 4);
    });
}

#[test]
fn a_choice_that_blocked_is_woken_by_any_of_its_channels() {
    everywhere(|| {
        for chosen in 0..3 {
            let ends: Vec<_> = (0..3).map(|_| channel()).collect();
            let tx = ends[chosen].0.clone();
            let sender = std::thread::spawn(move || {
                std::thread::sleep(SHORT);
                tx.send(chosen).unwrap();
            });
            let got = choose(ends.iter().map(|(_, rx)| rx.recv_evt()).collect::<Vec<_>>()).sync();
            assert_eq!(got, Ok(chosen));
            sender.join().unwrap();
            // The other offers are gone.
            for (tx, _) in &ends {
                assert!(tx.try_send(9).is_err());
            }
        }
    });
}

#[test]
fn a_send_that_was_not_chosen_was_not_received() {
    run(|| {
        let ((tx, rx), (tx2, rx2)) = (channel(), channel());
        let receiver = spawn(move || rx.recv());
        yield_now();
        assert_eq!(choose((tx.send_evt(1), tx2.send_evt(2))).sync(), Ok(()));
        assert_eq!(receiver.join().unwrap(), Ok(1));
        assert!(rx2.try_recv().is_err());
        drop(rx2);
        assert_eq!(choose((tx2.send_evt(3), never())).sync(), Err(SendError(3)));
    });
}

#[test]
fn two_choices_meet_in_one_communication() {
    run(|| {
        let ((a, from_a), (b, from_b)) = (channel(), channel());
        let other = {
            let (from_a, b) = (from_a.clone(), b.clone());
            spawn(move || choose((from_a.recv_evt().wrap(Result::ok), b.send_evt(2).wrap(|_| None))).sync())
        };
        let mine = choose((a.send_evt(1).wrap(|_| None), from_b.recv_evt().wrap(Result::ok))).sync();
        match (mine, other.join().unwrap()) {
            (None, Some(1)) | (Some(2), None) => {}
            odd => panic!("{odd:?}"),
        }
    });
}

#[test]
fn a_choice_does_not_meet_itself() {
    run(|| {
        let (tx, rx) = channel();
        let both = || {
            choose((
                tx.send_evt(1).wrap(|sent| sent.map(|()| 0).unwrap()),
                rx.recv_evt().wrap(Result::unwrap),
            ))
        };
        assert_eq!(both().sync_timeout(SHORT), None);
        assert_eq!(both().poll(), None);
        // Two such choices meet each other.
        let (tx2, rx2) = (tx.clone(), rx.clone());
        let other = spawn(move || {
            choose((
                tx2.send_evt(2).wrap(|sent| sent.map(|()| 0).unwrap()),
                rx2.recv_evt().wrap(Result::unwrap),
            ))
            .sync()
        });
        let sum = both().sync() + other.join().unwrap();
        assert!(sum == 1 || sum == 2, "{sum}");
        // And a plain operation is met by either side of it.
        let (tx3, rx3) = (tx.clone(), rx.clone());
        let waiting =
            spawn(move || choose((tx3.send_evt(2).wrap(|_| 0), rx3.recv_evt().wrap(Result::unwrap))).sync());
        yield_now();
        assert_eq!(rx.recv(), Ok(2));
        assert_eq!(waiting.join().unwrap(), 0);
        let (tx3, rx3) = (tx.clone(), rx.clone());
        let waiting =
            spawn(move || choose((rx3.recv_evt().wrap(Result::unwrap), tx3.send_evt(2).wrap(|_| 0))).sync());
        yield_now();
        tx.send(8).unwrap();
        assert_eq!(waiting.join().unwrap(), 8);
    });
}

#[test]
fn a_channel_that_closes_is_an_outcome() {
    everywhere(|| {
        let ((tx, rx), (_tx2, rx2)) = (channel::<u8>(), channel::<u8>());
        let closer = std::thread::spawn(move || {
            std::thread::sleep(SHORT);
            drop(tx);
        });
        assert_eq!(choose([rx.recv_evt(), rx2.recv_evt()]).sync(), Err(RecvError));
        closer.join().unwrap();
    });
}

#[test]
fn time_takes_part() {
    everywhere(|| {
        let (tx, rx) = channel::<u8>();
        let start = Instant::now();
        let slow = choose((rx.recv_evt().wrap(Result::ok), timeout(SHORT).wrap(|()| None)));
        assert_eq!(slow.sync(), None);
        assert!(start.elapsed() >= SHORT);
        assert!(tx.try_send(1).is_err(), "the offer is still there");
        at(Instant::now() + SHORT).sync();
        at(start).sync();
        assert_eq!(rx.recv_evt().sync_timeout(SHORT), None);
        assert_eq!(choose((timeout(LONG), timeout(SHORT), never())).sync_timeout(LONG), Some(()));
    });
}

#[test]
fn futures_take_part() {
    everywhere(|| {
        let ((tx, rx), (tx2, rx2)) = (channel(), channel());
        let sender = std::thread::spawn(move || {
            tx.send(1).unwrap();
            tx2.send(2).unwrap();
        });
        let mut got: Vec<u8> = (0..2)
            .map(|_| {
                choose((
                    future_evt(rx.recv_async()).wrap(Result::unwrap),
                    rx2.recv_evt().wrap(|got| got.unwrap_or(0)),
                ))
            })
            .map(Event::sync)
            .collect();
        got.sort_unstable();
        assert_eq!(got[1], 2);
        sender.join().unwrap();
    });
}

#[test]
fn awaited_in_a_parasite_and_by_another_executor() {
    run(|| {
        let ((tx, rx), (tx2, rx2)) = (channel(), channel());
        let p = parasite(async move {
            let mut sum = 0;
            for _ in 0..2 {
                sum += choose([rx.recv_evt(), rx2.recv_evt()]).await.unwrap();
            }
            sum
        });
        tx.send(1).unwrap();
        tx2.send(2).unwrap();
        assert_eq!(p.join().unwrap(), 3);
    });
    let (tx, rx) = channel();
    let sender = std::thread::spawn(move || {
        std::thread::sleep(SHORT);
        tx.send(5).unwrap();
    });
    let got = futures::executor::block_on(async {
        choose((rx.recv_evt(), timeout(LONG).wrap(|()| Err(RecvError)))).await
    });
    assert_eq!(got, Ok(5));
    sender.join().unwrap();
}

#[test]
fn a_guard_runs_once_for_each_synchronisation() {
    run(|| {
        let count = AtomicU32::new(0);
        let event = || guard(|| always(count.fetch_add(1, Relaxed)));
        assert_eq!(choose((event(), never())).sync(), 0);
        assert_eq!(event().sync(), 1);
        assert_eq!(choose((event(), never())).sync_timeout(SHORT), Some(2));
    });
}

#[test]
fn a_nack_happens_if_and_only_if_its_branch_is_not_chosen() {
    everywhere(|| {
        let nacks = Arc::new(std::sync::Mutex::new(Vec::new()));
        let told = |ready: bool| {
            let nacks = nacks.clone();
            with_nack(move |nack| {
                nacks.lock().unwrap().push(nack);
                if ready { always(1).boxed() } else { never().boxed() }
            })
        };
        assert_eq!(choose((told(true), never())).sync(), 1);
        assert_eq!(choose((told(false).wrap(|n| n), always(0))).sync(), 0);
        assert_eq!(told(false).sync_timeout(SHORT), None);
        assert_eq!(told(false).poll(), None);
        assert_eq!(prefer((choose((told(true), never())), told(true))).sync(), 1);
        let fired: Vec<bool> = nacks.lock().unwrap().drain(..).map(|nack| nack.poll().is_some()).collect();
        assert_eq!(fired, [false, true, true, true, false, true]);
    });
}

#[test]
fn nacks_have_happened_when_a_wrap_runs() {
    run(|| {
        let ((tx, rx), (go, gone)) = (channel(), channel::<()>());
        let event = choose((
            with_nack(move |nack| {
                spawn(move || {
                    nack.sync();
                    drop(go);
                });
                never()
            }),
            rx.recv_evt().wrap(|_| gone.recv().is_err()),
        ));
        spawn(move || tx.send(1));
        assert!(event.sync());
    });
}

/// Calls a function when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn a_host_that_unwinds_hears_no_false_nack_and_its_clocks_go_on() {
    let (told, heard) = std::sync::mpsc::channel();
    let host = move || {
        let nack = std::cell::Cell::new(None);
        assert_eq!(
            choose((
                with_nack(|n| {
                    nack.set(Some(n));
                    always(1)
                }),
                never()
            ))
            .sync(),
            1
        );
        let nack = nack.take().unwrap();
        let (_tx, rx) = channel::<u8>();
        let _cleanup = OnDrop(move || {
            told.send(nack.clone().sync_timeout(SHORT).is_some()).unwrap();
            told.send(choose((timeout(SHORT).wrap(|()| false), never())).sync()).unwrap();
            told.send(choose((rx.recv_evt().wrap(|got| got.is_ok()), timeout(LONG).wrap(|()| true))).sync())
                .unwrap();
        });
        panic!("as this test wants it");
    };
    assert!(run(move || spawn(host).join()).is_err());
    assert_eq!(heard.iter().collect::<Vec<_>>(), [false; 3]);
}

#[test]
fn a_buffered_channel_is_tried_before_it_is_waited_for() {
    everywhere(|| {
        let (tx, rx) = lamprey::bounded(2);
        let (other, from_other) = lamprey::bounded::<u8>(1);
        let either = || choose([rx.recv_evt(), from_other.recv_evt()]);
        tx.send(1).unwrap();
        assert_eq!(either().sync(), Ok(1));
        assert_eq!(either().poll(), None);
        assert_eq!(either().sync_timeout(SHORT), None);
        tx.send(2).unwrap();
        assert_eq!(either().poll(), Some(Ok(2)));
        let sender = std::thread::spawn(move || {
            std::thread::sleep(SHORT);
            other.send(3).unwrap();
            other
        });
        assert_eq!(either().sync(), Ok(3));
        drop((tx, sender.join().unwrap()));
        assert_eq!(either().sync(), Err(RecvError));
    });
}
