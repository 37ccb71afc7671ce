//! Locks, permits, what is made once, and variables.

use super::{ZERO, flag, later, rows};
use lamprey::RateLimiter;
use lamprey::stm::{TVar, atomically, atomically_timeout, check};
use lamprey::sync::{Barrier, Condvar, Mutex, Once, OnceLock, RwLock, Semaphore, WaitGroup};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

rows! {
    ["sync/mutex Mutex::try_lock"] {
        let (lock, other) = held();
        while lock.try_lock().is_err() {}
        // One that is always free.
        later(move || *other.lock().unwrap() = 1);
        while *lock.try_lock().unwrap() == 0 {}
    }
    ["sync/mutex Mutex::lock_timeout"] {
        let (lock, other) = held();
        while lock.lock_timeout(ZERO).is_err() {}
        later(move || *other.lock().unwrap() = 1);
        while lock.lock_timeout(ZERO).is_ok_and(|value| *value == 0) {}
    }
    ["sync/mutex Mutex::is_poisoned"] {
        let (lock, other) = pair(Mutex::new(0));
        later(move || {
            let poisons = || {
                let _held = other.lock().unwrap();
                std::panic::resume_unwind(Box::new("poison"))
            };
            assert!(catch_unwind(AssertUnwindSafe(poisons)).is_err());
        });
        while !lock.is_poisoned() {}
    }
    ["sync/rwlock RwLock::try_read", "sync/rwlock RwLock::try_write", "sync/rwlock RwLock::read_timeout", "sync/rwlock RwLock::write_timeout"] {
        let (lock, other) = pair(RwLock::new(0));
        later(move || {
            for _ in 0..4 {
                let mut value = other.write().unwrap();
                lamprey::sleep(Duration::from_millis(1));
                *value += 1;
                drop(value);
                lamprey::sleep(Duration::from_millis(1));
            }
        });
        while lock.try_read().is_ok_and(|value| *value < 1) {}
        while lock.try_write().is_err() {}
        while lock.try_write().is_ok_and(|value| *value < 2) {}
        while lock.read_timeout(ZERO).is_err() {}
        while lock.write_timeout(ZERO).is_err() {}
        while lock.read_timeout(ZERO).map_or(true, |value| *value < 4) {}
    }
    ["sync/rwlock RwLock::is_poisoned"] {
        let (lock, other) = pair(RwLock::new(0));
        later(move || {
            let poisons = || {
                let _held = other.write().unwrap();
                std::panic::resume_unwind(Box::new("poison"))
            };
            assert!(catch_unwind(AssertUnwindSafe(poisons)).is_err());
        });
        while !lock.is_poisoned() {}
    }
    ["sync/condvar Condvar::wait_timeout"] {
        let (both, other) = pair((Mutex::new(false), Condvar::new()));
        later(move || *other.0.lock().unwrap() = true);
        let mut value = both.0.lock().unwrap();
        while !*value {
            value = both.1.wait_timeout(value, ZERO).unwrap().0;
        }
    }
    ["sync/condvar Condvar::wait_timeout_while"] {
        let (both, other) = pair((Mutex::new(false), Condvar::new()));
        later(move || *other.0.lock().unwrap() = true);
        let mut value = both.0.lock().unwrap();
        while !*value {
            value = both.1.wait_timeout_while(value, ZERO, |is| !*is).unwrap().0;
        }
    }
    ["sync/semaphore Semaphore::try_acquire", "sync/semaphore Semaphore::try_acquire_owned", "sync/semaphore Semaphore::acquire_timeout"] {
        let (permits, other) = pair(Semaphore::new(0));
        later(move || {
            for _ in 0..3 {
                other.add_permits(1);
                lamprey::sleep(Duration::from_millis(1));
            }
        });
        while permits.try_acquire(1).map(|permit| permit.forget()).is_err() {}
        while permits.try_acquire_owned(1).map(|permit| permit.forget()).is_err() {}
        while permits.acquire_timeout(1, ZERO).is_err() {}
        // Always there.
        permits.add_permits(1);
        let done = flag();
        while permits.try_acquire(1).is_ok() && !done.load(Ordering::Relaxed) {}
    }
    ["sync/semaphore Semaphore::available_permits", "sync/semaphore Semaphore::is_closed"] {
        let (permits, other) = pair(Semaphore::new(0));
        later(move || {
            other.add_permits(1);
            lamprey::sleep(Duration::from_millis(1));
            other.close();
        });
        while permits.available_permits() == 0 {}
        while !permits.is_closed() {}
    }
    ["sync/barrier Barrier::wait_timeout"] {
        let (barrier, other) = pair(Barrier::new(2));
        later(move || other.wait());
        while barrier.wait_timeout(ZERO).is_err() {}
    }
    ["sync/wait_group WaitGroup::count", "sync/wait_group WaitGroup::wait_timeout"] {
        let group = WaitGroup::new();
        let (one, other) = (group.member(), group.member());
        later(move || {
            drop(one);
            lamprey::sleep(Duration::from_millis(1));
            drop(other);
        });
        while group.count() == 2 {}
        while group.wait_timeout(ZERO).is_err() {}
    }
    ["sync/once Once::is_completed", "sync/once Once::wait_timeout"] {
        for by_timeout in [false, true] {
            let (once, other) = pair(Once::new());
            later(move || other.call_once(|| ()));
            while if by_timeout { !once.wait_timeout(ZERO) } else { !once.is_completed() } {}
        }
    }
    ["sync/once/lock OnceLock::get", "sync/once/lock OnceLock::wait_timeout"] {
        for by_timeout in [false, true] {
            let (place, other) = pair(OnceLock::new());
            later(move || other.set(1));
            while if by_timeout { place.wait_timeout(ZERO).is_none() } else { place.get().is_none() } {}
        }
    }
    ["stm/tvar TVar::get_now"] {
        let small = TVar::new(0);
        let large = TVar::new([0_u64; 9]);
        let (one, other) = (small.clone(), large.clone());
        later(move || atomically(|tx| one.set(tx, 1)));
        while small.get_now() == 0 {}
        later(move || atomically(|tx| other.set(tx, [1; 9])));
        while large.get_now()[0] == 0 {}
    }
    ["stm/run atomically_timeout", "stm/tvar TVar::get"] {
        let is = TVar::new(false);
        let other = is.clone();
        later(move || atomically(|tx| other.set(tx, true)));
        while atomically_timeout(ZERO, |tx| check(is.get(tx)?)).is_none() {}
    }
    ["pace/rate_limiter RateLimiter::try_acquire", "pace/rate_limiter RateLimiter::available"] {
        // Neither comes true: whoever looks lets others run all the same.
        let limiter = RateLimiter::new(1, Duration::from_secs(3600));
        assert!(limiter.try_acquire(1));
        let done = flag();
        while !done.load(Ordering::Relaxed) {
            assert!(!limiter.try_acquire(1));
        }
        let done = flag();
        while !done.load(Ordering::Relaxed) {
            assert_eq!(limiter.available(), 0);
        }
    }
}

fn pair<T>(place: T) -> (Arc<T>, Arc<T>) {
    let place = Arc::new(place);
    (place.clone(), place)
}

/// A lock that another host has for a moment.
fn held() -> (Arc<Mutex<i32>>, Arc<Mutex<i32>>) {
    let (lock, other) = pair(Mutex::new(0));
    let theirs = other.clone();
    let (send, taken) = lamprey::oneshot();
    later(move || {
        let _held = theirs.lock().unwrap();
        send.send(()).unwrap();
        lamprey::sleep(Duration::from_millis(1));
    });
    taken.recv().unwrap();
    (lock, other)
}
