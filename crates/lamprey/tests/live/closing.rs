//! The end of an endpoint.

use crate::{connect, get, rest};
use lamprey::inspect::serve;
use std::net::TcpStream;

#[test]
fn a_closed_endpoint_refuses_and_its_port_is_free() {
    let server = serve("127.0.0.1:0").unwrap();
    let address = server.addr();
    let open = connect(address);
    assert_eq!(get(address, "/page.css").0, 200);
    server.close();
    assert!(TcpStream::connect(address).is_err());
    assert_eq!(rest(open), "");
    let again = serve(&address.to_string()).unwrap();
    assert_eq!(get(address, "/page.css").0, 200);
    drop(again);
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn its_kernel_threads_end() {
    let server = serve("127.0.0.1:0").unwrap();
    let name = format!("lamprey:{}", server.addr().port());
    let is_there = || {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
        tasks
            .filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok())
            .any(|comm| comm.trim_end() == name)
    };
    while !is_there() {
        std::thread::yield_now(); // it gives itself the name
    }
    server.close();
    while is_there() {
        std::thread::yield_now();
    }
}

#[test]
fn it_is_opened_and_closed_on_a_host() {
    crate::common::run(1, || {
        let server = serve("127.0.0.1:0").unwrap();
        let address = server.addr();
        assert_eq!(lamprey::block(move || get(address, "/api/v1/summary")).0, 200);
        drop(server);
    });
}
