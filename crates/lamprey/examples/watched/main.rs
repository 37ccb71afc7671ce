//! A program to look at: it opens an endpoint, prints its address, and does a bit of everything until it is killed.
//!
//! `cargo run -p lamprey --features live --example watched [ADDRESS] [HOSTS]`, then `lamprey top ADDRESS`, or open the address in a browser.

use lamprey::sync::Mutex;
use lamprey::{Builder, Receiver, Sender, bounded, channel, inspect, parasite, scope, sleep, spawn};
use std::sync::Arc;
use std::time::Duration;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let clients = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(200);
    let server = inspect::serve(&address)?;
    println!("http://{}/", server.addr());
    lamprey::Runtime::builder().workers(2).build()?.run(|| {
        spawn(|| database(8));
        spawn(move || clients_of_a_server(clients));
        spawn(two_locks);
        let ticks = Builder::new().name("ticks").spawn(ticks).unwrap();
        ticks.join().unwrap();
    });
    Ok(())
}

/// Something happens all the time.
fn ticks() {
    let (tx, rx) = bounded::<u64>(4);
    Builder::new().name("printer").spawn(move || rx.iter().sum::<u64>()).unwrap();
    for number in 0.. {
        tx.send(number).unwrap();
        sleep(Duration::from_millis(20));
    }
}

/// A pool of connections, one of which is slow, under a scope.
fn database(connections: u64) {
    let (tx, rx) = channel::<Sender<u64>>();
    scope(|s| {
        for number in 0..connections {
            let rx = rx.clone();
            let builder = Builder::new().name(format!("connection {number}"));
            s.spawn_with(builder, move || serve(&rx, number)).unwrap();
        }
        for _ in 0..2 * connections {
            let tx = tx.clone();
            s.spawn(move || {
                loop {
                    let (answer, answers) = channel();
                    tx.send(answer).unwrap();
                    answers.recv().unwrap();
                }
            });
        }
    });
}

fn serve(requests: &Receiver<Sender<u64>>, number: u64) {
    while let Ok(answer) = requests.recv() {
        sleep(Duration::from_millis(50 * (number + 1)));
        let _ = answer.send(number);
    }
}

/// Many hosts, and as many parasites, which wait for messages that never come.
fn clients_of_a_server(clients: usize) {
    let (tx, rx) = channel::<String>();
    let readers = (0..clients).map(|number| {
        let rx = rx.clone();
        Builder::new().name(format!("client {number}")).spawn(move || rx.recv().ok()).unwrap()
    });
    let readers: Vec<_> = readers.collect();
    let parsers: Vec<_> = (0..clients).map(|_| parasite(parse(rx.clone()))).collect();
    for reader in readers {
        reader.join().unwrap();
    }
    drop((parsers, tx));
}

async fn parse(lines: Receiver<String>) -> Option<usize> {
    lines.recv_async().await.ok()?.parse().ok()
}

/// Two hosts that wait for each other, and some that wait for them.
fn two_locks() {
    let (left, right) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
    let (a, b) = (left.clone(), right.clone());
    Builder::new().name("there").spawn(move || transfer(&a, &b)).unwrap();
    let (a, b) = (left.clone(), right);
    Builder::new().name("back").spawn(move || transfer(&b, &a)).unwrap();
    sleep(Duration::from_millis(100));
    for number in 0..10 {
        let left = left.clone();
        Builder::new().name(format!("behind {number}")).spawn(move || *left.lock().unwrap() += 1).unwrap();
    }
}

fn transfer(from: &Mutex<u64>, to: &Mutex<u64>) {
    let mut from = from.lock().unwrap();
    sleep(Duration::from_millis(50));
    let mut to = to.lock().unwrap();
    *from -= 1;
    *to += 1;
}
