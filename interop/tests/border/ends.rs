//! A runtime that ends with futures of others in flight drops them on a stack.

use crate::{Dropped, Seen, by_hyper, by_reqwest, run, see, silent};
use lamprey_compat::tokio as on_tokio;
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

/// Its destructor uses much stack, asks for tokio's context, and starts a task of tokio's, as that of a pool's connection does.
struct Connection(Sender<&'static str>);

impl Drop for Connection {
    fn drop(&mut self) {
        let deep = std::hint::black_box([1u8; 16 << 10]);
        let sender = self.0.clone();
        tokio::runtime::Handle::current().spawn(async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            sender.send("returned").unwrap();
        });
        assert_eq!(deep.iter().map(|&n| usize::from(n)).sum::<usize>(), 16 << 10);
        self.0.send("dropped").unwrap();
    }
}

#[test]
fn what_holds_resources_of_tokio_is_dropped_in_its_context() {
    let (dropped, is_dropped) = mpsc::channel();
    run(2, move || {
        let (started, mut is_started) = lamprey::mailbox();
        for _ in 0..20 {
            let make = || {
                let (started, connection) = (started.clone(), Connection(dropped.clone()));
                on_tokio(async move {
                    let _connection = connection;
                    let socket = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
                    started.send(()).unwrap();
                    socket.recv(&mut [0]).await.unwrap();
                })
            };
            let (one, other) = (make(), make());
            lamprey::spawn(move || one.wait());
            lamprey::parasite(other).detach();
        }
        (0..40).for_each(|_| is_started.recv().unwrap());
    });
    let said: Vec<_> = is_dropped.iter().collect();
    assert_eq!(said.iter().filter(|&&word| word == "dropped").count(), 40);
    assert_eq!(said.iter().filter(|&&word| word == "returned").count(), 40);
}

#[test]
fn requests_in_flight_end_and_the_server_sees_it() {
    let (address, seen) = silent();
    let (dropped, is_dropped) = mpsc::channel();
    let seen = run(2, move || {
        let witnesses = ["reqwest", "hyper", "async-channel"].map(|name| Dropped(name, dropped.clone()));
        let [one, two, three] = witnesses;
        lamprey::parasite(on_tokio(async move {
            let _one = one;
            by_reqwest(address).await;
        }))
        .detach();
        lamprey::spawn(move || {
            let _two = two;
            on_tokio(by_hyper(address)).wait();
        });
        lamprey::parasite(async move {
            let _three = three;
            let (_sender, receiver) = async_channel::bounded::<()>(1);
            receiver.recv().await.unwrap();
        })
        .detach();
        see(&seen, 2, 0);
        seen
    });
    let mut names: Vec<_> = is_dropped.iter().collect();
    names.sort();
    assert_eq!(names, ["async-channel", "hyper", "reqwest"]);
    assert_eq!([seen.recv(), seen.recv()], [Ok(Seen::End), Ok(Seen::End)]);
}
