//! A server on a free port with a folder of its own, and a client for single bytes.
#![allow(dead_code, unused_imports, reason = "each test file uses a part of it")]

mod client;

pub use client::{Client, PATIENCE, Place, Response, folder, noise};

use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::mpsc;
use std::thread::JoinHandle;

use swerve::{Config, Server, Stopper};

/// A running server; dropping it stops it.
pub struct Site {
    place: Place,
    stopper: Stopper,
    thread: Option<JoinHandle<usize>>,
}

impl Deref for Site {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.place
    }
}

/// A server with the default limits.
pub fn site() -> Site {
    site_with(|_| {})
}

/// A server whose configuration `change` may change.
pub fn site_with(change: impl FnOnce(&mut Config)) -> Site {
    site_on(2, change)
}

/// A server on `workers` workers, whose configuration `change` may change.
pub fn site_on(workers: usize, change: impl FnOnce(&mut Config)) -> Site {
    let temp = folder();
    let mut config = Config::new(temp.path().join("site"), "127.0.0.1:0".parse().unwrap());
    change(&mut config);
    let (ready, wait) = mpsc::channel();
    let thread = std::thread::spawn(move || serve(config, workers, &ready));
    let (addr, stopper) = wait.recv().expect("the server did not start");
    Site { place: Place { addr, temp }, stopper, thread: Some(thread) }
}

fn serve(config: Config, workers: usize, ready: &mpsc::Sender<(SocketAddr, Stopper)>) -> usize {
    lamprey::Runtime::builder().workers(workers).build().unwrap().run(|| {
        let server = Server::bind(config).unwrap();
        ready.send((server.local_addr(), server.stopper())).unwrap();
        server.run()
    })
}

impl Site {
    pub fn stop(&self) {
        self.stopper.stop();
    }

    /// Stops the server and waits for its end. Returns how many connections were cut off.
    pub fn finish(mut self) -> usize {
        self.stopper.stop();
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the server panicked");
        }
    }
}
