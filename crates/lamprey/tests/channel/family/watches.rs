//! Watched values.

use super::*;

#[test]
fn a_change_is_seen_once_and_never_missed() {
    run(1, || {
        let (tx, mut rx) = watch(0);
        assert!(!rx.has_changed());
        assert_eq!(rx.changed_timeout(SOON), Err(RecvTimeoutError::Timeout));
        tx.send(1).unwrap();
        tx.send(2).unwrap();
        assert!(rx.has_changed());
        assert_eq!((rx.changed(), rx.get()), (Ok(()), 2));
        let waiting = blocked(move || {
            rx.changed().unwrap();
            (rx.get(), rx.changed())
        });
        tx.send(3).unwrap();
        drop(tx);
        assert_eq!(waiting.join().unwrap(), (3, Err(RecvError)));
    });
}

#[test]
fn without_a_receiver_a_value_comes_back() {
    let (tx, rx) = watch(1);
    drop(rx);
    assert_eq!(tx.send(2), Err(SendError(2)));
    assert_eq!(tx.get(), 1);
    tx.send_modify(|value| *value = 5);
    assert_eq!(tx.subscribe().get(), 5);
    assert_eq!(tx.receiver_count(), 0);
}

#[test]
fn no_modification_is_lost() {
    run(2, || {
        let (tx, rx) = watch(0_u64);
        let hosts: Vec<_> = (0..8)
            .map(|_| {
                let tx = tx.clone();
                spawn(move || {
                    (0..200).for_each(|i| {
                        tx.send_modify(|value| {
                            if i % 50 == 0 {
                                lamprey::yield_now();
                            }
                            *value += 1;
                        });
                    });
                })
            })
            .collect();
        hosts.into_iter().for_each(|host| host.join().unwrap());
        assert_eq!(rx.get(), 1600);
    });
}

#[test]
fn a_modification_that_panics_changes_nothing_and_ends_its_turn() {
    let (tx, mut rx) = watch(1);
    let panicked = std::panic::catch_unwind(|| tx.send_modify(|_| std::panic::resume_unwind(Box::new(()))));
    assert!(panicked.is_err());
    assert!(!rx.has_changed());
    tx.send(2).unwrap();
    assert_eq!(wait(rx.changed_async()), Ok(()));
}
