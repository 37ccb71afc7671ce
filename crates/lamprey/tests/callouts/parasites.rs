//! A parasite's cancellation is its own, whoever polls it: the time limit, the token or the cancellation of
//! the host on whose stack a poll happens to run does not end blocking calls that the poll makes.

use crate::common::{FOREVER, count, counter, run_at_once, runtime, tick, within};
use lamprey::parasite::{Parasite, reify};
use lamprey::{Builder, CancelToken, JoinError, ParasiteHandle, Receiver, Sender, TimedOut, channel};
use lamprey::{parasite, sleep, spawn, with_timeout};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(5);
/// Longer than `SHORT`: timers of one worker end in the order of their times.
const LATER: Duration = Duration::from_millis(40);

/// A parasite that waits, and calls blocking code in the poll after that. What starts it, and what lets it go
/// on.
fn caller() -> (Sender<()>, Sender<u8>, ParasiteHandle<u8>) {
    let ((start, started), (go_on, answer)) = (channel(), channel());
    let parasite = parasite(async move {
        started.recv_async().await.unwrap();
        answer.recv().unwrap()
    });
    (start, go_on, parasite)
}

/// Starts the parasite and blocks, so that it is polled here.
fn host_it(start: &Sender<()>) {
    start.send(()).unwrap();
    let (_never, comes) = channel::<()>();
    let _ = comes.recv();
}

/// Sends the answer when the short limits are over.
fn answer_later(go_on: Sender<u8>) {
    spawn(move || {
        sleep(LATER);
        go_on.send(7).unwrap();
    });
}

#[test]
fn a_time_limit_of_the_host_that_polls_it_does_not_end_a_parasite() {
    run_at_once(1, || {
        let (start, go_on, parasite) = caller();
        answer_later(go_on);
        assert_eq!(with_timeout(SHORT, || host_it(&start)), Err(TimedOut));
        assert_eq!(parasite.join().unwrap(), 7);
    });
}

#[test]
fn a_token_of_the_host_that_polls_it_does_not_end_a_parasite() {
    run_at_once(1, || {
        let (start, go_on, parasite) = caller();
        let token = CancelToken::new();
        let theirs = token.clone();
        spawn(move || {
            sleep(SHORT);
            theirs.cancel();
        });
        answer_later(go_on);
        assert!(token.run(|| host_it(&start)).is_err());
        assert_eq!(parasite.join().unwrap(), 7);
    });
}

#[test]
fn the_cancellation_of_the_host_that_polls_it_does_not_end_a_parasite() {
    run_at_once(1, || {
        let (start, go_on, parasite) = caller();
        let host = spawn(move || host_it(&start));
        sleep(SHORT);
        host.cancel();
        answer_later(go_on);
        assert_eq!(parasite.join().unwrap(), 7);
        assert!(matches!(host.join(), Err(JoinError::Cancelled(_))));
    });
}

#[test]
fn a_time_limit_of_the_spawner_does_not_end_a_parasite_in_its_first_poll() {
    run_at_once(1, || {
        let (go_on, answer) = channel();
        answer_later(go_on);
        let parasite = with_timeout(SHORT, || parasite(async move { answer.recv().unwrap() }));
        assert_eq!(parasite.unwrap().join().unwrap(), 7);
    });
}

/// Waits for an answer when it is dropped.
struct Waits(Receiver<u8>, Arc<Mutex<Option<u8>>>);

impl Drop for Waits {
    fn drop(&mut self) {
        *self.1.lock().unwrap() = self.0.recv().ok();
    }
}

#[test]
fn a_time_limit_of_the_host_that_cancels_a_parasite_does_not_end_its_destructors() {
    run_at_once(1, || {
        let (go_on, answer) = channel();
        let got = Arc::default();
        let waits = Waits(answer, Arc::clone(&got));
        let (_never, comes) = channel::<()>();
        let parasite = parasite(async move {
            let _waits = waits;
            comes.recv_async().await
        });
        answer_later(go_on);
        let _ = with_timeout(SHORT, || parasite.cancel_and_join());
        assert_eq!(*got.lock().unwrap(), Some(7));
    });
}

#[test]
fn a_time_limit_within_the_poll_ends_what_is_in_it_and_the_hosts_limit_what_is_the_hosts() {
    run_at_once(1, || {
        let (start, started) = channel::<()>();
        let parasite = parasite(async move {
            started.recv_async().await.unwrap();
            (with_timeout(SHORT, || sleep(Duration::MAX)), with_timeout(FOREVER, || sleep(LATER)))
        });
        // Its limit is the shorter one, and over before the poll is.
        assert_eq!(with_timeout(SHORT, || host_it(&start)), Err(TimedOut));
        assert_eq!(parasite.join().unwrap(), (Err(TimedOut), Ok(())));
    });
}

#[test]
fn a_parasite_attached_within_a_limit_of_another_parasite_is_not_ended_by_that() {
    run_at_once(1, || {
        let (start, go_on, inner) = caller();
        answer_later(go_on);
        let outer = parasite(async move { with_timeout(SHORT, || host_it(&start)) });
        assert_eq!(outer.join().unwrap(), Err(TimedOut));
        assert_eq!(inner.join().unwrap(), 7);
    });
}

#[test]
fn the_end_of_the_runtime_ends_a_blocking_call_in_a_poll() {
    for cancelled in [false, true] {
        within(FOREVER, move || {
            let ended = counter();
            let theirs = ended.clone();
            let runtime = runtime(1);
            runtime.run(move || {
                let host = spawn(move || {
                    parasite(async move {
                        let _ended = crate::common::Counted(theirs);
                        sleep(Duration::MAX);
                    })
                    .detach();
                });
                sleep(SHORT);
                if cancelled {
                    host.cancel();
                }
                drop(host);
            });
            drop(runtime);
            assert_eq!(count(&ended), 1);
        });
    }
}

#[test]
fn attaches_may_be_nested_deeper_than_a_small_number_can_count() {
    run_at_once(1, || {
        const DEPTH: usize = 600;
        let host = Builder::new().stack_size(8 << 20).spawn(|| {
            let slots: Arc<Vec<Mutex<Option<Parasite<usize>>>>> =
                Arc::new((0..DEPTH).map(|_| Mutex::new(None)).collect());
            let ended = counter();
            let handles: Vec<_> = (0..DEPTH)
                .map(|i| {
                    let (slots, ended) = (slots.clone(), ended.clone());
                    parasite(async move {
                        let theirs = slots.clone();
                        let depth = reify(move |p| *theirs[i].lock().unwrap() = Some(p)).await;
                        if let Some(next) = slots.get(i + 1) {
                            let next = next.lock().unwrap().take().unwrap();
                            next.prepare(depth + 1).attach();
                        }
                        tick(&ended);
                        depth
                    })
                })
                .collect();
            let first = slots[0].lock().unwrap().take().unwrap();
            first.prepare(0).attach();
            assert_eq!(count(&ended), DEPTH, "some were not run within the call");
            handles.into_iter().map(|handle| handle.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(host.unwrap().join().unwrap(), (0..DEPTH).collect::<Vec<_>>());
    });
}
