//! Requests as they should not be, and clients that are slow.

use crate::{ask, connect, get, refused, rest, taken_apart};
use lamprey::inspect::serve;
use std::io::{Read, Write};

/// What an HTTP/1.1 client sends.
fn request(path: &str, more: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n")
}

#[test]
fn what_is_no_request_is_refused_with_the_reason() {
    let server = serve("127.0.0.1:0").unwrap();
    let long = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}", "x".repeat(20_000));
    let many: String = (0..100).map(|number| format!("X-{number}: y\r\n")).collect();
    for (bytes, status, part) in [
        (&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"[..], 400, "no request"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "no request"),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc", 405, "`POST`"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc", 400, "no body"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "no body"),
        (b"GET / HTTP/1.1\r\n\r\n", 400, "`Host`"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "`Host`"),
        (b"GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "`http://localhost/`"),
        (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403, "`Host`"),
        (b"GET / HTTP/1.0\r\nHost: 127.0.0.1.evil.example:80\r\n\r\n", 403, "`Host`"),
        (
            b"GET /api/v1/stuck HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n\r\n",
            403,
            "another site",
        ),
        (
            b"GET /api/v1/stuck HTTP/1.1\r\nHost: localhost:1\r\nOrigin: http://localhost:2\r\n\r\n",
            403,
            "another site",
        ),
        (b"GET /api/v1/stuck HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n\r\n", 403, "another site"),
        (long.as_bytes(), 431, "16384"),
        (request("/", &many).as_bytes(), 431, "64 headers"),
    ] {
        refused(&ask(server.addr(), bytes), status, part);
    }
    for (path, status, part) in [
        ("/nothing", 404, "`/nothing`"),
        ("/api/v1/", 404, "`/api/v1/`"),
        ("/../etc/passwd", 404, "`/../etc/passwd`"),
        ("/api/v1/thread/x", 400, "`x`"),
        ("/api/v1/thread/18446744073709551615", 404, "18446744073709551615"),
        ("/api/v1/thread/1?runtime=-1", 400, "runtime=-1"),
        ("/api/v1/threads?limit=many", 400, "limit=many"),
        ("/api/v1/threads?group=xyz", 400, "group=xyz"),
        ("/api/v1/threads?limit=1001", 400, "limit=1001: at most 1000"),
        ("/api/v1/recording?format=gif", 400, "format=gif"),
        ("/api/v1/recording?format=why&thread=me", 400, "thread=me"),
        ("/api/v1/recording?format=why&thread=999999999", 404, "nothing is recorded of this thread"),
        ("/api/v1/recording?thread=3", 400, "`thread` goes with format=why"),
        ("/api/v1/metrics", 404, "metrics"),
    ] {
        refused(&ask(server.addr(), request(path, "Connection: close\r\n").as_bytes()), status, part);
    }
}

#[test]
fn a_filter_that_is_none_is_told_with_what_there_is() {
    let server = serve("127.0.0.1:0").unwrap();
    for (path, part) in [
        ("threads?kind=hosts", "kind=hosts: write one of host, parasite, stackful parasite"),
        ("threads?kind=", "kind=: write one of host"),
        ("threads?state=asleep", "state=asleep: write one of running, ready, waiting"),
        ("threads?reason=beer", "reason=beer: write one of send on a channel, receive on a channel,"),
        ("groups?stacks=yes", "stacks=yes: write one of 0, 1"),
        (
            "threads?serach=x",
            "`serach` is no parameter: /api/v1/threads takes kind, state, reason, search, group, offset, limit",
        ),
        ("groups?search=x", "`search` is no parameter: /api/v1/groups takes stacks"),
        ("thread/1?worker=0", "`worker` is no parameter: /api/v1/thread/1 takes runtime"),
        ("dump?kind=host", "`kind` is no parameter: /api/v1/dump takes no parameters"),
        ("summary?kind=host", "takes no parameters"),
        ("threads?state=ready&state=running", "`state` is given twice"),
    ] {
        refused(&ask(server.addr(), format!("GET /api/v1/{path} HTTP/1.0\r\n\r\n").as_bytes()), 400, part);
    }
}

#[test]
fn a_request_may_come_byte_by_byte() {
    let server = serve("127.0.0.1:0").unwrap();
    let mut stream = connect(server.addr());
    stream.set_nodelay(true).unwrap();
    for byte in request("/api/v1/stuck", "Connection: close\r\n").as_bytes() {
        stream.write_all(&[*byte]).unwrap();
    }
    assert_eq!(taken_apart(&rest(stream)).0, 200);
}

#[test]
fn requests_that_come_together_are_answered_in_their_order() {
    let server = serve("127.0.0.1:0").unwrap();
    let all =
        [request("/api/v1/stuck", ""), request("/none", ""), request("/page.css", "Connection: close\r\n")];
    let answer = ask(server.addr(), all.concat().as_bytes());
    let places: Vec<_> =
        ["{\"stuck\":", "`/none`", "text/css"].iter().map(|part| answer.find(part).unwrap()).collect();
    assert!(places.is_sorted(), "{answer}");
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 3, "{answer}");
    assert_eq!(answer.matches("Connection: keep-alive").count(), 2, "{answer}");
}

#[test]
fn a_head_is_answered_without_a_body_and_old_clients_at_once() {
    let server = serve("127.0.0.1:0").unwrap();
    let answer = ask(server.addr(), b"HEAD /page.js HTTP/1.0\r\n\r\n");
    let (status, body) = taken_apart(&answer);
    assert!(status == 200 && body.is_empty() && !answer.contains("Content-Length: 0"), "{answer}");
    let mut stream = connect(server.addr());
    for _ in 0..2 {
        stream.write_all(b"GET /none HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").unwrap();
        assert_ne!(stream.read(&mut [0; 4096]).unwrap(), 0);
    }
}

#[test]
fn no_other_site_can_read_or_show_the_answers() {
    let server = serve("127.0.0.1:0").unwrap();
    for path in ["/", "/api/v1/dump", "/none"] {
        let request = request(path, "Origin: http://evil.example\r\nConnection: close\r\n");
        let head = ask(server.addr(), request.as_bytes()).to_lowercase();
        assert!(head.contains("content-security-policy: default-src 'none';"), "{head}");
        assert!(head.contains("frame-ancestors 'none'") && head.contains("nosniff"), "{head}");
        assert!(!head.contains("access-control-allow"), "{head}");
    }
}

#[test]
fn clients_that_say_nothing_hold_up_nobody_and_are_let_go() {
    let server = serve("127.0.0.1:0").unwrap();
    // One of them has begun.
    let mut slow: Vec<_> = (0..20).map(|_| connect(server.addr())).collect();
    slow[0].write_all(b"GET / HTTP/1.1\r\nHo").unwrap();
    assert_eq!(get(server.addr(), "/page.css").0, 200);
    let first = slow.remove(0);
    refused(&rest(first), 408, "head");
    for silent in slow {
        assert_eq!(rest(silent), "");
    }
    assert_eq!(get(server.addr(), "/page.css").0, 200);
}

/// A client that asks and does not read.
#[test]
fn clients_that_do_not_read_hold_up_nobody() {
    let server = serve("127.0.0.1:0").unwrap();
    let deaf: Vec<_> = (0..8)
        .map(|_| {
            let mut stream = connect(server.addr());
            stream.write_all(request("/page.js", "").repeat(50).as_bytes()).unwrap();
            stream
        })
        .collect();
    assert_eq!(get(server.addr(), "/api/v1/stuck").0, 200);
    drop(deaf);
}
