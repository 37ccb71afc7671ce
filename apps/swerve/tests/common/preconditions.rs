//! Conditional requests (RFC 9110, 13): of files in memory and of those that are streamed. The tests of Swerve and those of
//! the example `trace_server` both include it.

use crate::common::{Place, noise, site};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// A file in memory, and one that is streamed.
const NAMES: [&str; 2] = ["small.bin", "large.bin"];
const SIZES: [usize; 2] = [1000, 400_000];
/// The modification time of both.
fn then() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000)
}

const BEFORE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
const AFTER: &str = "Tue, 14 Nov 2023 22:13:20 GMT";

fn set_time(path: &Path, time: SystemTime) {
    std::fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

/// The entity tag of a file, once it is strong.
fn strong_tag(site: &Place, target: &str) -> String {
    let start = Instant::now();
    loop {
        let tag = site.get(target).expect("ETag").to_owned();
        if tag.starts_with('"') {
            return tag;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{target} keeps its weak tag {tag}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Asks for `target` by GET and by HEAD with these fields; the status.
fn ask(site: &Place, target: &str, fields: &str) -> u16 {
    let mut client = site.connect();
    let statuses = ["GET", "HEAD"].map(|method| {
        client.send(format!("{method} {target} HTTP/1.1\r\nHost: test\r\n{fields}\r\n\r\n"));
        let response = if method == "GET" { client.response() } else { client.response_head() };
        if [200, 304].contains(&response.status) && target.ends_with(".bin") {
            assert!(
                response.field("ETag").is_some() && response.field("Last-Modified").is_some(),
                "{fields}"
            );
        }
        if response.status == 304 {
            assert_eq!((response.field("Content-Length"), response.body.len()), (None, 0), "{fields}");
        }
        response.status
    });
    assert_eq!(statuses[0], statuses[1], "GET and HEAD {target} with {fields}");
    client.goes_on();
    statuses[0]
}

#[test]
fn of_files() {
    let site = site();
    for (name, size) in NAMES.into_iter().zip(SIZES) {
        std::fs::write(site.path(name), noise(size)).unwrap();
        set_time(&site.path(name), then());
    }
    for name in NAMES {
        let target = format!("/{name}");
        let tag = strong_tag(&site, &target);
        let date = httpdate::fmt_http_date(then());
        assert_eq!(site.get(&target).expect("Last-Modified"), date);
        let table = [
            ("If-Match: {tag}", 200),
            ("If-Match: *", 200),
            ("If-Match: \"a\", {tag}", 200),
            ("If-Match: ,, \"a\" ,{tag},", 200),
            ("If-Match: \"a\"\r\nIf-Match: {tag}", 200),
            ("If-Match: \"a\"", 412),
            ("If-Match: \"a\", \"b\"", 412),
            ("If-Match: W/{tag}", 412),
            ("If-Match: nonsense", 412),
            ("If-Match:", 412),
            ("If-Match: \"a\"\r\nIf-None-Match: {tag}", 412),
            ("If-Match: {tag}\r\nIf-None-Match: {tag}", 304),
            ("If-Unmodified-Since: {then}", 200),
            ("If-Unmodified-Since: {after}", 200),
            ("If-Unmodified-Since: {before}", 412),
            ("If-Unmodified-Since: nonsense", 200),
            ("If-Unmodified-Since: {before}\r\nIf-Unmodified-Since: {before}", 200),
            ("If-Unmodified-Since: Mon, 06 Nov 1994 08:49:37 GMT", 200),
            ("If-Unmodified-Since: Sunday, 06-Nov-94 08:49:37 GMT", 412),
            ("If-Unmodified-Since: Sun Nov  6 08:49:37 1994", 412),
            ("If-Unmodified-Since: {before}\r\nIf-None-Match: {tag}", 412),
            ("If-Unmodified-Since: {then}\r\nIf-None-Match: {tag}", 304),
            ("If-Match: {tag}\r\nIf-Unmodified-Since: {before}", 200),
            ("If-Match: \"a\"\r\nIf-Unmodified-Since: {after}", 412),
            ("If-None-Match: {tag}", 304),
            ("If-None-Match: W/{tag}", 304),
            ("If-None-Match: *", 304),
            ("If-None-Match: \"a\", {tag}", 304),
            ("If-None-Match: \"a\"\r\nIf-None-Match: {tag}", 304),
            ("If-None-Match: \"a\"", 200),
            ("If-None-Match: nonsense", 200),
            ("If-None-Match: \"a\"\r\nIf-Modified-Since: {after}", 200),
            ("If-None-Match: nonsense\r\nIf-Modified-Since: {after}", 200),
            ("If-None-Match: {tag}\r\nIf-Modified-Since: {before}", 304),
            ("If-Modified-Since: {then}", 304),
            ("If-Modified-Since: {after}", 304),
            ("If-Modified-Since: {before}", 200),
            ("If-Modified-Since: nonsense", 200),
            ("If-Modified-Since: {then}\r\nIf-Modified-Since: {then}", 200),
            ("If-Match: {tag}\r\nIf-Modified-Since: {then}", 304),
            // A range is answered with the whole, whatever its condition.
            ("Range: bytes=0-1\r\nIf-Range: {tag}", 200),
            ("Range: bytes=0-1\r\nIf-Range: \"a\"", 200),
            ("Range: bytes=0-1\r\nIf-Range: {then}\r\nIf-Match: \"a\"", 412),
            ("Range: bytes=0-1\r\nIf-Range: {then}\r\nIf-None-Match: {tag}", 304),
        ];
        for (fields, status) in table {
            let fields = fields.replace("{tag}", &tag).replace("{then}", &date);
            let fields = fields.replace("{before}", BEFORE).replace("{after}", AFTER);
            assert_eq!(ask(&site, &target, &fields), status, "{target} with {fields:?}");
        }
    }
}

#[test]
fn of_what_is_no_file() {
    let site = site();
    for condition in ["If-Match: *", "If-Match: \"a\"", "If-None-Match: *", "If-Unmodified-Since: {before}"] {
        let condition = condition.replace("{before}", BEFORE);
        assert_eq!(ask(&site, "/nope", &condition), 404, "{condition}");
        assert_eq!(ask(&site, "/sub", &condition), 301, "{condition}");
        assert_eq!(ask(&site, "/%00", &condition), 400, "{condition}");
        let refused = site.raw(&format!("POST /a.txt HTTP/1.1\r\nHost: test\r\n{condition}\r\n\r\n"));
        assert_eq!(refused.status, 405, "{condition}");
    }
}

/// Gives a file of the same length and the same modification time other bytes.
type Change = fn(&Path, &[u8]);

fn by_rename(path: &Path, bytes: &[u8]) {
    let other = path.with_extension("new");
    std::fs::write(&other, bytes).unwrap();
    set_time(&other, then());
    std::fs::rename(other, path).unwrap();
}

fn in_place(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
    set_time(path, then());
}

#[test]
fn bytes_that_changed_are_never_not_modified() {
    let site = site();
    let changes: [Change; 2] = [by_rename, in_place];
    for (name, size) in NAMES.into_iter().zip(SIZES) {
        let (path, target) = (site.path(name), format!("/{name}"));
        let mut tags = Vec::new();
        for round in 0..4 {
            let bytes = vec![b'a' + round as u8; size];
            changes[round % 2](&path, &bytes);
            let start = Instant::now();
            let response = loop {
                let response = site.get(&target);
                if response.body == bytes {
                    break response;
                }
                assert!(start.elapsed() < Duration::from_secs(30), "{target} is not seen in round {round}");
            };
            tags.push(response.expect("ETag").to_owned());
            // The next change comes when this one is long ago, or at once.
            if round % 2 == 0 {
                tags.push(strong_tag(&site, &target));
            }
            let last = tags.last().unwrap();
            for tag in &tags {
                let status = ask(&site, &target, &format!("If-None-Match: {tag}"));
                let expected = if tag == last && tag.starts_with('"') { 304 } else { 200 };
                assert_eq!(status, expected, "{target}, round {round}: {tag} of {tags:?}");
            }
        }
    }
}

#[test]
fn a_date_that_was_given_away_is_of_one_version() {
    let site = site();
    for (name, size) in NAMES.into_iter().zip(SIZES) {
        let (path, target) = (site.path(name), format!("/{name}"));
        // Two versions within one second, both seen.
        std::fs::write(&path, vec![b'a'; size]).unwrap();
        let second = std::fs::metadata(&path).unwrap().modified().unwrap();
        let old = site.get(&target).expect("Last-Modified").to_owned();
        std::fs::write(&path, vec![b'b'; size]).unwrap();
        set_time(&path, second);
        let start = Instant::now();
        while site.get(&target).body[0] == b'a' {
            assert!(start.elapsed() < Duration::from_secs(30));
        }
        assert_eq!(ask(&site, &target, &format!("If-Modified-Since: {old}")), 200);
        assert_eq!(ask(&site, &target, &format!("If-Unmodified-Since: {old}")), 412);
    }
}
