//! `IVar` and `MVar`.

use super::*;

#[test]
fn an_ivar_wakes_all_its_readers() {
    run(1, || {
        let var = IVar::new();
        let hosts: Vec<_> = (0..40)
            .map(|_| {
                let var = var.clone();
                blocked(move || var.get())
            })
            .collect();
        assert_eq!(var.get_timeout(SOON), None);
        assert_eq!(var.try_get(), None);
        let theirs = var.clone();
        let parasite = lamprey::parasite(async move { theirs.get_async().await });
        assert_eq!(var.put("it"), Ok(()));
        assert_eq!(var.put("no"), Err("no"));
        assert!(hosts.into_iter().all(|host| host.join().unwrap() == "it"));
        assert_eq!(parasite.join().unwrap(), "it");
        assert_eq!((var.get_ref(), format!("{var:?}").as_str()), (&"it", "IVar(Some(\"it\"))"));
    });
}

#[test]
fn takers_of_an_mvar_are_served_in_order() {
    run(1, || {
        let var = MVar::empty();
        let takers: Vec<_> = (0..4)
            .map(|_| {
                let var = var.clone();
                blocked(move || var.take().unwrap())
            })
            .collect();
        assert_eq!(var.put(0), Ok(()));
        assert_eq!(var.try_take(), None, "it overtakes a taker that waits");
        (1..4).for_each(|n| var.put(n).unwrap());
        assert_eq!(takers.into_iter().map(|host| host.join().unwrap()).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert!(var.is_empty());
    });
}

#[test]
fn nobody_takes_twice_before_another_who_waits() {
    run(1, || {
        let lock = MVar::new(());
        let order = MVar::new(Vec::new());
        let hosts: Vec<_> = (0..2)
            .map(|n| {
                let (lock, order) = (lock.clone(), order.clone());
                spawn(move || {
                    for _ in 0..5 {
                        lock.take().unwrap();
                        let mut list: Vec<i32> = order.take().unwrap();
                        list.push(n);
                        order.put(list).unwrap();
                        lamprey::yield_now();
                        lock.put(()).unwrap();
                    }
                })
            })
            .collect();
        hosts.into_iter().for_each(|host| host.join().unwrap());
        let order = order.take().unwrap();
        assert!(order.windows(3).all(|three| three[0] != three[1] || three[1] != three[2]), "{order:?}");
        assert_eq!(order.iter().filter(|&&n| n == 0).count(), 5);
    });
}

#[test]
fn readers_of_an_mvar_go_first_and_take_nothing() {
    run(1, || {
        let var = MVar::empty();
        let (a, b, c) = (var.clone(), var.clone(), var.clone());
        let taker = blocked(move || a.take());
        let readers = [blocked(move || b.read()), blocked(move || c.read())];
        var.put(8).unwrap();
        assert!(readers.into_iter().all(|host| host.join().unwrap() == Ok(8)));
        assert_eq!(taker.join().unwrap(), Ok(8));
        assert_eq!(var.try_read(), None);
        var.put(9).unwrap();
        assert_eq!((var.try_read(), wait(var.read_async()), var.read()), (Some(9), Ok(9), Ok(9)));
    });
}

#[test]
fn an_mvar_is_exchanged_in_one_step() {
    run(1, || {
        let var = MVar::new(1);
        let other = var.clone();
        let putter = blocked(move || other.put(3));
        assert_eq!(var.swap(2), Ok(1));
        assert_eq!(wait(var.swap_async(5)), Ok(2));
        assert_eq!(var.take(), Ok(5));
        putter.join().unwrap().unwrap();
        assert_eq!(var.put_timeout(4, SOON).unwrap_err().0, 4);
        assert_eq!(var.try_put(4), Err(4));
        assert_eq!(var.take(), Ok(3));
        assert!(var.take_timeout(SOON).is_err());
        assert_eq!(var.try_put(4), Ok(()));
    });
}

#[test]
fn a_take_that_is_dropped_after_its_grant_gives_it_on() {
    run(1, || {
        let var = MVar::empty();
        let other = var.clone();
        wait(async {
            let mut first = Box::pin(var.take_async());
            assert!(poll!(&mut first).is_pending());
            let second = blocked(move || other.take());
            var.put(7).unwrap();
            drop(first);
            assert_eq!(second.join().unwrap(), Ok(7));
        });
    });
}

/// A clone that lets others run, or panics.
struct Slow(bool);

impl Clone for Slow {
    fn clone(&self) -> Self {
        lamprey::yield_now();
        assert!(!self.0, "this clone fails");
        Slow(self.0)
    }
}

#[test]
fn a_value_that_is_being_read_is_there_afterwards() {
    run(1, || {
        let var = MVar::new(Slow(false));
        let (a, b) = (var.clone(), var.clone());
        let reader = spawn(move || a.read().is_ok());
        let taker = spawn(move || b.take().is_ok());
        assert!(reader.join().unwrap() && taker.join().unwrap());
        var.put(Slow(true)).unwrap();
        let other = var.clone();
        assert!(spawn(move || other.read()).join().is_err());
        assert!(var.try_take().is_some());
    });
}

#[test]
fn as_a_lock_an_mvar_counts_right_on_two_workers() {
    run(2, || {
        let var = MVar::new(0_u64);
        let hosts: Vec<_> = (0..8)
            .map(|n| {
                let var = var.clone();
                spawn(move || {
                    for i in 0..500 {
                        match (i + n) % 4 {
                            0 => drop(var.read().unwrap()),
                            1 => {
                                let _ =
                                    var.take_timeout(Duration::from_micros(20)).map(|value| var.put(value));
                            }
                            _ => {}
                        }
                        let value = var.take().unwrap();
                        var.put(value + 1).unwrap();
                    }
                })
            })
            .collect();
        hosts.into_iter().for_each(|host| host.join().unwrap());
        assert_eq!(var.take(), Ok(4000));
    });
}
