//! Two hosts that take the same two locks, each the other one first.

use lamprey::sync::Mutex;
use lamprey::{Builder, yield_now};
use std::sync::Arc;

pub fn main() {
    let accounts = Arc::new([Mutex::new(100), Mutex::new(100)]);
    let hosts = [("there", 0, 1), ("back", 1, 0)].map(|(name, from, to)| {
        let accounts = accounts.clone();
        Builder::new().name(name).worker(0).spawn(move || transfer(&accounts[from], &accounts[to])).unwrap()
    });
    hosts.into_iter().for_each(|host| host.join().unwrap());
}

fn transfer(from: &Mutex<i64>, to: &Mutex<i64>) {
    let mut from = from.lock().unwrap();
    yield_now(); // what takes a while
    *to.lock().unwrap() += 1;
    *from -= 1;
}
