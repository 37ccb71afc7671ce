//! The network between machines.

mod addresses;
mod datagrams;
mod ends;
mod faults;
mod kernel;
mod streams;

use lamprey::net::TcpListener;
use lamprey::sim::Machine;
use lamprey::{JoinHandle, channel};

/// A machine with a host that serves port 80, and has begun to.
fn server(name: &str, serve: impl FnOnce(TcpListener) + Send + 'static) -> (Machine, JoinHandle<()>) {
    let machine = Machine::new(name);
    let host = serve_on(&machine, serve);
    (machine, host)
}

fn serve_on(machine: &Machine, serve: impl FnOnce(TcpListener) + Send + 'static) -> JoinHandle<()> {
    let (ready, is_ready) = channel();
    let host = machine.spawn(move || {
        let listener = TcpListener::bind("0.0.0.0:80").unwrap();
        ready.send(()).unwrap();
        serve(listener);
    });
    is_ready.recv().unwrap();
    host
}

/// Bytes that say where they are.
fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[0]).collect()
}
