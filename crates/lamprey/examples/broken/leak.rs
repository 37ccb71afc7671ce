//! A server that starts a host for each request, which waits for an answer that never comes. After some requests it is asked what
//! it is doing.

use lamprey::{Receiver, channel, inspect, sleep, spawn};
use std::time::Duration;

pub fn main() {
    let (_answers, answer) = channel::<String>();
    for _ in 0..1000 {
        let answer = answer.clone();
        spawn(move || serve(&answer));
        sleep(Duration::from_micros(100));
    }
    eprintln!("{}", inspect::dump());
}

fn serve(answer: &Receiver<String>) {
    if let Ok(answer) = answer.recv() {
        println!("{answer}");
    }
}
