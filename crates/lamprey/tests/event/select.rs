//! `select!` and `select_async!`: arms of every kind, with code of every kind.

use crate::common::*;
use lamprey::event::{always, at, never, timeout};
use lamprey::sync::Mutex;
use lamprey::{
    Receiver, RecvError, Sender, bounded, channel, mailbox, oneshot, select, select_async, sleep_async,
    spawn, wait,
};
use std::time::{Duration, Instant};

const HOUR: Duration = Duration::from_secs(3600);

#[test]
fn a_hundred_arms() {
    run(2, || {
        let (senders, receivers): (Vec<Sender<u32>>, Vec<Receiver<u32>>) =
            (0..100).map(|_| channel()).unzip();
        for (at, sender) in senders.iter().cloned().enumerate() {
            let sending = spawn(move || sender.send(at as u32).unwrap());
            let (arm, message) = select! {
            recv(receivers[0]) -> message => (0, message.unwrap()),
            recv(receivers[1]) -> message => (1, message.unwrap()),
            recv(receivers[2]) -> message => (2, message.unwrap()),
            recv(receivers[3]) -> message => (3, message.unwrap()),
            recv(receivers[4]) -> message => (4, message.unwrap()),
            recv(receivers[5]) -> message => (5, message.unwrap()),
            recv(receivers[6]) -> message => (6, message.unwrap()),
            recv(receivers[7]) -> message => (7, message.unwrap()),
            recv(receivers[8]) -> message => (8, message.unwrap()),
            recv(receivers[9]) -> message => (9, message.unwrap()),
            recv(receivers[10]) -> message => (10, message.unwrap()),
            recv(receivers[11]) -> message => (11, message.unwrap()),
            recv(receivers[12]) -> message => (12, message.unwrap()),
            recv(receivers[13]) -> message => (13, message.unwrap()),
            recv(receivers[14]) -> message => (14, message.unwrap()),
            recv(receivers[15]) -> message => (15, message.unwrap()),
            recv(receivers[16]) -> message => (16, message.unwrap()),
            recv(receivers[17]) -> message => (17, message.unwrap()),
            recv(receivers[18]) -> message => (18, message.unwrap()),
            recv(receivers[19]) -> message => (19, message.unwrap()),
            recv(receivers[20]) -> message => (20, message.unwrap()),
            recv(receivers[21]) -> message => (21, message.unwrap()),
            recv(receivers[22]) -> message => (22, message.unwrap()),
            recv(receivers[23]) -> message => (23, message.unwrap()),
            recv(receivers[24]) -> message => (24, message.unwrap()),
            recv(receivers[25]) -> message => (25, message.unwrap()),
            recv(receivers[26]) -> message => (26, message.unwrap()),
            recv(receivers[27]) -> message => (27, message.unwrap()),
            recv(receivers[28]) -> message => (28, message.unwrap()),
            recv(receivers[29]) -> message => (29, message.unwrap()),
            recv(receivers[30]) -> message => (30, message.unwrap()),
            recv(receivers[31]) -> message => (31, message.unwrap()),
            recv(receivers[32]) -> message => (32, message.unwrap()),
            recv(receivers[33]) -> message => (33, message.unwrap()),
            recv(receivers[34]) -> message => (34, message.unwrap()),
            recv(receivers[35]) -> message => (35, message.unwrap()),
            recv(receivers[36]) -> message => (36, message.unwrap()),
            recv(receivers[37]) -> message => (37, message.unwrap()),
            recv(receivers[38]) -> message => (38, message.unwrap()),
            recv(receivers[39]) -> message => (39, message.unwrap()),
            recv(receivers[40]) -> message => (40, message.unwrap()),
            recv(receivers[41]) -> message => (41, message.unwrap()),
            recv(receivers[42]) -> message => (42, message.unwrap()),
            recv(receivers[43]) -> message => (43, message.unwrap()),
            recv(receivers[44]) -> message => (44, message.unwrap()),
            recv(receivers[45]) -> message => (45, message.unwrap()),
            recv(receivers[46]) -> message => (46, message.unwrap()),
            recv(receivers[47]) -> message => (47, message.unwrap()),
            recv(receivers[48]) -> message => (48, message.unwrap()),
            recv(receivers[49]) -> message => (49, message.unwrap()),
            recv(receivers[50]) -> message => (50, message.unwrap()),
            recv(receivers[51]) -> message => (51, message.unwrap()),
            recv(receivers[52]) -> message => (52, message.unwrap()),
            recv(receivers[53]) -> message => (53, message.unwrap()),
            recv(receivers[54]) -> message => (54, message.unwrap()),
            recv(receivers[55]) -> message => (55, message.unwrap()),
            recv(receivers[56]) -> message => (56, message.unwrap()),
            recv(receivers[57]) -> message => (57, message.unwrap()),
            recv(receivers[58]) -> message => (58, message.unwrap()),
            recv(receivers[59]) -> message => (59, message.unwrap()),
            recv(receivers[60]) -> message => (60, message.unwrap()),
            recv(receivers[61]) -> message => (61, message.unwrap()),
            recv(receivers[62]) -> message => (62, message.unwrap()),
            recv(receivers[63]) -> message => (63, message.unwrap()),
            recv(receivers[64]) -> message => (64, message.unwrap()),
            recv(receivers[65]) -> message => (65, message.unwrap()),
            recv(receivers[66]) -> message => (66, message.unwrap()),
            recv(receivers[67]) -> message => (67, message.unwrap()),
            recv(receivers[68]) -> message => (68, message.unwrap()),
            recv(receivers[69]) -> message => (69, message.unwrap()),
            recv(receivers[70]) -> message => (70, message.unwrap()),
            recv(receivers[71]) -> message => (71, message.unwrap()),
            recv(receivers[72]) -> message => (72, message.unwrap()),
            recv(receivers[73]) -> message => (73, message.unwrap()),
            recv(receivers[74]) -> message => (74, message.unwrap()),
            recv(receivers[75]) -> message => (75, message.unwrap()),
            recv(receivers[76]) -> message => (76, message.unwrap()),
            recv(receivers[77]) -> message => (77, message.unwrap()),
            recv(receivers[78]) -> message => (78, message.unwrap()),
            recv(receivers[79]) -> message => (79, message.unwrap()),
            recv(receivers[80]) -> message => (80, message.unwrap()),
            recv(receivers[81]) -> message => (81, message.unwrap()),
            recv(receivers[82]) -> message => (82, message.unwrap()),
            recv(receivers[83]) -> message => (83, message.unwrap()),
            recv(receivers[84]) -> message => (84, message.unwrap()),
            recv(receivers[85]) -> message => (85, message.unwrap()),
            recv(receivers[86]) -> message => (86, message.unwrap()),
            recv(receivers[87]) -> message => (87, message.unwrap()),
            recv(receivers[88]) -> message => (88, message.unwrap()),
            recv(receivers[89]) -> message => (89, message.unwrap()),
            recv(receivers[90]) -> message => (90, message.unwrap()),
            recv(receivers[91]) -> message => (91, message.unwrap()),
            recv(receivers[92]) -> message => (92, message.unwrap()),
            recv(receivers[93]) -> message => (93, message.unwrap()),
            recv(receivers[94]) -> message => (94, message.unwrap()),
            recv(receivers[95]) -> message => (95, message.unwrap()),
            recv(receivers[96]) -> message => (96, message.unwrap()),
            recv(receivers[97]) -> message => (97, message.unwrap()),
            recv(receivers[98]) -> message => (98, message.unwrap()),
            recv(receivers[99]) -> message => (99, message.unwrap()),
            };
            assert_eq!((arm, message), (at, at as u32));
            sending.join().unwrap();
        }
    });
}

/// Each channel has its own `recv_evt` and `send_evt`.
#[test]
fn any_kind_of_channel() {
    run(1, || {
        let (to_mailbox, mut from_mailbox) = mailbox();
        let (to_bounded, from_bounded) = bounded(1);
        let (to_oneshot, mut from_oneshot) = oneshot();
        to_mailbox.send("mailbox").unwrap();
        select! { send(to_bounded, "bounded") -> sent => sent.unwrap() }
        to_oneshot.send("oneshot").unwrap();
        let mut seen = Vec::new();
        for _ in 0..3 {
            select! {
                biased;
                recv(from_mailbox) -> message, if !seen.contains(&"mailbox") => seen.push(message.unwrap()),
                recv(from_bounded) -> message, if !seen.contains(&"bounded") => seen.push(message.unwrap()),
                recv(from_oneshot) -> message => seen.push(message.unwrap()),
            }
        }
        assert_eq!(seen, ["mailbox", "bounded", "oneshot"]);
    });
}

#[test]
fn arms_are_code_of_their_function() {
    fn first(rx: &Receiver<u32>) -> Result<u32, RecvError> {
        let mut count = 0;
        'outer: loop {
            select! {
                recv(rx) -> number => {
                    let number = number?;
                    count += 1;
                    match number {
                        0 => continue,
                        1 => continue 'outer,
                        2 => break,
                        _ => return Ok(number),
                    }
                }
                event(never::<()>()) => unreachable!(),
            }
        }
        Ok(100 + count)
    }
    run(1, || {
        let (tx, rx) = channel();
        let sender = spawn(move || [0, 1, 2, 7].into_iter().for_each(|n| tx.send(n).unwrap()));
        assert_eq!(first(&rx), Ok(103));
        assert_eq!(first(&rx), Ok(7));
        sender.join().unwrap();
        assert_eq!(first(&rx), Err(RecvError));
    });
}

#[test]
fn arms_have_results_of_their_own_and_one_value() {
    run(1, || {
        let ((_a, numbers), (words, got_words)) = (channel::<u64>(), channel::<String>());
        let sender = spawn(move || words.send("seven".to_owned()).unwrap());
        let mut log = Vec::new();
        let length: usize = select! {
            recv(numbers) -> number => {
                log.push("number"); // Both arms borrow `log`.
                number.unwrap() as usize
            }
            recv(got_words) -> word => { log.push("word"); word.unwrap().len() },
        };
        assert_eq!((length, log), (5, vec!["word"]));
        sender.join().unwrap();
    });
}

#[test]
fn without_a_pattern_and_with_trailing_commas() {
    run(1, || {
        select! { event(always(1)) => {} }
        select! { event(always(1),) => (), }
        let n = select! { future(async { 5 }) -> n => n };
        assert_eq!(n, 5);
        let (left, right) = select! { event(always((1, "one"))) -> (n, text) => (n, text), };
        assert_eq!((left, right), (1, "one"));
    });
}

#[test]
fn default_is_taken_only_if_nothing_is_ready() {
    run(1, || {
        let (tx, rx) = bounded(1);
        let poll = |rx: &bounded::Receiver<u32>| {
            select! {
                default => None,
                recv(rx) -> n => n.ok(),
            }
        };
        for n in 0..100 {
            assert_eq!(poll(&rx), None);
            tx.send(n).unwrap();
            assert_eq!(poll(&rx), Some(n));
        }
        let start = Instant::now();
        let got = select! {
            recv(rx) -> n => n.ok(),
            default(Duration::from_millis(3)) => { Some(1000) }
        };
        assert_eq!(got, Some(1000));
        assert!(start.elapsed() >= Duration::from_millis(3));
        tx.send(5).unwrap();
        assert_eq!(select! { recv(rx) -> n => n.ok(), default(HOUR) => None }, Some(5));
        assert!(select! { default => true });
        assert!(select! { default(Duration::ZERO) => true });
    });
}

#[test]
fn what_a_condition_turns_off_is_not_evaluated() {
    run(1, || {
        let mut evaluated = Vec::new();
        let mut note = |name, n| {
            evaluated.push(name);
            n
        };
        let got = select! {
            biased;
            event({ note("first", 0); never() }) -> n => n,
            event(always(note("second", 2))) -> n, if 1 > 2 => n,
            event(always(note("third", 3))) -> n, if 2 > 1 => n,
            event(always(note("fourth", 4))), if true => 4,
        };
        assert_eq!((got, evaluated), (3, vec!["first", "third", "fourth"]));
    });
}

#[test]
fn it_is_fair_and_can_be_biased() {
    run(1, || {
        let mut counts = [0; 4];
        for _ in 0..4000 {
            let at = select! {
                event(always(0)) -> at => at,
                event(always(1)) -> at => at,
                event(always(9)) -> at, if false => at,
                any([always(2), always(2)]) -> (_, at) => at,
                future(async { 3 }) -> at => at,
            };
            counts[at] += 1;
            assert_eq!(
                select! { biased; event(never()) -> n => n, event(always(1)) -> n => n, event(always(2)) -> n => n },
                1
            );
        }
        assert!(counts.iter().all(|&count| count > 700), "{counts:?}");
    });
}

#[test]
fn a_list_says_which_one_it_was() {
    run(1, || {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..20).map(|_| channel::<usize>()).unzip();
        let sending = spawn(move || {
            for at in [7, 0, 19] {
                let nothing: Vec<lamprey::event::BoxedEvent<'_, ()>> = Vec::new();
                select! {
                    send(senders[at], at) -> sent => sent.unwrap(),
                    any(nothing) => unreachable!("the list is empty"),
                }
            }
            senders
        });
        for expected in [7, 0, 19] {
            select! {
                recv_any(&receivers) -> (at, message) => assert_eq!((at, message), (expected, Ok(expected))),
            }
        }
        drop(sending.join());
        let (at, message) = select! { recv_any(receivers.iter().skip(3)) -> got => got };
        assert!(at < 17 && message.is_err());
    });
}

/// The lock of a `std` mutex is a temporary of the arm: it is held for the choice, and not in its code.
#[test]
fn temporaries_live_until_the_choice_is_made() {
    run(1, || {
        let shared = std::sync::Mutex::new(bounded::<u32>(1));
        select! { send(shared.lock().unwrap().0, 5) -> sent => sent.unwrap() }
        select! {
            recv(shared.lock().unwrap().1) -> got => {
                assert_eq!(got, Ok(5));
                assert!(shared.try_lock().is_ok());
            }
        }
        select! {
            recv(shared.lock().unwrap().1) -> got => panic!("{got:?}"),
            default => assert!(shared.try_lock().is_ok()),
        }
    });
}

#[test]
fn a_value_that_is_not_sent_is_dropped_before_the_code_of_the_winner() {
    run(1, || {
        let ((tx, _rx), token) = (channel(), std::sync::Arc::new(()));
        select! {
            send(tx, token.clone()) -> sent => panic!("{sent:?}"),
            event(always(())) => assert_eq!(std::sync::Arc::strong_count(&token), 1),
        }
    });
}

#[test]
fn a_lock_is_held_in_the_code_of_its_arm() {
    run(1, || {
        let counter = Mutex::new(1);
        select! {
            event(counter.lock_evt()) -> guard => *guard.unwrap() += 1,
            event(timeout(HOUR)) => unreachable!(),
        }
        assert_eq!(*counter.lock().unwrap(), 2);
    });
}

#[test]
fn without_arms_it_waits_for_ever() {
    run(1, || {
        let waits = spawn(|| -> u32 {
            select! {}
        });
        let also = spawn(|| -> u32 {
            select! { event(always(1)) -> n, if false => n }
        });
        lamprey::sleep(Duration::from_millis(2));
        assert!(!waits.is_finished() && !also.is_finished());
        waits.cancel_and_join().unwrap_err();
        also.cancel_and_join().unwrap_err();
    });
}

#[test]
fn cancelled_it_has_communicated_with_nobody() {
    run(1, || {
        let (tx, rx) = channel::<u32>();
        let theirs = rx.clone();
        let waits = spawn(move || {
            select! {
                recv(theirs) -> n => n.ok(),
                event(timeout(HOUR)) => None,
            }
        });
        lamprey::yield_now();
        waits.cancel_and_join().unwrap_err();
        assert!(tx.try_send(1).is_err());
        drop(rx);
    });
}

#[test]
fn in_async_code() {
    run(2, || {
        let ((tx, rx), (stop, stopped)) = (channel::<u32>(), channel::<()>());
        let parasite = lamprey::parasite(async move {
            let (mut sum, start) = (0, Instant::now());
            loop {
                select_async! {
                    recv(rx) -> n => sum += n.unwrap_or(0),
                    recv(stopped) -> end, if sum >= 10 => {
                        end.unwrap();
                        break;
                    }
                    event(at(start + HOUR)) => panic!("an hour"),
                    future(sleep_async(HOUR)) => panic!("an hour"),
                }
            }
            let nothing = select_async! { recv(rx) -> n => n.ok(), default => None };
            let late =
                select_async! { biased; recv(rx) -> n => n.ok(), default(Duration::from_millis(1)) => None };
            (sum, nothing, late)
        });
        (1..=4).for_each(|n| tx.send(n).unwrap());
        stop.send(()).unwrap();
        assert_eq!(parasite.join().unwrap(), (10, None, None));
    });
    // On other executors.
    let (tx, rx) = bounded(1);
    tx.try_send(5).unwrap();
    let got = futures::executor::block_on(async {
        select_async! { recv(rx) -> n => n, future(sleep_async(HOUR)) => unreachable!() }
    });
    assert_eq!(got, Ok(5));
    assert_eq!(
        wait(async {
            select_async! { recv(rx) -> n => n.ok(), default => None }
        }),
        None
    );
}

#[test]
fn a_select_within_an_arm_of_a_select() {
    run(1, || {
        let n = select! {
            event(always(1)) -> outer => select! {
                event(always(2)) -> inner => outer + inner,
            },
        };
        assert_eq!(n, 3);
    });
}
