//! Statuses that come of time limits.

mod common;
use common::site_with;
use std::time::Duration;

const GET: &str = "GET /a.txt HTTP/1.1\r\nHost: test\r\n";

#[test]
fn a_trickling_header_gets_408() {
    let site = site_with(|config| config.limits.head_time = Duration::from_millis(300));
    let mut client = site.connect();
    // Each byte comes in time, but the whole header does not.
    for byte in GET.bytes().cycle() {
        use std::io::Write;
        if client.stream.write_all(&[byte]).is_err() || client.stream.take_error().unwrap().is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
        client.stream.set_nonblocking(true).unwrap();
        let answered = client.stream.peek(&mut [0]).is_ok();
        client.stream.set_nonblocking(false).unwrap();
        if answered {
            break;
        }
    }
    let response = client.response();
    assert_eq!((response.status, response.expect("Connection")), (408, "close"));
    client.ends();
    // A request that consists of blank lines so far has begun, too.
    let mut blank = site.connect();
    blank.send("\r\n\r\n");
    assert_eq!(blank.response().status, 408);
}

#[test]
fn an_idle_connection_gets_408() {
    let site = site_with(|config| config.limits.idle_time = Duration::from_secs(1));
    let mut fresh = site.connect();
    assert_eq!(fresh.response().status, 408);
    fresh.ends();
    let mut used = site.connect();
    used.goes_on();
    assert_eq!(used.response().status, 408);
    used.ends();
}

#[test]
fn a_body_that_does_not_come_gets_its_answer_and_the_end() {
    let site = site_with(|config| config.limits.head_time = Duration::from_millis(200));
    let mut client = site.connect();
    client.send(format!("{GET}Content-Length: 10\r\n\r\nabc"));
    let response = client.response();
    assert_eq!((response.status, response.expect("Connection")), (408, "close"));
    client.ends();
}
