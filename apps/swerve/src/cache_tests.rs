use super::*;
use crate::beneath::Root;
use crate::file::{Found, find};

const SECOND: Duration = Duration::from_secs(1);

/// A file of `length` bytes; in memory if it has at most 1000.
fn file(length: usize) -> Arc<File> {
    let temp = tempfile::tempdir().unwrap();
    std::fs::write(temp.path().join("a"), vec![b'x'; length]).unwrap();
    match find(&Root::open(temp.path()).unwrap(), b"a", None, 1000) {
        Ok(Found::File(file)) => file,
        _ => panic!("no file"),
    }
}

fn is_fresh(cache: &Cache, name: &[u8], now: Instant) -> bool {
    matches!(cache.look(name, now), Lookup::Fresh(_))
}

#[test]
fn one_request_compares_while_the_others_go_on() {
    let (cache, start) = (Cache::new(SECOND, 10_000), Instant::now());
    cache.put(b"a", &file(10), start);
    assert!(is_fresh(&cache, b"a", start + SECOND / 4));
    let late = start + SECOND * 3 / 4;
    assert!(matches!(cache.look(b"a", late), Lookup::Old(_)));
    assert!(is_fresh(&cache, b"a", late));
    cache.put(b"a", &file(10), late);
    assert!(is_fresh(&cache, b"a", late + SECOND / 4));
}

#[test]
fn nothing_older_than_the_bound_is_fresh_even_if_the_comparison_is_slow() {
    let (cache, start) = (Cache::new(SECOND, 10_000), Instant::now());
    cache.put(b"a", &file(10), start);
    assert!(!is_fresh(&cache, b"a", start + SECOND * 3 / 4));
    for _ in 0..3 {
        assert!(!is_fresh(&cache, b"a", start + SECOND));
    }
}

#[test]
fn a_bound_of_nothing_is_never_fresh() {
    let (cache, start) = (Cache::new(Duration::ZERO, 10_000), Instant::now());
    cache.put(b"a", &file(10), start);
    assert!(!is_fresh(&cache, b"a", start));
}

#[test]
fn forgotten_and_large_files_are_unknown() {
    let (cache, start) = (Cache::new(SECOND, 100_000), Instant::now());
    cache.put(b"a", &file(10), start);
    cache.forget(b"a");
    cache.forget(b"a");
    assert!(matches!(cache.look(b"a", start), Lookup::Unknown));
    cache.put(b"b", &file(10), start);
    cache.put(b"b", &file(2000), start);
    assert!(matches!(cache.look(b"b", start), Lookup::Unknown));
    assert_eq!(cache.lock().used, 0);
}

#[test]
fn room_is_kept_and_made_by_dropping_files_that_are_not_requested() {
    let (cache, start) = (Cache::new(SECOND, 2500), Instant::now());
    let big = file(900);
    cache.put(b"a", &big, start);
    cache.put(b"b", &big, start);
    cache.put(b"c", &big, start);
    assert!(!is_fresh(&cache, b"c", start), "no room for a third");
    assert!(cache.lock().used <= 2500);
    let later = start + SECOND * 2;
    cache.put(b"c", &big, later);
    assert!(is_fresh(&cache, b"c", later));
    assert!(matches!(cache.look(b"a", later), Lookup::Unknown));
    assert!(cache.lock().used <= 2500);
}
