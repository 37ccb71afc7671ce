//! Addresses that others can reach, and tokens.

use crate::{ask, get, refused};
use lamprey::inspect::{serve, serve_with_token};

const TOKEN: &str = "a-token.of_some~LENGTH";

#[test]
fn a_bad_address_or_token_is_told() {
    for address in [
        "",
        "nowhere",
        "127.0.0.1",
        "127.0.0.1:x",
        "127.0.0.1:99999",
        "localhost:x",
        "example.org:80",
        "1:2:3",
    ] {
        let error = serve(address).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{error}");
        assert!(error.to_string().contains(&format!("`{address}`")), "{error}");
    }
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let error = serve(address).unwrap_err().to_string();
        assert!(error.contains(&format!("`{address}`")) && error.contains("token"), "{error}");
    }
    // No machine has it.
    let error = serve_with_token("192.0.2.1:0", TOKEN).unwrap_err().to_string();
    assert!(error.contains("`192.0.2.1:0`"), "{error}");
    for (token, part) in [
        ("", "0 bytes"),
        ("short", "5 bytes"),
        ("0123456789abcdef ", "byte 16"),
        ("\u{e4}123456789abcdef", "byte 0"),
    ] {
        let error = serve_with_token("127.0.0.1:0", token).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
        assert!(token.is_empty() || !error.contains(token), "a token is not told: {error}");
    }
    let taken = serve("127.0.0.1:0").unwrap();
    let error = serve(&taken.addr().to_string()).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
    assert!(error.to_string().contains(&taken.addr().to_string()), "{error}");
}

#[test]
fn localhost_and_the_newer_loopback_are_addresses_of_the_machine() {
    assert!(serve("localhost:0").unwrap().addr().ip().is_loopback());
    // A machine may have no IPv6.
    if let Ok(server) = serve("[::1]:0") {
        assert_eq!(get(server.addr(), "/page.css").0, 200);
    }
}

#[test]
fn who_does_not_know_the_token_gets_nothing_but_the_parts_of_the_page() {
    let server = serve_with_token("0.0.0.0:0", TOKEN).unwrap();
    let address = ([127, 0, 0, 1], server.addr().port()).into();
    let wrong = TOKEN.replace('L', "l");
    let wrong_headers = [
        String::new(),
        format!("Authorization: Bearer {wrong}\r\n"),
        format!("Authorization: Basic {TOKEN}\r\n"),
        format!("Authorization: Bearer {TOKEN}x\r\n"),
        "Authorization: Bearer\r\n".to_owned(),
        format!("Cookie: token={TOKEN}\r\n"),
    ];
    for path in ["/", "/api/v1/summary", "/api/v1/dump", "/none"] {
        for header in &wrong_headers {
            let answer = ask(address, format!("GET {path} HTTP/1.0\r\n{header}\r\n").as_bytes());
            refused(&answer, 401, "token");
            assert!(answer.contains("WWW-Authenticate: Bearer"), "{answer}");
        }
        refused(&ask(address, format!("GET {path}?token={wrong} HTTP/1.0\r\n\r\n").as_bytes()), 401, "token");
    }
    assert_eq!(get(address, "/page.css").0, 200);
    assert_eq!(get(address, &format!("/?token={TOKEN}")).0, 200);
    let encoded = TOKEN.replace('-', "%2D");
    assert_eq!(get(address, &format!("/api/v1/groups?stacks=0&token={encoded}")).0, 200);
    // Who knows it may use any name for the machine.
    let named = format!(
        "GET /api/v1/stuck HTTP/1.1\r\nHost: build-7.example\r\nConnection: close\r\nauthorization: bearer {TOKEN}\r\n\r\n"
    );
    assert!(ask(address, named.as_bytes()).starts_with("HTTP/1.1 200 "));
}
