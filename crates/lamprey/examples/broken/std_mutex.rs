//! A lock of `std` that is held while its thread sleeps: who wants it next stops the kernel thread that both run on.

use lamprey::{Builder, sleep};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub fn main() {
    let total = Arc::new(Mutex::new(0));
    let hosts = ["first", "second"].map(|name| {
        let total = total.clone();
        Builder::new().name(name).worker(0).spawn(move || add(&total)).unwrap()
    });
    hosts.into_iter().for_each(|host| host.join().unwrap());
}

fn add(total: &Mutex<u32>) {
    let mut total = total.lock().unwrap();
    sleep(Duration::from_millis(20)); // what takes a while
    *total += 1;
}
