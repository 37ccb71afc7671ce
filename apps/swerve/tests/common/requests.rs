//! What holds of any server for the files of a folder: requests and their answers. The tests of Swerve and those of
//! the example `trace_server` both include it.

use crate::common::{noise, site};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::time::{Duration, Instant};

const GET: &str = "GET /a.txt HTTP/1.1\r\nHost: test\r\n";

#[test]
fn ok_has_all_fields() {
    let site = site();
    let response = site.get("/a.txt");
    assert_eq!((response.status, response.text()), (200, "alpha"));
    assert_eq!(response.version, "HTTP/1.1");
    assert_eq!(response.expect("Content-Type"), "text/plain; charset=utf-8");
    assert_eq!(response.expect("Content-Length"), "5");
    for name in ["Date", "Last-Modified"] {
        let date = httpdate::parse_http_date(response.expect(name)).unwrap();
        let age = std::time::SystemTime::now().duration_since(date).unwrap();
        assert!(age < Duration::from_secs(300), "{name} is {age:?} old");
    }
    assert!(response.expect("ETag").trim_start_matches("W/").starts_with('"'));
    assert_eq!(response.field("Connection"), None);
}

#[test]
fn files_of_all_sizes() {
    let site = site();
    assert_eq!(site.get("/empty").body, b"");
    assert_eq!(site.get("/empty").expect("Content-Length"), "0");
    for size in [1, 4096, 65_535, 65_536, 65_537, 262_144, 262_145, 3_000_000] {
        let bytes = noise(size);
        std::fs::write(site.path("some.bin"), &bytes).unwrap();
        let name = format!("/{size}.bin");
        std::fs::rename(site.path("some.bin"), site.path(&name[1..])).unwrap();
        let response = site.get(&name);
        assert_eq!(response.expect("Content-Length"), size.to_string());
        assert!(response.body == bytes, "{size} bytes came out different");
        assert_eq!(response.expect("Content-Type"), "application/octet-stream");
    }
}

#[test]
fn folders() {
    let site = site();
    assert_eq!(site.get("/").text(), "<h1>home</h1>");
    assert_eq!(site.get("/sub/").text(), "<h1>sub</h1>");
    assert_eq!(site.get("/sub/?q").expect("Content-Type"), "text/html; charset=utf-8");
    let moved = site.get("/sub?a=b&c=%2f");
    assert_eq!((moved.status, moved.expect("Location")), (301, "/sub/?a=b&c=%2f"));
    assert_eq!(site.get("/s%75b").expect("Location"), "/s%75b/");
    assert_eq!(site.get("http://test/sub").expect("Location"), "/sub/");
    std::fs::create_dir(site.path("bare")).unwrap();
    assert_eq!(site.get("/bare/").status, 404);
    std::fs::create_dir_all(site.path("odd/index.html")).unwrap();
    assert_eq!(site.get("/odd/").status, 404);
    assert_eq!(site.get("/a.txt/").status, 404);
}

#[test]
fn no_name_leads_out_of_the_folder() {
    let site = site();
    std::fs::write(site.outside().join("secret.txt"), "secret").unwrap();
    symlink("../secret.txt", site.path("link.txt")).unwrap();
    symlink(site.outside().join("secret.txt"), site.path("absolute.txt")).unwrap();
    symlink("..", site.path("up")).unwrap();
    symlink("/", site.path("slash")).unwrap();
    symlink("loop", site.path("loop")).unwrap();
    let targets = [
        "/link.txt",
        "/absolute.txt",
        "/up/secret.txt",
        "/slash/etc/passwd",
        "/loop",
        "/../secret.txt",
        "/sub/../../secret.txt",
        "/%2e%2e/secret.txt",
        "/%2E%2E%2Fsecret.txt",
        "/..%2fsecret.txt",
        "/sub/%2e%2e/%2e%2e/secret.txt",
        "/.%2e/secret.txt",
        "/%252e%252e/secret.txt",
        "/..%5csecret.txt",
        "/..\\secret.txt",
        "//etc/passwd",
        "///etc/passwd",
        "/%2fetc/passwd",
        "/%2f%2fetc%2fpasswd",
        "/sub//index.html",
        "/./a.txt",
        "/a.txt%00",
        "/%00/a.txt",
        "/a.txt%00.html",
        "/%c0%ae%c0%ae/secret.txt",
        "/%c0%af",
        "/%uff0e%uff0e/secret.txt",
        "http://test/../secret.txt",
        "http://test//etc/passwd",
        "file:///etc/passwd",
        "/a.txt%",
        "/a.txt%0d%0aX:%20y",
        "/..;/secret.txt",
        "/.../secret.txt",
        "/sub/..",
        "/..",
    ];
    for target in targets {
        let response = site.get(target);
        assert!([400, 403, 404].contains(&response.status), "{target}: {}", response.status);
        assert!(!response.text().contains("secret") && !response.text().contains("root:"), "{target}");
    }
    let long = site.get(&format!("/{}", "x".repeat(300)));
    assert_eq!(long.status, 404, "a name longer than a file system allows");
    let deep = site.get(&"/x".repeat(3000));
    assert_eq!(deep.status, 404, "a path longer than the kernel allows");
}

#[test]
fn links_inside_the_folder_are_served() {
    let site = site();
    symlink("a.txt", site.path("same.txt")).unwrap();
    symlink("sub", site.path("folder")).unwrap();
    assert_eq!(site.get("/same.txt").text(), "alpha");
    assert_eq!(site.get("/folder/").text(), "<h1>sub</h1>");
}

#[test]
fn what_is_no_file_is_forbidden() {
    let site = site();
    let made = std::process::Command::new("mkfifo").arg(site.path("pipe")).status().unwrap();
    assert!(made.success());
    assert_eq!(site.get("/pipe").status, 403);
    let _socket = std::os::unix::net::UnixListener::bind(site.path("socket")).unwrap();
    assert_eq!(site.get("/socket").status, 403);
    std::fs::set_permissions(site.path("b.txt"), PermissionsExt::from_mode(0o000)).unwrap();
    // The test may run as root, who may read every file.
    let expected = if std::fs::read(site.path("b.txt")).is_ok() { 200 } else { 403 };
    assert_eq!(site.get("/b.txt").status, expected);
}

#[test]
fn not_found_keeps_the_connection() {
    let site = site();
    let mut client = site.connect();
    let response = client.get("/nope");
    assert_eq!(response.status, 404);
    assert!(response.text().contains("404 Not Found"));
    assert!(!response.text().contains("nope"), "a page must not repeat what it was asked");
    client.goes_on();
}

#[test]
fn other_methods_get_405_with_allow() {
    let site = site();
    let mut client = site.connect();
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"] {
        client.send(format!("{method} /a.txt HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n\r\nabc"));
        let response = client.response();
        assert_eq!((response.status, response.expect("Allow")), (405, "GET, HEAD"), "{method}");
    }
    client.goes_on();
}

#[test]
fn unknown_methods_and_codings_get_501() {
    let site = site();
    let mut client = site.connect();
    client.send("BREW /pot HTTP/1.1\r\nHost: test\r\n\r\n");
    assert_eq!(client.response().status, 501);
    client.goes_on();
    client.send(format!("{GET}Transfer-Encoding: gzip, chunked\r\n\r\n"));
    assert_eq!(client.response().status, 501);
    client.ends();
}

#[test]
fn long_targets_get_414() {
    let site = site();
    let mut client = site.connect();
    client.send(format!("GET /{} HTTP/1.1\r\nHost: test\r\n\r\n", "x".repeat(9000)));
    assert_eq!(client.response().status, 414);
    client.ends();
    let mut endless = site.connect();
    endless.send("GET /");
    endless.send("x".repeat(10_000));
    assert_eq!(endless.response().status, 414);
    endless.ends();
    assert_eq!(site.get(&format!("/a.txt?{}", "x".repeat(8000))).status, 200);
}

#[test]
fn long_headers_get_431() {
    let site = site();
    let mut client = site.connect();
    // Far more than the limit: the answer must arrive although the server does not parse most of it.
    client.send(format!("{GET}X: {}\r\n\r\n", "y".repeat(100_000)));
    assert_eq!(client.response().status, 431);
    client.ends();
    let many: String = (0..200).map(|i| format!("X-{i}: y\r\n")).collect();
    assert_eq!(site.raw(&format!("{GET}{many}\r\n")).status, 431);
    let room = 16 * 1024 - GET.len() - "X: \r\n\r\n".len();
    assert_eq!(site.raw(&format!("{GET}X: {}\r\n\r\n", "y".repeat(room))).status, 200, "16 KiB exactly");
    assert_eq!(site.raw(&format!("{GET}X: {}\r\n\r\n", "y".repeat(room + 1))).status, 431, "one more");
}

#[test]
fn expectations() {
    let site = site();
    let mut client = site.connect();
    client.send(format!("{GET}Expect: 100-continue\r\nContent-Length: 3\r\n\r\n"));
    assert_eq!(client.response_head().status, 100);
    client.send("abc");
    assert_eq!(client.response().text(), "alpha");
    client.goes_on();
    // The request is refused, so the body need not be sent.
    client.send("POST / HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    let response = client.response();
    assert_eq!((response.status, response.expect("Connection")), (405, "close"));
}

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
            // The tag of a large file that has just changed differs in each answer.
            let is_fixed = |name: &str| name != "Date" && (name != "ETag" || target != "/large.bin");
            fields.iter().filter(|(name, _)| is_fixed(name)).cloned().collect()
        };
        assert_eq!(without_date(&head.fields), without_date(&get.fields), "{target}");
    }
    client.goes_on();
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
