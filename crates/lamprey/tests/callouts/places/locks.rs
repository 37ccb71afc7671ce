//! Code that runs while a lock of the program is held, or that others wait for.
use super::{Place, SHORT, place};
use lamprey::sync::{Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use lamprey::{sleep, spawn};
use std::sync::Arc;

pub const PLACES: &[Place] = &[
    place("the code of Once", |case| {
        let once = Arc::new(Once::new());
        let again = once.clone();
        case.again(move || assert!(!again.is_completed()));
        once.call_once(|| case.act());
        case.again(|| ());
    }),
    place("the code of OnceLock", |case| {
        let lock = Arc::new(OnceLock::new());
        let again = lock.clone();
        case.again(move || assert!(again.get().is_none()));
        let theirs = case.clone();
        let (waits, mut other) = (lock.clone(), None);
        lock.get_or_init(|| {
            // Others wait meanwhile; not before, or one of them might be the first.
            other = Some(spawn(move || waits.get_or_init(|| 2) > &0));
            theirs.act();
            1
        });
        case.again(|| ());
        let _ = other.map(lamprey::JoinHandle::join);
    }),
    place("the code of LazyLock", |case| {
        let theirs = case.clone();
        let lock = LazyLock::new(move || theirs.act());
        LazyLock::force(&lock);
    }),
    place("the condition of wait_while", |case| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let (theirs, again) = (pair.clone(), pair.clone());
        case.again(move || again.1.notify_all());
        let peer = spawn(move || {
            sleep(SHORT);
            if let Ok(mut ready) = theirs.0.lock() {
                *ready = true;
            }
            theirs.1.notify_all();
        });
        let guard = pair.0.lock().unwrap();
        drop(pair.1.wait_while(guard, |ready| {
            case.act();
            !*ready
        }));
        let _ = peer.join();
        case.again(|| ());
    }),
    place("a value that is shown within a mutex", |case| {
        let lock = Arc::new(Mutex::new(Some(case.shown())));
        let again = lock.clone();
        case.again(move || assert!(again.try_lock().is_err()));
        assert!(!format!("{lock:?}").is_empty());
        case.again(|| ());
        if let Ok(mut value) = lock.lock() {
            value.take();
        }
    }),
    place("a value that is shown within a lock for many", |case| {
        let lock = Arc::new(RwLock::new(Some(case.shown())));
        let again = lock.clone();
        case.again(move || assert!(again.try_read().is_ok()));
        assert!(!format!("{lock:?}").is_empty());
        case.again(|| ());
        if let Ok(mut value) = lock.write() {
            value.take();
        }
    }),
    place("a value that is dropped within a mutex", |case| {
        let lock = Arc::new(Mutex::new(Some(case.dropped())));
        let again = lock.clone();
        case.again(move || assert!(again.try_lock().is_err()));
        let mut guard = lock.lock().unwrap();
        *guard = None;
        drop(guard);
        case.again(|| ());
    }),
];
