use super::*;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// A file of five bytes that was modified and changed at these seconds since 1970.
fn stamp(modified: i64, changed: i64) -> Stamp {
    Stamp { device: 1, inode: 2, length: 5, modified: (modified, 7), changed: (changed, 7) }
}

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

fn tag(validators: &Validators) -> &str {
    std::str::from_utf8(validators.tag()).unwrap()
}

fn is_strong(validators: &Validators) -> bool {
    tag(validators).starts_with('"')
}

#[test]
fn a_tag_of_bytes_tells_bytes_apart_and_nothing_else() {
    let now = at(1000);
    let one = Validators::of_bytes(b"alpha", &stamp(999, 999), now);
    assert!(is_strong(&one), "{one:?}");
    for other in [&b"alphb"[..], b"Alpha", b"alph", b"alpha\0", b""] {
        let other = Validators::of_bytes(other, &stamp(999, 999), now);
        assert_ne!(tag(&one), tag(&other));
    }
    let moved = Validators::of_bytes(b"alpha", &stamp(5, 50), at(2000));
    assert_eq!(tag(&one), tag(&moved), "the same bytes at another time");
}

#[test]
fn a_tag_of_a_stamp_changes_with_each_part_of_it() {
    let now = at(1_000_000);
    let old = stamp(1000, 2000);
    let tags = [
        old,
        Stamp { device: 9, ..old },
        // Replaced by a rename: same length, same modification time.
        Stamp { inode: 9, ..old },
        Stamp { length: 9, ..old },
        Stamp { modified: (1000, 8), ..old },
        // Written in place, its modification time set back.
        Stamp { changed: (2000, 8), ..old },
        Stamp { changed: (2001, 7), ..old },
    ]
    .map(|stamp| Validators::of_stamp(&stamp, now));
    for (at, one) in tags.iter().enumerate() {
        assert!(is_strong(one), "{one:?}");
        assert!(tags[..at].iter().all(|other| tag(other) != tag(one)), "{one:?} is there twice");
    }
    assert_eq!(
        tag(&Validators::of_stamp(&old, at(9_000_000))),
        tag(&tags[0]),
        "it does not change by itself"
    );
}

#[test]
fn a_stamp_of_the_last_seconds_proves_nothing() {
    let fresh = stamp(100, 2000);
    for now in [at(1990), at(2000), at(2000) + SECOND / 2, at(2003)] {
        let one = Validators::of_stamp(&fresh, now);
        let next = Validators::of_stamp(&fresh, now + SECOND / 1_000_000);
        assert!(tag(&one).starts_with("W/\"") && tag(&one) != tag(&next), "{one:?} {next:?}");
        assert!(!fresh.is_settled(now));
    }
    assert!(fresh.is_settled(at(2004)));
    let settled = Validators::of_stamp(&fresh, at(2004));
    assert!(is_strong(&settled));
    let early = Validators::of_stamp(&fresh, at(2003));
    assert_ne!(tag(&early).strip_prefix("W/"), Some(tag(&settled)), "weak comparison tells them apart");
}

#[test]
fn a_date_is_given_away_only_when_its_second_is_over() {
    let shown = |now| Validators::of_bytes(b"", &stamp(2000, 2000), now).shown;
    assert_eq!([at(2000), at(2003), at(2004), at(9999)].map(shown), [1999, 1999, 2000, 2000]);
    // The modification time of an old file, whatever happened to it since.
    assert_eq!(Validators::of_bytes(b"", &stamp(2000, 9998), at(9999)).shown, 2000);
}

#[test]
fn dates_stay_in_range() {
    let future = Validators::of_bytes(b"", &stamp(5000, 5000), at(2000));
    assert_eq!((future.modified, future.shown), (2000, 1999));
    let before = Validators::of_bytes(b"", &stamp(-5, -5), at(2000));
    assert_eq!((before.modified, before.shown), (0, 0));
    assert!(stamp(-5, -5).is_settled(at(2000)));
    assert!(!stamp(5000, 100).is_settled(at(2000)));
}

#[test]
fn lines_of_a_header() {
    let mut head = Vec::new();
    Validators::chosen("W/\"x\"", 784_111_777).write_to(&mut head);
    assert_eq!(head, b"Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nETag: W/\"x\"\r\n");
}
