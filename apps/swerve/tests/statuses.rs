//! Each status of the server's responses, and whether the connection goes on after it.

mod common;
use common::{site, site_with};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::Duration;

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
        let bytes = common::noise(size);
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
fn bad_request_and_the_end() {
    let site = site();
    let table = [
        "GET /a.txt HTTP/1.1\r\n\r\n",
        "GET /a.txt HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET /a.txt\r\n\r\n",
        "nonsense\r\n\r\n",
        "GET /a.txt HTTP/1.1\r\nHost: test\r\nno colon\r\n\r\n",
        "GET /a.txt HTTP/1.1\r\nHost: test\r\nContent-Length: x\r\n\r\n",
        "GET /a.txt HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
        "\x16\x03\x01",
    ];
    for request in table {
        let mut client = site.connect();
        client.send(request);
        let response = client.response();
        assert_eq!(response.status, 400, "{request:?}");
        assert_eq!(response.expect("Connection"), "close");
        client.ends();
    }
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
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT"] {
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
fn other_versions_get_505() {
    let site = site();
    for version in ["HTTP/2.0", "HTTP/0.9", "HTTP/1.2", "HTTP/3"] {
        let mut client = site.connect();
        client.send(format!("GET / {version}\r\nHost: test\r\n\r\n"));
        assert_eq!(client.response().status, 505, "{version}");
        client.ends();
    }
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
    assert_eq!(site.raw(&format!("{GET}Expect: a-pony\r\n\r\n")).status, 417);
}
