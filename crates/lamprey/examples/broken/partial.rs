//! Two hosts that wait for each other while the program goes on: it is not a deadlock of the whole program.

use super::locks;
use lamprey::{Builder, sleep};
use std::time::Duration;

pub fn main() {
    let _transfers = Builder::new().name("transfers").spawn(locks::main).unwrap();
    for second in 1..=10 {
        sleep(Duration::from_secs(1));
        println!("{second} s: the others are served");
    }
}
