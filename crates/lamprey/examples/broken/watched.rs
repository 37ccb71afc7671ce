//! The ring of `deadlock`, watched: an endpoint is open, and somebody is connected to it. Neither keeps it from being noticed.

use std::net::TcpStream;

pub fn main() {
    let server = lamprey::inspect::serve("127.0.0.1:0").unwrap();
    let viewer = TcpStream::connect(server.addr()).unwrap();
    super::deadlock::main();
    drop(viewer);
}
