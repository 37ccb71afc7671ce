//! Looking up names, with the C library. The names here are addresses in forms that only the C library knows, so that it
//! answers without asking others.

use crate::common::*;
use lamprey::net::{lookup, lookup_async, lookup_evt};
use lamprey::{Runtime, block};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::mpsc;

fn at(last: u8, port: u16) -> Vec<SocketAddr> {
    vec![([127, 0, 0, last], port).into()]
}

#[test]
fn a_pool_thread_does_not_wait_for_its_own_pool() {
    let builder = Runtime::builder().workers(1).blocking_threads(1);
    within(FOREVER, move || {
        builder.build().unwrap().run(|| {
            let (let_go, held_up) = mpsc::channel::<()>();
            let busy = blocked(move || {
                block(move || {
                    let _ = held_up.recv();
                    lookup("127.2:80")
                })
            });
            let other = blocked(|| lookup("127.2:81"));
            drop(let_go);
            assert_eq!(busy.join().unwrap().unwrap(), at(2, 80));
            assert_eq!(other.join().unwrap().unwrap(), at(2, 81));
        });
    });
}

#[test]
fn all_threads_may_ask() {
    use lamprey::event::Event;
    assert_eq!(within(FOREVER, || lookup("127.4:80")).unwrap(), at(4, 80));
    awaiting::everywhere(|| async {
        assert_eq!(lookup_async("127.5:80").await.unwrap(), at(5, 80));
    });
    assert_eq!(lookup_evt("127.6:80").sync().unwrap(), at(6, 80));
}

#[test]
fn what_is_no_name_is_an_error() {
    for bad in ["", "localhost", "localhost:", "localhost:65536", ":"] {
        let error = lookup(bad).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{bad}");
        assert!(error.to_string().contains(&format!("\"{bad}\"")), "{error}");
    }
    let (label, long) = ("x".repeat(64), "x.".repeat(127) + "x");
    for bad in ["", "a..b", "..", &label, &long, "a\0b", "[::1]%lo", "::1%", "1.2.3.256."] {
        let error = lookup(&format!("{bad}:80")).unwrap_err();
        // The C library has several words for it; and where no server can be reached, it says that.
        assert_ne!(error.kind(), ErrorKind::InvalidInput, "{bad:?}");
    }
    for none in ["", "a\0b"] {
        assert_eq!(lookup(&format!("{none}:80")).unwrap_err().kind(), ErrorKind::NotFound, "{none:?}");
    }
    let error = lookup("a name with spaces:80").unwrap_err();
    assert!(error.to_string().contains("a name with spaces"), "{error}");
}
