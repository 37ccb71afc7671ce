//! A limit of time around a request closes its connection; a panic reaches who joins.

use crate::{FOREVER, Seen, by_hyper, by_reqwest, next, run, silent};
use lamprey::{TimedOut, with_timeout, with_timeout_async};
use lamprey_compat::tokio as on_tokio;
use std::net::SocketAddr;
use std::time::Duration;

/// Has `request` made, which runs into its limit, until the server has seen one. On a loaded machine the limit may pass before
/// there is a connection: it doubles each time. The connection then ends.
fn closes(request: impl Fn(SocketAddr, Duration) -> Result<(), TimedOut>) {
    let (address, seen) = silent();
    let mut limit = Duration::from_millis(100);
    loop {
        assert_eq!(request(address, limit), Err(TimedOut));
        match next(&seen, limit) {
            Some(Seen::Request) => break,
            Some(Seen::End) | None => limit *= 2,
        }
        assert!(limit < FOREVER, "no request in {limit:?}");
    }
    assert_eq!(next(&seen, FOREVER), Some(Seen::End));
}

#[test]
fn a_limit_around_a_request_of_reqwest_closes_the_connection() {
    run(1, || {
        closes(|address, limit| with_timeout(limit, || on_tokio(by_reqwest(address)).wait()));
    });
}

#[test]
fn a_limit_around_a_request_of_hyper_closes_the_connection() {
    run(1, || {
        closes(|address, limit| with_timeout(limit, || on_tokio(by_hyper(address)).wait()));
    });
}

#[test]
fn a_limit_in_async_code_closes_the_connection() {
    run(2, || {
        closes(|address, limit| {
            let request = async move { with_timeout_async(limit, on_tokio(by_reqwest(address))).await };
            lamprey::parasite(request).join().unwrap()
        });
    });
}

#[test]
fn a_panic_in_a_future_of_others_reaches_its_joiner() {
    run(2, || {
        let (sender, receiver) = async_channel::bounded::<u8>(1);
        let failing = async move {
            let n = receiver.recv().await.unwrap();
            tokio::time::sleep(Duration::from_millis(1)).await;
            panic!("got {n}");
        };
        let parasite = lamprey::parasite(on_tokio(failing));
        lamprey::wait(sender.send(7)).unwrap();
        let error = parasite.join().unwrap_err();
        assert!(error.to_string().contains("got 7"), "{error}");
        // In a callback that a library calls.
        let host = lamprey::spawn(|| {
            let policy = reqwest::redirect::Policy::custom(|_| panic!("in the policy"));
            let client = reqwest::Client::builder().no_proxy().redirect(policy).build().unwrap();
            on_tokio(async { client.get(redirecting()).send().await.map(drop) }).wait()
        });
        let error = host.join().unwrap_err();
        assert!(error.to_string().contains("in the policy"), "{error}");
        // In a task of tokio, to the host that waits for it.
        let task = lamprey_compat::tokio::handle().unwrap().spawn(async { panic!("in the task") });
        assert!(lamprey::wait(task).unwrap_err().is_panic());
    });
}

/// The page of a server that answers once, with a redirection.
fn redirecting() -> String {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 302 Found\r\nlocation: /there\r\ncontent-length: 0\r\n\r\n");
    });
    format!("http://{address}/")
}
