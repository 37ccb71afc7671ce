//! Request heads that are odd, ambiguous, long, or of another protocol, and the one status that each is answered with
//! (RFC 9112). The tests of Swerve and those of the example `trace_server` both include it.

use crate::common::site;
use std::io::Write;

/// The line and the host of a plain request.
const PLAIN: &str = "GET /a.txt HTTP/1.1\r\nHost: test\r\n";
/// The last field and the end of a head.
const END: &str = "Connection: close\r\n\r\n";

/// Sends each head on a connection of its own: it is answered once, with this status, and the connection ends.
fn check(table: &[(String, u16)]) {
    let site = site();
    for (head, status) in table {
        let mut client = site.connect();
        // A server that has refused the beginning need not take the rest.
        let _ = client.stream.write_all(head.as_bytes());
        let response = client.response_head();
        let shown: String = head.chars().take(200).collect();
        assert_eq!(response.status, *status, "{shown:?}");
        assert_eq!(response.expect("Connection"), "close", "{shown:?}");
        let length: usize = response.field("Content-Length").map_or(0, |length| length.parse().unwrap());
        let rest = client.rest();
        let expected = if head.starts_with("HEAD ") { 0 } else { length };
        assert_eq!(rest.len(), expected, "{shown:?}: {:?}", String::from_utf8_lossy(&rest));
    }
    site.connect().goes_on();
}

/// Heads with this request line.
fn lines(table: &[(&str, u16)]) -> Vec<(String, u16)> {
    table.iter().map(|(line, status)| (format!("{line}\r\nHost: test\r\n{END}"), *status)).collect()
}

/// Heads with these fields beside a host.
fn fields(table: &[(&str, u16)]) -> Vec<(String, u16)> {
    table.iter().map(|(fields, status)| (format!("{PLAIN}{fields}\r\n{END}"), *status)).collect()
}

fn whole(table: &[(&str, u16)]) -> Vec<(String, u16)> {
    table.iter().map(|(head, status)| ((*head).to_owned(), *status)).collect()
}

#[test]
fn request_lines() {
    check(&lines(&[
        ("GET /a.txt HTTP/1.1", 200),
        ("GET /a.txt HTTP/1.2", 200),
        ("GET /a.txt HTTP/1.9", 200),
        ("GET /a.txt HTTP/1.0", 200),
        ("GET /a.txt HTTP/2.0", 505),
        ("GET /a.txt HTTP/0.9", 505),
        ("PRI * HTTP/2.0", 505),
        ("GET /a.txt HTTP/2", 400),
        ("GET /a.txt HTTP/11", 400),
        ("GET /a.txt HTTP/1.10", 400),
        ("GET /a.txt http/1.1", 400),
        ("GET /a.txt HTTP /1.1", 400),
        ("GET /a.txt", 400),
        ("GET", 400),
        ("GET /a b HTTP/1.1", 400),
        ("GET /a b.txt HTTP/1.1", 400),
        ("GET /a.txt HTTP/1.1 HTTP/1.1", 400),
        ("GET /a b HTTP/2.0", 400),
        ("GET  /a.txt HTTP/1.1", 400),
        ("GET /a.txt  HTTP/1.1", 400),
        ("GET /a.txt HTTP/1.1 ", 400),
        (" GET /a.txt HTTP/1.1", 400),
        ("GET\t/a.txt HTTP/1.1", 400),
        ("GET /a.txt\tHTTP/1.1", 400),
        ("GET /a.txt HTTP/1.1\r", 400),
        ("GET /a.txt\r HTTP/1.1", 400),
        ("GET /a\0.txt HTTP/1.1", 400),
        ("GET /a.txt\u{e9} HTTP/1.1", 400),
        ("G(T /a.txt HTTP/1.1", 400),
        ("HEAD /a.txt HTTP/1.1", 200),
        ("HEAD /a b HTTP/1.1", 400),
        ("HEAD / HTTP/2.0", 505),
    ]));
}

#[test]
fn targets() {
    check(&lines(&[
        ("GET http://other/a.txt HTTP/1.1", 200),
        ("GET HTTP://h:80/a.txt?q HTTP/1.1", 200),
        ("GET http://h HTTP/1.1", 200),
        ("GET http://[::1]:80/a.txt HTTP/1.1", 200),
        ("GET http://u:p@h/a.txt HTTP/1.1", 400),
        ("GET http:///a.txt HTTP/1.1", 400),
        ("GET http://h:x/a.txt HTTP/1.1", 400),
        ("GET ftp://h/a.txt HTTP/1.1", 400),
        ("GET a.txt HTTP/1.1", 400),
        ("GET h:80 HTTP/1.1", 400),
        ("GET * HTTP/1.1", 400),
        ("GET /a.txt#f HTTP/1.1", 400),
        ("OPTIONS * HTTP/1.1", 405),
        ("OPTIONS /a.txt HTTP/1.1", 405),
        ("CONNECT h:443 HTTP/1.1", 405),
        ("CONNECT /a.txt HTTP/1.1", 400),
        ("CONNECT h HTTP/1.1", 400),
        ("PROPFIND / HTTP/1.1", 501),
        ("get /a.txt HTTP/1.1", 501),
    ]));
}

#[test]
fn ends_of_lines() {
    check(&whole(&[
        ("GET /a.txt HTTP/1.1\nHost: test\nConnection: close\n\n", 200),
        ("\r\n\r\n\nGET /a.txt HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n", 200),
        ("\rGET /a.txt HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n", 400),
        ("\r\r\nGET /a.txt HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n", 400),
        (" \r\nGET /a.txt HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n", 400),
        ("GET /a.txt HTTP/1.1\rHost: test\r\r\n\r\n", 400),
        ("GET /a.txt HTTP/1.1\r\r\nHost: test\r\n\r\n", 400),
        ("GET /a.txt HTTP/1.1\r\nHost: test\rX: y\r\n\r\n", 400),
        ("GET /a.txt HTTP/1.1\r\nHost: test\r\r\n\r\n", 400),
        ("GET /a.txt HTTP/1.1\r\n Host: test\r\n\r\n", 400),
        ("GET /a.txt HTTP/1.1\r\n\r\nHost: test\r\n\r\n", 400),
        ("GET /a.txt\r\n\r\n", 400),
        ("EHLO test\r\n\r\n", 400),
        ("SSH-2.0-OpenSSH_9.0\r\n\r\n", 400),
        ("\x16\x03\x01\x02", 400),
        ("\0\0\0\0", 400),
    ]));
}

#[test]
fn odd_fields() {
    check(&fields(&[
        ("X-Empty:", 200),
        ("x:y", 200),
        ("X: \t y \t", 200),
        ("X: \u{fc}\u{65e5}", 200),
        ("Upgrade: h2c\r\nConnection: Upgrade", 200),
        ("Range: bytes=1-2", 200),
        ("Range: bytes=1-2\r\nIf-Range: \"other\"", 200),
        ("Host: test", 400),
        ("host: other", 400),
        ("X: a\r\n folded", 400),
        ("X: a\r\n\tfolded", 400),
        ("X : a", 400),
        ("X\t: a", 400),
        ("X Y: a", 400),
        ("nonsense", 400),
        (": v", 400),
        ("X: a\0b", 400),
        ("X\0: a", 400),
        ("X: a\rY: b", 400),
        ("X: a\u{1}b", 400),
        ("X: a\u{7f}b", 400),
        ("\u{e9}: a", 400),
        ("(X): a", 400),
        ("Expect: 200-ok", 417),
        ("Expect: 100-continue, 200-ok", 417),
    ]));
    check(&whole(&[
        ("GET /a.txt HTTP/1.1\r\nConnection: close\r\n\r\n", 400),
        ("GET /a.txt HTTP/1.2\r\nConnection: close\r\n\r\n", 400),
        ("HEAD /a.txt HTTP/1.1\r\nConnection: close\r\n\r\n", 400),
        ("GET http://h/a.txt HTTP/1.1\r\nConnection: close\r\n\r\n", 400),
        ("GET /a.txt HTTP/1.0\r\n\r\n", 200),
        ("GET /a.txt HTTP/1.0\r\nExpect: a-pony\r\n\r\n", 200),
        ("GET /a.txt HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        ("GET /a.txt HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n", 200),
        ("GET /a.txt HTTP/1.1\r\nHost: [::1]:80\r\nConnection: close\r\n\r\n", 200),
        ("GET /a.txt HTTP/1.1\r\nHost: a/b\r\nConnection: close\r\n\r\n", 400),
        ("GET /a.txt HTTP/1.1\r\nHost: u@h\r\nConnection: close\r\n\r\n", 400),
        ("GET /a.txt HTTP/1.1\r\nHost: h:x\r\nConnection: close\r\n\r\n", 400),
        ("GET /a.txt HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n", 400),
    ]));
}

/// Each ends with a second request, which must not be answered.
#[test]
fn bodies_whose_end_can_be_seen_in_two_places() {
    let mut table = fields(&[
        ("Content-Length: 5\r\nContent-Length: 6", 400),
        ("Content-Length: 5\r\nContent-Length: 5", 400),
        ("Content-Length: 5, 5", 400),
        ("Content-Length: +5", 400),
        ("Content-Length: -1", 400),
        ("Content-Length: 0x5", 400),
        ("Content-Length: 5 5", 400),
        ("Content-Length:", 400),
        ("Content-Length: 18446744073709551616", 400),
        ("Content-Length : 5", 400),
        ("Content-Length: 5\r\nTransfer-Encoding: chunked", 400),
        ("Transfer-Encoding: chunked\r\nContent-Length: 5", 400),
        ("Content-Length: 0\r\nTransfer-Encoding: chunked", 400),
        ("Content-Length: 5\r\nTransfer-Encoding: identity", 400),
        ("Transfer-Encoding: chunked, chunked", 400),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 400),
        ("Transfer-Encoding: chunked, identity", 400),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: x", 400),
        ("Transfer-Encoding: xchunked", 501),
        ("Transfer-Encoding: \"chunked\"", 501),
        ("Transfer-Encoding: \u{b}chunked", 400),
        ("Transfer-Encoding:", 400),
        ("Transfer-Encoding : chunked", 400),
        ("Transfer-Encoding: gzip, chunked", 501),
        ("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", 501),
        ("Transfer-Encoding: chunked", 200),
        ("Content-Length: 18446744073709551615", 200),
    ]);
    table.push((format!("GET /a.txt HTTP/1.0\r\nTransfer-Encoding: chunked\r\n{END}"), 400));
    for (head, _) in &mut table {
        head.push_str("0\r\n\r\nGET /b.txt HTTP/1.1\r\nHost: test\r\n\r\n");
    }
    check(&table);
}
