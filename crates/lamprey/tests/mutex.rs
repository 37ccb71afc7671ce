//! Mutexes, by the moment: who waits, who goes, and who has the lock then.

mod common;

use lamprey::sync::{MutexOptions, Order, Wake};
use lamprey::{Runtime, spawn, yield_now};

use std::sync::Arc;

fn on_one<T: Send>(body: impl FnOnce() -> T + Send) -> T {
    Runtime::builder().workers(1).build().unwrap().run(body)
}

fn policies() -> [MutexOptions; 4] {
    let options = MutexOptions::new();
    [
        options,
        options.order(Order::Lifo),
        options.wake(Wake::Switch),
        options.order(Order::Lifo).wake(Wake::Switch),
    ]
}

#[test]
fn hosts_that_wait_go_on_one_after_the_other() {
    for options in policies() {
        let mut order = on_one(move || {
            let mutex = Arc::new(options.mutex(Vec::new()));
            let guard = mutex.lock().unwrap();
            let hosts: Vec<_> = (0..5)
                .map(|n| {
                    let mutex = mutex.clone();
                    spawn(move || mutex.lock().unwrap().push(n))
                })
                .collect();
            (0..10).for_each(|_| yield_now());
            drop(guard);
            hosts.into_iter().for_each(|host| host.join().unwrap());
            Arc::into_inner(mutex).unwrap().into_inner().unwrap()
        });
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2, 3, 4], "{options:?}");
    }
}
