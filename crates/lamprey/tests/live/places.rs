//! More clients than there are places.

use crate::{connect, get, refused, rest};
use lamprey::inspect::serve;
use std::io::Write;
use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex};

/// As many as there are places.
const ALL: usize = 32;

#[test]
fn clients_that_ask_for_nothing_keep_nobody_out() {
    for begun in [&b""[..], b"GET / HT"] {
        let server = serve("127.0.0.1:0").unwrap();
        let slow: Vec<_> = (0..ALL)
            .map(|_| {
                let mut stream = connect(server.addr());
                stream.write_all(begun).unwrap();
                stream
            })
            .collect();
        // More than there are places.
        for _ in 0..2 * ALL {
            assert_eq!(get(server.addr(), "/api/v1/summary").0, 200);
        }
        drop(slow);
    }
}

#[test]
fn clients_that_do_not_read_keep_nobody_out() {
    let server = serve("127.0.0.1:0").unwrap();
    let deaf: Vec<_> = (0..ALL)
        .map(|_| {
            let mut stream = connect(server.addr());
            // Answers of megabytes.
            let asked = "GET /page.css HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(400);
            stream.write_all(asked.as_bytes()).unwrap();
            stream
        })
        .collect();
    for _ in 0..2 * ALL {
        // Until all of them are waited for, there may be none that can be closed.
        while get(server.addr(), "/api/v1/summary").0 != 200 {}
    }
    drop(deaf);
}

#[test]
fn who_comes_while_all_are_being_answered_is_told() {
    let server = serve("127.0.0.1:0").unwrap();
    let gate = Arc::new((Mutex::new((0, false)), Condvar::new()));
    let theirs = gate.clone();
    server.metrics(move || {
        let (state, changed) = &*theirs;
        state.lock().unwrap().0 += 1;
        changed.notify_all();
        let _open = changed.wait_while(state.lock().unwrap(), |(_, is_open)| !*is_open).unwrap();
        "a 1\n".to_owned()
    });
    let busy: Vec<TcpStream> = (0..ALL)
        .map(|_| {
            let mut stream = connect(server.addr());
            stream.write_all(b"GET /api/v1/metrics HTTP/1.0\r\n\r\n").unwrap();
            stream
        })
        .collect();
    let (state, changed) = &*gate;
    drop(changed.wait_while(state.lock().unwrap(), |(begun, _)| *begun < ALL).unwrap());
    // It is told before it has asked.
    refused(&rest(connect(server.addr())), 503, "32 clients are being answered");
    state.lock().unwrap().1 = true;
    changed.notify_all();
    for answered in busy {
        assert!(rest(answered).ends_with("a 1\n"));
    }
}
