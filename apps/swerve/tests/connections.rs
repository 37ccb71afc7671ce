//! Connections: memory of files, slow and stuck readers, limits, stops.

mod common;
use common::{PATIENCE, noise, site, site_on, site_with};
use std::io::Write;
use std::time::{Duration, Instant};

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
