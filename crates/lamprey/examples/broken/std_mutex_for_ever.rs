//! A lock of `std` whose holder waits for a message of the thread that wants the lock. Nothing is ever due.

use lamprey::{Builder, channel};
use std::sync::{Arc, Mutex};

pub fn main() {
    let (news, heard) = channel();
    let all = Arc::new(Mutex::new(Vec::new()));
    let theirs = all.clone();
    let keeper = Builder::new().name("keeper").worker(0).spawn(move || {
        let mut all = theirs.lock().unwrap();
        all.push(heard.recv().unwrap());
    });
    let reporter = Builder::new().name("reporter").worker(0).spawn(move || {
        let number = all.lock().unwrap().len();
        news.send(number).unwrap();
    });
    [keeper, reporter].into_iter().for_each(|host| host.unwrap().join().unwrap());
}
