use super::*;

fn code(block: &str) -> u16 {
    match parse(block.as_bytes()) {
        Ok(request) => panic!("accepted {block:?} as {request:?}"),
        Err(status) => status.code(),
    }
}

fn with(fields: &str) -> String {
    format!("GET / HTTP/1.1\r\nHost: h\r\n{fields}\r\n")
}

#[test]
fn a_plain_request() {
    let request = parse(b"GET /a?b HTTP/1.1\r\nHost: localhost:80\r\n\r\n").unwrap();
    assert_eq!((request.method, request.target, request.body), (Method::Get, "/a?b", Body::None));
    assert!(request.is_http_1_1 && request.keep_alive && !request.expects_continue);
}

#[test]
fn keep_alive_depends_on_version_and_wish() {
    let table = [
        ("HTTP/1.1", "", true),
        ("HTTP/1.1", "Connection: close\r\n", false),
        ("HTTP/1.1", "Connection: foo, CLOSE\r\n", false),
        ("HTTP/1.1", "Connection: closed\r\n", true),
        ("HTTP/1.1", "Connection: keep-alive\r\nConnection: close\r\n", false),
        ("HTTP/1.0", "", false),
        ("HTTP/1.0", "Connection: Keep-Alive\r\n", true),
        ("HTTP/1.0", "Connection: keep-alive, close\r\n", false),
    ];
    for (version, fields, expected) in table {
        let block = format!("GET / {version}\r\nHost: h\r\n{fields}\r\n");
        assert_eq!(parse(block.as_bytes()).unwrap().keep_alive, expected, "{block:?}");
    }
}

#[test]
fn methods() {
    let table = [
        ("GET", Method::Get),
        ("HEAD", Method::Head),
        ("POST", Method::Other),
        ("BREW", Method::Unknown),
        ("get", Method::Unknown),
    ];
    for (name, method) in table {
        let block = format!("{name} / HTTP/1.1\r\nHost: h\r\n\r\n");
        assert_eq!(parse(block.as_bytes()).unwrap().method, method, "{name}");
    }
}

#[test]
fn bodies() {
    let body = |fields: &str| parse(with(fields).as_bytes()).unwrap().body;
    assert_eq!(body("Content-Length: 0\r\n"), Body::None);
    assert_eq!(body("content-length: 12\r\n"), Body::Length(12));
    assert_eq!(body("Content-Length:\t 12 \t\r\n"), Body::Length(12));
    assert_eq!(body("Transfer-Encoding: Chunked\r\n"), Body::Chunked);
    assert_eq!(body("Transfer-Encoding: , chunked ,\r\n"), Body::Chunked);
}

#[test]
fn framing_that_can_be_read_in_two_ways_is_refused() {
    let table = [
        ("Content-Length: 1\r\nContent-Length: 2\r\n", 400),
        ("Content-Length: 1\r\nContent-Length: 1\r\n", 400),
        ("Content-Length: 1, 1\r\n", 400),
        ("Content-Length: +1\r\n", 400),
        ("Content-Length: -1\r\n", 400),
        ("Content-Length: 0x1\r\n", 400),
        ("Content-Length:\r\n", 400),
        ("Content-Length: 99999999999999999999999\r\n", 400),
        ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", 400),
        ("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", 400),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400),
        ("Transfer-Encoding: gzip, chunked\r\n", 501),
        ("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", 501),
        ("Transfer-Encoding: gzip\r\n", 501),
        ("Transfer-Encoding: identity\r\n", 501),
        ("Transfer-Encoding: xchunked\r\n", 501),
        ("Transfer-Encoding: chunked, identity\r\n", 400),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", 400),
        ("Transfer-Encoding: chunked, chunked\r\n", 400),
        ("Transfer-Encoding: chunked;a=b\r\n", 501),
        ("Transfer-Encoding: \"chunked\"\r\n", 501),
        ("Transfer-Encoding: \x0bchunked\r\n", 400),
        ("Transfer-Encoding:\r\n", 400),
        ("Transfer-Encoding: ,\r\n", 400),
        ("Transfer-Encoding : chunked\r\n", 400),
        ("Transfer-Encoding\t: chunked\r\n", 400),
        ("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", 400),
        ("Content-Length: 5\r\nTransfer-Encoding: identity\r\n", 400),
        ("X: y\rContent-Length: 5\r\n", 400),
        ("Content-Length: 5\rX: y\r\n", 400),
        ("Content-Length: 1 1\r\n", 400),
        ("Content-Length: 1_1\r\n", 400),
        ("Content-Length : 5\r\n", 400),
        (" folded\r\n", 400),
    ];
    for (fields, status) in table {
        assert_eq!(code(&with(fields)), status, "{fields:?}");
    }
    assert_eq!(code("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
}

#[test]
fn hosts() {
    assert_eq!(code("GET / HTTP/1.1\r\n\r\n"), 400);
    assert_eq!(code("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"), 400);
    assert_eq!(code("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
    assert_eq!(code("GET / HTTP/1.1\r\nHost: a b\r\n\r\n"), 400);
    assert_eq!(code("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"), 400);
    assert!(parse(b"GET / HTTP/1.0\r\n\r\n").is_ok());
    assert!(parse(b"GET / HTTP/1.1\r\nHost:\r\n\r\n").is_ok());
    assert!(parse(b"GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n").is_ok());
}

#[test]
fn nonsense() {
    for block in ["\x16\x03\x01\r\n\r\n", "\r\n\r\n", "", "GET / HTTP/1.1", "GET / HTTP/1.1\r\n"] {
        assert_eq!(code(block), 400, "{block:?}");
    }
    for fields in [
        "no colon\r\n",
        "a: b\r\n folded\r\n",
        "a: b\r\n\tfolded\r\n",
        "a b: c\r\n",
        "a: b\x7f\r\n",
        "\r: b\r\n",
    ] {
        assert_eq!(code(&with(fields)), 400, "{fields:?}");
    }
    assert_eq!(code("GET / HTTP/1.1\r\n Host: h\r\n\r\n"), 400);
    assert_eq!(code("GET / HTTP/1.1\r\n\tHost: h\r\n\r\n"), 400);
    assert_eq!(code("GET / HTTP/1.1\r\nHost : h\r\n\r\n"), 400);
    assert_eq!(code("GET / HTTP/1.1\rHost: h\r\r\n\r\n"), 400);
    assert_eq!(code("GET / HTTP/1.1\r\r\nHost: h\r\n\r\n"), 400);
    assert_eq!(code("GET / HTTP/1.1\n\rHost: h\n\n"), 400);
    assert_eq!(code(&with("a\0b: c\r\n")), 400);
    assert_eq!(code(&with("a: b\0c\r\n")), 400);
    assert_eq!(code(&with(": c\r\n")), 400);
}

#[test]
fn too_many_fields() {
    let fields: String = (0..MOST_FIELDS).map(|i| format!("X-{i}: y\r\n")).collect();
    assert_eq!(code(&with(&fields)), 431);
    // With the host it is as many, and the last one counts.
    for count in [USUAL_FIELDS - 2, USUAL_FIELDS - 1, USUAL_FIELDS, MOST_FIELDS - 2] {
        let fields: String = (0..count).map(|i| format!("X-{i}: y\r\n")).collect();
        let block = with(&format!("{fields}Connection: close\r\n"));
        assert!(!parse(block.as_bytes()).unwrap().keep_alive, "{count}");
    }
}

#[test]
fn expectations() {
    let request = |fields: &str| {
        parse(with(fields).as_bytes()).map(|request| request.expects_continue).map_err(Status::code)
    };
    assert_eq!(request("Expect: 100-Continue\r\nContent-Length: 3\r\n"), Ok(true));
    assert_eq!(request("Expect: 100-continue\r\n"), Ok(false));
    assert_eq!(request("Expect: a-pony\r\n"), Err(417));
}

#[test]
fn conditions_that_come_in_several_lines() {
    let block = with(
        "If-None-Match: \"a\"\r\nIf-Match: *\r\nif-none-match: \"b\", \"c\"\r\nIf-Modified-Since: x\r\n\
         If-Modified-Since: x\r\nIf-Unmodified-Since: y\r\n",
    );
    let conditions = parse(block.as_bytes()).unwrap().conditions;
    assert_eq!(conditions.if_none_match, [&b"\"a\""[..], b"\"b\", \"c\""]);
    assert_eq!(conditions.if_match, [b"*"]);
    assert_eq!(conditions.if_modified_since, Some(&b""[..]), "two dates are none");
    assert_eq!(conditions.if_unmodified_since, Some(&b"y"[..]));
}

#[test]
fn a_damaged_request_is_refused_or_understood_but_never_a_panic() {
    let whole = with(
        "Content-Length: 12\r\nConnection: keep-alive, x\r\nIf-None-Match: \"a\"\r\nExpect: 100-continue\r\n",
    );
    let (mut state, mut understood) = (0x2545_f491_4f6c_dd1d_u64, 0);
    for _ in 0..50_000 {
        let mut block = whole.clone().into_bytes();
        for _ in 0..2 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let at = (state >> 20) as usize % block.len();
            match state >> 60 {
                0..4 => block[at] = (state >> 8) as u8,
                4..8 => drop(block.remove(at)),
                8..12 => block.insert(at, b" \r\n:,\0\"H"[(state >> 10) as usize % 8]),
                _ => block.truncate(at.max(1)),
            }
        }
        understood += usize::from(parse(&block).is_ok());
    }
    assert!(understood > 100, "only {understood} were understood: the test says little");
}
