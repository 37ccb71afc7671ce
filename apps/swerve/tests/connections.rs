//! Connections: keep-alive, pipelining, HEAD, bodies, slow and fast peers, large files, limits, stops.

mod common;
use common::{PATIENCE, noise, site, site_on, site_with};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

#[test]
fn keep_alive_serves_many_requests() {
    let site = site();
    let mut client = site.connect();
    for _ in 0..100 {
        client.goes_on();
        assert_eq!(client.get("/b.txt").text(), "beta");
    }
}

#[test]
fn close_is_done_when_asked_for() {
    let site = site();
    let mut client = site.connect();
    client.send("GET /a.txt HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
    let response = client.response();
    assert_eq!((response.text(), response.expect("Connection")), ("alpha", "close"));
    client.ends();
}

#[test]
fn http_1_0_ends_unless_asked_to_go_on() {
    let site = site();
    let mut client = site.connect();
    client.send("GET /a.txt HTTP/1.0\r\n\r\n");
    let response = client.response();
    assert_eq!((response.status, response.text()), (200, "alpha"));
    assert_eq!((response.version.as_str(), response.expect("Connection")), ("HTTP/1.1", "close"));
    client.ends();
    let mut client = site.connect();
    for _ in 0..2 {
        client.send("GET /a.txt HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        let response = client.response();
        assert_eq!((response.text(), response.expect("Connection")), ("alpha", "keep-alive"));
    }
}

#[test]
fn three_requests_in_one_segment_are_answered_in_order() {
    let site = site();
    let mut client = site.connect();
    let request = |target| format!("GET {target} HTTP/1.1\r\nHost: test\r\n\r\n");
    client.send([request("/a.txt"), request("/nope"), request("/b.txt")].concat());
    assert_eq!(client.response().text(), "alpha");
    assert_eq!(client.response().status, 404);
    assert_eq!(client.response().text(), "beta");
    client.goes_on();
}

#[test]
fn more_requests_than_the_buffer_holds() {
    let site = site();
    let mut client = site.connect();
    let one = "GET /a.txt HTTP/1.1\r\nHost: test\r\nX: some-more-bytes-so-that-cuts-fall-anywhere\r\n\r\n";
    let mut writer = client.stream.try_clone().unwrap();
    let sender = std::thread::spawn(move || writer.write_all(one.repeat(2000).as_bytes()).unwrap());
    for _ in 0..2000 {
        assert_eq!(client.response().text(), "alpha");
    }
    sender.join().unwrap();
    client.goes_on();
}

#[test]
fn after_a_close_nothing_pipelined_is_answered() {
    let site = site();
    let mut client = site.connect();
    let close = "GET /a.txt HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
    client.send([close, close].concat());
    assert_eq!(client.response().text(), "alpha");
    client.ends();
}

#[test]
fn a_header_that_comes_byte_by_byte() {
    let site = site();
    let mut client = site.connect();
    for round in 0..2 {
        for byte in "\r\nGET /a.txt HTTP/1.1\r\nHost: test\r\nX: y\r\n\r\n".bytes() {
            client.send([byte]);
        }
        assert_eq!(client.response().text(), "alpha", "round {round}");
    }
}

#[test]
fn lines_may_end_without_a_carriage_return() {
    let site = site();
    assert_eq!(site.raw("GET /a.txt HTTP/1.1\nHost: test\n\n").text(), "alpha");
}

#[test]
fn a_peer_that_stops_sending_still_gets_its_answer() {
    let site = site();
    let mut client = site.connect();
    client.send("GET /a.txt HTTP/1.1\r\nHost: test\r\n\r\n");
    client.stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.response().text(), "alpha");
    client.ends();
}

#[test]
fn head_has_the_same_header_and_no_body() {
    let site = site();
    std::fs::write(site.path("large.bin"), noise(1_000_000)).unwrap();
    let mut client = site.connect();
    for target in ["/a.txt", "/nope", "/sub", "/", "/large.bin", "/a%00"] {
        let get = site.get(target);
        client.send(format!("HEAD {target} HTTP/1.1\r\nHost: test\r\n\r\n"));
        let head = client.response_head();
        assert_eq!(head.status, get.status, "{target}");
        let without_date = |fields: &[(String, String)]| -> Vec<(String, String)> {
            fields.iter().filter(|(name, _)| name != "Date").cloned().collect()
        };
        assert_eq!(without_date(&head.fields), without_date(&get.fields), "{target}");
    }
    client.goes_on();
}

#[test]
fn conditional_requests() {
    let site = site();
    let mut client = site.connect();
    let first = client.get("/a.txt");
    let (tag, date) = (first.expect("ETag").to_owned(), first.expect("Last-Modified").to_owned());
    let table = [
        (format!("If-None-Match: {tag}"), 304),
        (format!("If-None-Match: \"other\", {tag}"), 304),
        ("If-None-Match: *".to_owned(), 304),
        ("If-None-Match: \"other\"".to_owned(), 200),
        (format!("If-Modified-Since: {date}"), 304),
        ("If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT".to_owned(), 200),
        ("If-Modified-Since: nonsense".to_owned(), 200),
        (format!("If-None-Match: \"other\"\r\nIf-Modified-Since: {date}"), 200),
        (format!("If-None-Match: {tag}\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"), 304),
    ];
    for (condition, status) in table {
        for method in ["GET", "HEAD"] {
            client.send(format!("{method} /a.txt HTTP/1.1\r\nHost: test\r\n{condition}\r\n\r\n"));
            let response = if method == "GET" { client.response() } else { client.response_head() };
            assert_eq!(response.status, status, "{method} with {condition}");
            assert_eq!(response.expect("ETag"), tag);
            if status == 304 {
                assert_eq!((response.field("Content-Length"), response.body.len()), (None, 0));
            }
        }
    }
    // Without a file, a condition is ignored.
    client.send("GET /nope HTTP/1.1\r\nHost: test\r\nIf-None-Match: *\r\n\r\n");
    assert_eq!(client.response().status, 404);
}

#[test]
fn a_range_is_answered_with_the_whole() {
    let site = site();
    let response = site.raw("GET /a.txt HTTP/1.1\r\nHost: test\r\nRange: bytes=1-2\r\n\r\n");
    assert_eq!((response.status, response.text()), (200, "alpha"));
}

#[test]
fn a_changed_file_is_seen_within_its_bound() {
    let site = site();
    let mut client = site.connect();
    for round in 0..3 {
        // The same length each time: only the time of change differs.
        let text = format!("text {round}");
        std::fs::write(site.path("c.txt"), &text).unwrap();
        let written = Instant::now();
        loop {
            let asked = Instant::now();
            let answer = client.get("/c.txt");
            if answer.text() == text {
                break;
            }
            assert!(
                asked - written < Duration::from_millis(1000),
                "still {:?} after {:?}",
                answer.text(),
                asked - written
            );
        }
    }
    std::fs::remove_file(site.path("c.txt")).unwrap();
    let removed = Instant::now();
    loop {
        let asked = Instant::now();
        if client.get("/c.txt").status == 404 {
            break;
        }
        assert!(asked - removed < Duration::from_millis(1000));
    }
    std::fs::write(site.path("c.txt"), "again").unwrap();
    assert_eq!(client.get("/c.txt").text(), "again", "what was missing is not remembered");
}

#[test]
fn without_memory_changes_are_seen_at_once() {
    let site = site_with(|config| config.limits.fresh = Duration::ZERO);
    let mut client = site.connect();
    for round in 0..50 {
        let text = format!("text {round:02}");
        std::fs::write(site.path("c.txt"), &text).unwrap();
        assert_eq!(client.get("/c.txt").text(), text);
    }
}

#[test]
fn short_bodies_are_skipped_and_long_ones_end_the_connection() {
    let site = site();
    let mut client = site.connect();
    client.send("GET /a.txt HTTP/1.1\r\nHost: test\r\nContent-Length: 60000\r\n\r\n");
    client.send(noise(60_000));
    assert_eq!(client.response().text(), "alpha");
    client.goes_on();
    client.send("GET /a.txt HTTP/1.1\r\nHost: test\r\nContent-Length: 100000000\r\n\r\n");
    client.send(noise(100_000));
    let response = client.response();
    assert_eq!((response.text(), response.expect("Connection")), ("alpha", "close"));
    client.ends();
    let mut chunked = site.connect();
    chunked.send("GET /a.txt HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n");
    chunked.send("1e\r\nGET /b.txt HTTP/1.1\r\nHost: x\r\n0\r\n\r\n");
    let response = chunked.response();
    assert_eq!((response.text(), response.expect("Connection")), ("alpha", "close"));
    chunked.ends();
}

#[test]
fn a_large_file_arrives_whole_at_a_slow_reader_too() {
    let site = site();
    let bytes = noise(20_000_000);
    std::fs::write(site.path("large.bin"), &bytes).unwrap();
    let mut fast = site.connect();
    assert!(fast.get("/large.bin").body == bytes);
    fast.goes_on();
    let mut slow = site.connect();
    slow.send("GET /large.bin HTTP/1.1\r\nHost: test\r\n\r\n");
    let length: usize = slow.response_head().expect("Content-Length").parse().unwrap();
    let mut received = Vec::new();
    while received.len() < length {
        if received.len() % 1_000_000 == 0 {
            // Longer than the socket's buffers last, so that the server has to wait.
            std::thread::sleep(Duration::from_millis(20));
        }
        received.extend(slow.take(100_000.min(length - received.len())));
    }
    assert!(received == bytes);
    slow.goes_on();
}

#[test]
fn a_slow_reader_does_not_hold_up_others() {
    let site = site_on(1, |_| {});
    std::fs::write(site.path("large.bin"), noise(20_000_000)).unwrap();
    let mut stuck: Vec<_> = (0..8).map(|_| site.connect()).collect();
    for client in &mut stuck {
        client.send("GET /large.bin HTTP/1.1\r\nHost: test\r\n\r\n");
    }
    for _ in 0..20 {
        assert_eq!(site.get("/a.txt").text(), "alpha");
    }
}

#[test]
fn a_reader_that_takes_nothing_is_cut_off() {
    let site = site_with(|config| config.limits.write_time = Duration::from_millis(200));
    let bytes = noise(20_000_000);
    std::fs::write(site.path("large.bin"), &bytes).unwrap();
    let mut client = site.connect();
    client.send("GET /large.bin HTTP/1.1\r\nHost: test\r\n\r\n");
    // Once the server has closed its end, what the client sends is refused.
    let deadline = Instant::now() + PATIENCE;
    while client.stream.write_all(b"x").is_ok() {
        assert!(Instant::now() < deadline, "still open");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(client.rest().len() < bytes.len());
}

/// Requests a large file, changes it with `change` after the header has come, and returns the promised length
/// and what arrives after the header.
fn change_while_sent(length: usize, change: impl FnOnce(&std::fs::File)) -> (usize, Vec<u8>) {
    let site = site();
    let path = site.path("large.bin");
    std::fs::write(&path, noise(length)).unwrap();
    let mut client = site.connect();
    client.send("GET /large.bin HTTP/1.1\r\nHost: test\r\n\r\nGET /a.txt HTTP/1.1\r\nHost: test\r\n\r\n");
    let promised: usize = client.response_head().expect("Content-Length").parse().unwrap();
    change(&std::fs::File::options().write(true).open(&path).unwrap());
    client.stream.shutdown(Shutdown::Write).unwrap();
    (promised, client.rest())
}

#[test]
fn a_file_that_shrinks_while_it_is_sent_ends_the_connection() {
    let length = 50_000_000;
    let (promised, received) = change_while_sent(length, |file| file.set_len(1_000_000).unwrap());
    assert_eq!(promised, length);
    assert!(received.len() < promised, "nothing may be sent after a body that fell short");
}

#[test]
fn a_file_that_grows_while_it_is_sent_is_cut_at_the_promise() {
    let length = 20_000_000;
    let (promised, received) =
        change_while_sent(length, |file| file.write_all_at(b"more", length as u64 + 5).unwrap());
    assert_eq!(promised, length);
    assert!(received[..length] == noise(length)[..]);
    assert!(received[length..].starts_with(b"HTTP/1.1 200 OK\r\n") && received.ends_with(b"alpha"));
}

#[test]
fn sixty_four_connections_at_once() {
    let site = site();
    let bytes = noise(10 * 1024);
    std::fs::write(site.path("ten.bin"), &bytes).unwrap();
    let (addr, bytes) = (&site, &bytes);
    std::thread::scope(|scope| {
        for number in 0..64 {
            scope.spawn(move || {
                let mut client = addr.connect();
                for _ in 0..20 {
                    assert!(client.get("/ten.bin").body == *bytes, "connection {number}");
                }
            });
        }
    });
}

#[test]
fn peers_that_vanish_do_no_harm() {
    let site = site();
    std::fs::write(site.path("large.bin"), noise(5_000_000)).unwrap();
    for round in 0..100 {
        let mut client = site.connect();
        match round % 4 {
            0 => {}
            1 => client.send("GET /a.t"),
            2 => client.send("GET /large.bin HTTP/1.1\r\nHost: test\r\n\r\n"),
            _ => {
                client.send("GET /large.bin HTTP/1.1\r\nHost: test\r\n\r\n");
                let _ = client.stream.read(&mut [0; 100]);
            }
        }
    }
    site.connect().goes_on();
}

#[test]
fn the_limit_of_connections_makes_new_ones_wait() {
    let site = site_with(|config| config.limits.connections = 2);
    let (mut first, mut second) = (site.connect(), site.connect());
    first.goes_on();
    second.goes_on();
    let mut third = site.connect();
    third.send("GET /a.txt HTTP/1.1\r\nHost: test\r\n\r\n");
    third.stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    assert!(third.stream.peek(&mut [0]).is_err(), "served beyond the limit");
    third.stream.set_read_timeout(Some(PATIENCE)).unwrap();
    drop(first);
    assert_eq!(third.response().text(), "alpha");
}

#[test]
fn a_stop_lets_the_running_request_finish_and_ends_idle_ones() {
    let site = site();
    let bytes = noise(20_000_000);
    std::fs::write(site.path("large.bin"), &bytes).unwrap();
    let (mut idle, mut begun, mut running) = (site.connect(), site.connect(), site.connect());
    idle.goes_on();
    // After the first answer the server has begun to read the second request.
    begun.send("GET /b.txt HTTP/1.1\r\nHost: test\r\n\r\nGET /a.txt HTTP/1.1\r\n");
    assert_eq!(begun.response().text(), "beta");
    running.send("GET /large.bin HTTP/1.1\r\nHost: test\r\n\r\n");
    let length: usize = running.response_head().expect("Content-Length").parse().unwrap();
    site.stop();
    idle.ends();
    begun.send("Host: test\r\n\r\n");
    let response = begun.response();
    assert_eq!((response.text(), response.expect("Connection")), ("alpha", "close"));
    assert!(running.take(length) == bytes);
    assert!(std::net::TcpStream::connect(site.addr).is_err(), "still accepting");
    assert_eq!(site.finish(), 0);
}

#[test]
fn a_stop_cuts_off_what_does_not_finish() {
    let site = site_with(|config| config.limits.stop_time = Duration::from_millis(200));
    std::fs::write(site.path("large.bin"), noise(50_000_000)).unwrap();
    let mut client = site.connect();
    client.send("GET /large.bin HTTP/1.1\r\nHost: test\r\n\r\n");
    client.response_head();
    assert_eq!(site.finish(), 1);
}
