//! A program that has used files, sockets, pools, children, timers and signals, and then waits for what does not come.

use lamprey::net::{TcpListener, TcpStream};
use lamprey::signal::Signal;
use lamprey::{channel, fs, sleep, spawn};
use std::io::{Read, Write};
use std::time::Duration;

pub fn main() {
    let bytes = fs::read(std::env::current_exe().unwrap()).unwrap().len();
    let listener = TcpListener::bind("localhost:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serves = spawn(move || listener.accept().unwrap().0.write_all(b"x").unwrap());
    let mut text = String::new();
    TcpStream::connect(address).unwrap().read_to_string(&mut text).unwrap();
    serves.join().unwrap();
    assert!(lamprey::process::Command::new("true").status().unwrap().success());
    assert!(lamprey::signal::listen(&[Signal::USR1]).unwrap().try_recv().is_none());
    assert_eq!(lamprey::block(|| 1) + lamprey::compute(|| 1), 2);
    sleep(Duration::from_millis(10));

    let (sender, receiver) = channel::<u32>();
    println!("{bytes} {text} {:?}", receiver.recv());
    drop(sender);
}
