//! Every operation of the rendezvous channel, from hosts: what it gives, what it gives back, who it wakes, in
//! which order. One worker where the moment matters: a host that has been seen to begin its blocking call is
//! then blocked.

use crate::common::{blocked, run, yield_until};
use lamprey::{
    Receiver, RecvError, RecvTimeoutError, SendError, SendTimeoutError, Sender, TryRecvError, TrySendError,
    channel, spawn, yield_now,
};
use std::time::Duration;

const SOON: Duration = Duration::from_millis(2);
const LATE: Duration = Duration::from_secs(3600);

#[test]
fn a_sender_that_waits_is_met() {
    run(1, || {
        let (tx, rx) = channel();
        let sender = blocked(move || tx.send("value"));
        assert_eq!(rx.recv(), Ok("value"));
        assert_eq!(sender.join().unwrap(), Ok(()));
    });
}

#[test]
fn a_receiver_that_waits_is_met() {
    run(1, || {
        let (tx, rx) = channel();
        let receiver = blocked(move || rx.recv());
        assert_eq!(tx.send("value"), Ok(()));
        assert_eq!(receiver.join().unwrap(), Ok("value"));
    });
}

#[test]
fn try_calls_need_a_peer_that_waits() {
    run(1, || {
        let (tx, rx) = channel();
        assert_eq!(tx.try_send(1), Err(TrySendError::Full(1)));
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        let (ours, theirs) = (rx.clone(), tx.clone());
        let receiver = blocked(move || ours.recv());
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty), "a receiver does not meet receivers");
        assert_eq!(tx.try_send(2), Ok(()));
        assert_eq!(tx.try_send(3), Err(TrySendError::Full(3)));
        assert_eq!(receiver.join().unwrap(), Ok(2));
        let sender = blocked(move || theirs.send(4));
        assert_eq!(tx.try_send(5), Err(TrySendError::Full(5)), "a sender does not meet senders");
        assert_eq!(rx.try_recv(), Ok(4));
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        sender.join().unwrap().unwrap();
    });
}

#[test]
fn every_call_tells_that_the_receivers_are_gone_and_gives_the_value_back() {
    run(1, || {
        let (tx, rx) = channel::<String>();
        let other = rx.clone();
        drop(rx);
        assert!(matches!(tx.try_send("not yet".into()), Err(TrySendError::Full(_))));
        drop(other);
        assert_eq!(tx.send("a".into()), Err(SendError("a".into())));
        assert_eq!(tx.try_send("b".into()), Err(TrySendError::Disconnected("b".into())));
        let timed = tx.send_timeout("c".into(), LATE);
        assert_eq!(timed, Err(SendTimeoutError::Disconnected("c".into())));
        assert_eq!(timed.unwrap_err().into_inner(), "c");
        assert_eq!(tx.try_send("d".into()).unwrap_err().into_inner(), "d");
    });
}

#[test]
fn every_call_tells_that_the_senders_are_gone() {
    run(1, || {
        let (tx, rx) = channel::<u8>();
        let other = tx.clone();
        drop(tx);
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        drop(other);
        for _ in 0..2 {
            assert_eq!(rx.recv(), Err(RecvError));
            assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
            assert_eq!(rx.recv_timeout(LATE), Err(RecvTimeoutError::Disconnected));
            assert_eq!((rx.iter().count(), rx.try_iter().count()), (0, 0));
        }
    });
}

#[test]
fn the_last_receiver_to_go_wakes_all_senders_with_their_values() {
    for waiting in [1, 2, 5] {
        run(1, move || {
            let (tx, rx) = channel();
            let senders: Vec<_> = (0..waiting)
                .map(|n| {
                    let tx = tx.clone();
                    blocked(move || tx.send(n))
                })
                .collect();
            drop(rx);
            for (n, sender) in senders.into_iter().enumerate() {
                assert_eq!(sender.join().unwrap(), Err(SendError(n)));
            }
        });
    }
}

#[test]
fn the_last_sender_to_go_wakes_all_receivers() {
    for waiting in [1, 2, 5] {
        run(1, move || {
            let (tx, rx) = channel::<u8>();
            let receivers: Vec<_> = (0..waiting)
                .map(|_| {
                    let rx = rx.clone();
                    blocked(move || rx.recv())
                })
                .collect();
            drop(tx);
            for receiver in receivers {
                assert_eq!(receiver.join().unwrap(), Err(RecvError));
            }
        });
    }
}

#[test]
fn disconnection_ends_calls_with_a_timeout_too() {
    run(1, || {
        let (tx, rx) = channel();
        let sender = blocked(move || tx.send_timeout(1, LATE));
        drop(rx);
        assert_eq!(sender.join().unwrap(), Err(SendTimeoutError::Disconnected(1)));
        let (tx, rx) = channel::<u8>();
        let receiver = blocked(move || rx.recv_timeout(LATE));
        drop(tx);
        assert_eq!(receiver.join().unwrap(), Err(RecvTimeoutError::Disconnected));
    });
}

#[test]
fn waiters_of_one_side_are_met_in_the_order_of_their_coming() {
    run(1, || {
        let (tx, rx) = channel();
        let receivers: Vec<_> = (0..6)
            .map(|_| {
                let rx = rx.clone();
                blocked(move || rx.recv())
            })
            .collect();
        (0..6).for_each(|n| tx.try_send(n).unwrap());
        for (n, receiver) in receivers.into_iter().enumerate() {
            assert_eq!(receiver.join().unwrap(), Ok(n));
        }
        let senders: Vec<_> = (0..6)
            .map(|n| {
                let tx = tx.clone();
                blocked(move || tx.send(n))
            })
            .collect();
        assert!(rx.try_iter().eq(0..6));
        senders.into_iter().for_each(|sender| sender.join().unwrap().unwrap());
    });
}

#[test]
fn one_who_gives_up_leaves_the_order_of_the_others() {
    for leaver in 0..4 {
        run(1, move || {
            let (tx, rx) = channel();
            let senders: Vec<_> = (0..4)
                .map(|n| {
                    let tx = tx.clone();
                    blocked(move || tx.send_timeout(n, if n == leaver { SOON } else { LATE }))
                })
                .collect();
            yield_until("the timeout", || senders[leaver].is_finished());
            assert!(rx.try_iter().eq((0..4).filter(|&n| n != leaver)));
            for (n, sender) in senders.into_iter().enumerate() {
                let left = sender.join().unwrap();
                assert_eq!(left, if n == leaver { Err(SendTimeoutError::Timeout(n)) } else { Ok(()) });
            }
        });
    }
}

#[test]
fn timeouts_end_the_wait_and_give_the_value_back() {
    run(1, || {
        let (tx, rx) = channel::<u8>();
        assert_eq!(rx.recv_timeout(SOON), Err(RecvTimeoutError::Timeout));
        assert_eq!(tx.send_timeout(1, SOON), Err(SendTimeoutError::Timeout(1)));
        assert_eq!(rx.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
        assert_eq!(tx.send_timeout(1, Duration::ZERO), Err(SendTimeoutError::Timeout(1)));
        // Whoever gave up is gone.
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(tx.try_send(2), Err(TrySendError::Full(2)));
    });
}

#[test]
fn a_peer_that_waits_is_met_whatever_the_timeout() {
    run(1, || {
        let (tx, rx) = channel();
        let (a, b) = (tx.clone(), rx.clone());
        let sender = blocked(move || a.send(1));
        assert_eq!(rx.recv_timeout(Duration::ZERO), Ok(1));
        sender.join().unwrap().unwrap();
        let receiver = blocked(move || b.recv());
        assert_eq!(tx.send_timeout(2, Duration::ZERO), Ok(()));
        assert_eq!(receiver.join().unwrap(), Ok(2));
        let sender = blocked(move || tx.send_timeout(3, Duration::MAX));
        assert_eq!(rx.recv_timeout(Duration::MAX), Ok(3));
        sender.join().unwrap().unwrap();
    });
}

#[test]
fn iteration_ends_with_the_last_sender() {
    run(1, || {
        let (tx, rx) = channel();
        let sender = spawn(move || (0..100).for_each(|n| tx.send(n).unwrap()));
        let mut sum = 0;
        for n in &rx {
            sum += n;
        }
        assert_eq!(sum, 4950);
        sender.join().unwrap();
        let (tx, rx) = channel();
        spawn(move || (0..10).for_each(|n| tx.send(n).unwrap()));
        assert_eq!(rx.into_iter().collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
    });
}

#[test]
fn each_senders_values_arrive_in_its_order() {
    for workers in [1, 2] {
        run(workers, || {
            let (tx, rx) = channel();
            for sender in 0..8 {
                let tx = tx.clone();
                spawn(move || (0..500).for_each(|n| tx.send((sender, n)).unwrap()));
            }
            drop(tx);
            let mut next = [0; 8];
            for (sender, n) in rx {
                assert_eq!(n, next[sender]);
                next[sender] += 1;
            }
            assert_eq!(next, [500; 8]);
        });
    }
}

#[test]
fn many_senders_and_many_receivers_pass_every_value_once() {
    for workers in [1, 2, 4] {
        let mut all: Vec<u32> = run(workers, || {
            let (tx, rx) = channel();
            for sender in 0..16 {
                let tx = tx.clone();
                spawn(move || (0..200).for_each(|n| tx.send(sender * 200 + n).unwrap()));
            }
            drop(tx);
            let receivers: Vec<_> = (0..16)
                .map(|_| {
                    let rx = rx.clone();
                    spawn(move || rx.iter().collect::<Vec<_>>())
                })
                .collect();
            receivers.into_iter().flat_map(|receiver| receiver.join().unwrap()).collect()
        });
        all.sort_unstable();
        assert!(all.into_iter().eq(0..3200));
    }
}

#[test]
fn channels_travel_over_channels() {
    run(2, || {
        let (requests, incoming) = channel::<(u32, Sender<u32>)>();
        spawn(move || {
            for (n, reply) in incoming {
                reply.send(n * 2).unwrap();
            }
        });
        let clients: Vec<_> = (0..50)
            .map(|n| {
                let requests = requests.clone();
                spawn(move || {
                    let (reply, answer) = channel();
                    requests.send((n, reply)).unwrap();
                    answer.recv().unwrap()
                })
            })
            .collect();
        assert_eq!(clients.into_iter().map(|client| client.join().unwrap()).sum::<u32>(), 2 * 1225);
    });
}

#[test]
fn a_value_of_no_size_and_a_large_one() {
    run(1, || {
        let (tx, rx): (Sender<()>, Receiver<()>) = channel();
        let sender = spawn(move || (0..10).for_each(|_| tx.send(()).unwrap()));
        assert_eq!(rx.iter().count(), 10);
        sender.join().unwrap();
        let (tx, rx) = channel();
        spawn(move || tx.send([7_u8; 5000]).unwrap());
        assert_eq!(rx.recv(), Ok([7; 5000]));
    });
}

#[test]
fn errors_are_readable() {
    assert_eq!(SendError(1).to_string(), "no receiver is left");
    assert_eq!(RecvError.to_string(), "no sender is left");
    assert!(TrySendError::Full(1).to_string().contains("no receiver waits"));
    assert!(SendTimeoutError::Timeout(1).to_string().contains("in time"));
    struct NotDebug;
    assert_eq!(format!("{:?}", SendError(NotDebug)), "SendError(..)");
}

#[test]
fn a_host_may_wait_on_a_channel_that_it_alone_feeds() {
    run(1, || {
        let (tx, rx) = channel::<u8>();
        assert_eq!(rx.recv_timeout(SOON), Err(RecvTimeoutError::Timeout));
        let host = spawn(move || drop(tx));
        yield_now();
        assert_eq!(rx.recv(), Err(RecvError));
        host.join().unwrap();
    });
}
