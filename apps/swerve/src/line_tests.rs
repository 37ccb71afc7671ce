use super::*;

fn code(line: &str) -> u16 {
    parse(line.as_bytes()).map_or_else(Status::code, |_| 200)
}

#[test]
fn lines_of_the_right_form() {
    for line in [
        "GET / HTTP/1.1",
        "GET /a?b HTTP/1.0",
        "HEAD http://h/a HTTP/1.1",
        "get / HTTP/1.1",
        "M-SEARCH / HTTP/1.1",
        "OPTIONS * HTTP/1.1",
        "OPTIONS / HTTP/1.1",
        "CONNECT h:443 HTTP/1.1",
        "CONNECT [::1]:443 HTTP/1.1",
        "POST http://h HTTP/1.1",
    ] {
        assert_eq!(code(line), 200, "{line:?}");
    }
}

#[test]
fn a_later_version_of_the_first_is_understood() {
    let table = [("HTTP/1.0", false), ("HTTP/1.1", true), ("HTTP/1.2", true), ("HTTP/1.9", true)];
    for (version, is_http_1_1) in table {
        let line = format!("GET / {version}");
        assert_eq!(parse(line.as_bytes()).unwrap().is_http_1_1, is_http_1_1, "{version}");
    }
}

#[test]
fn another_version_is_not() {
    for version in ["HTTP/0.9", "HTTP/2.0", "HTTP/3.0", "HTTP/9.9"] {
        assert_eq!(code(&format!("GET / {version}")), 505, "{version}");
    }
    assert_eq!(code("PRI * HTTP/2.0"), 505);
}

#[test]
fn what_is_no_version_is_not_understood() {
    for version in [
        "http/1.1",
        "Http/1.1",
        "HTTP/11",
        "HTTP/1",
        "HTTP/3",
        "HTTP/1.",
        "HTTP/.1",
        "HTTP/1.10",
        "HTTP/01.1",
        "HTTP/x.1",
        "HTTP/1,1",
        "HTTP/-1.1",
        "HTTP 1.1",
        "HTTP/1.1x",
        "FTP/1.1",
        "HTTPS/1.1",
        "1.1",
        "HTTP/",
        "HTTP/\u{661}.1",
    ] {
        assert_eq!(code(&format!("GET / {version}")), 400, "{version:?}");
    }
}

#[test]
fn other_spaces_are_refused() {
    for line in [
        "",
        " ",
        "  ",
        "GET",
        "GET /",
        "GET / ",
        "GET  HTTP/1.1",
        "GET HTTP/1.1",
        " GET / HTTP/1.1",
        "GET / HTTP/1.1 ",
        "GET  / HTTP/1.1",
        "GET /  HTTP/1.1",
        "GET /a b HTTP/1.1",
        "GET /a HTTP/1.1 HTTP/1.1",
        "GET /a HTTP/1.1 x",
        "GET\t/ HTTP/1.1",
        "GET /\tHTTP/1.1",
        "GET /\u{b}HTTP/1.1",
        "GET /\u{c} HTTP/1.1",
        "GET / HTTP/1.1\t",
        "GET /\u{a0}x HTTP/1.1",
        "GET /\rX: y HTTP/1.1",
        "GET / HTTP/1.1\r",
        "GET /\0 HTTP/1.1",
        "GET\0 / HTTP/1.1",
        "GET / HTTP/1.1\0",
        "GET /a\u{7f} HTTP/1.1",
        "GET /\u{fc} HTTP/1.1",
    ] {
        assert_eq!(code(line), 400, "{line:?}");
    }
    assert_eq!(parse(b"GET /\xff HTTP/1.1").err(), Some(Status::BadRequest));
}

#[test]
fn other_methods_and_targets_are_refused() {
    for line in [
        "G(T / HTTP/1.1",
        "G,T / HTTP/1.1",
        "\"GET\" / HTTP/1.1",
        "GET: / HTTP/1.1",
        "CONNECT / HTTP/1.1",
        "CONNECT h HTTP/1.1",
        "CONNECT u@h:1 HTTP/1.1",
        "CONNECT http://h:1/ HTTP/1.1",
        "GET * HTTP/1.1",
        "HEAD a HTTP/1.1",
        "POST * HTTP/1.1",
        "OPTIONS ** HTTP/1.1",
        "POST a HTTP/1.1",
        "POST h:80 HTTP/1.1",
        "BREW pot HTTP/1.1",
        "POST /#f HTTP/1.1",
        "POST http:///a HTTP/1.1",
        "POST http://u@h/ HTTP/1.1",
    ] {
        assert_eq!(code(line), 400, "{line:?}");
    }
}
