//! Stopping, and the limit of connections: what the accept loop and idle connections wait for.

mod common;
use common::{Client, site_with};
use std::time::Duration;

use swerve::{Config, Server};

/// Longer than any test runs: a limit that does not end anything here.
const NEVER: Duration = Duration::from_secs(3600);

fn endless(config: &mut Config) {
    config.limits.idle_time = NEVER;
    config.limits.stop_time = NEVER;
}

#[test]
fn a_stop_ends_all_idle_connections() {
    let site = site_with(endless);
    let mut clients: Vec<_> = (0..200).map(|_| site.connect()).collect();
    // Every other one is served a request; some of the rest may not be accepted yet.
    clients.iter_mut().step_by(2).for_each(Client::goes_on);
    assert_eq!(site.finish(), 0);
    clients.iter_mut().for_each(Client::ends);
}

#[test]
fn a_stop_ends_the_wait_at_the_limit() {
    let site = site_with(|config| {
        endless(config);
        config.limits.connections = 1;
    });
    let mut begun = site.connect();
    // After the first answer the server has begun to read the second request.
    begun.send("GET /b.txt HTTP/1.1\r\nHost: test\r\n\r\nGET /a.txt HTTP/1.1\r\n");
    assert_eq!(begun.response().text(), "beta");
    let mut waiting = site.connect();
    site.stop();
    begun.send("Host: test\r\n\r\n");
    assert_eq!(begun.response().text(), "alpha");
    assert_eq!(site.finish(), 0);
    waiting.ends();
}

#[test]
fn each_connection_that_ends_lets_another_one_in() {
    let site = site_with(|config| {
        endless(config);
        config.limits.connections = 3;
    });
    let site = &site;
    std::thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| {
                for _ in 0..20 {
                    site.connect().goes_on();
                }
            });
        }
    });
}

fn server() -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "alpha").unwrap();
    let mut config = Config::new(folder.path(), "127.0.0.1:0".parse().unwrap());
    endless(&mut config);
    (folder, Server::bind(config).unwrap())
}

#[test]
fn a_server_that_is_stopped_before_it_runs_ends_at_once() {
    let left = lamprey::run(|| {
        let (_folder, server) = server();
        let stopper = server.stopper();
        stopper.stop();
        stopper.stop();
        server.run()
    });
    assert_eq!(left, 0);
}

#[test]
fn a_server_that_is_cancelled_ends_its_connections() {
    lamprey::run(|| {
        let (_folder, server) = server();
        let addr = server.local_addr();
        let host = lamprey::spawn(move || server.run());
        let (mut idle, mut begun) = lamprey::block(|| {
            let (mut idle, mut begun) = (Client::connect(addr), Client::connect(addr));
            idle.goes_on();
            begun.goes_on();
            begun.send("GET /");
            (idle, begun)
        });
        host.cancel();
        assert!(matches!(host.join(), Err(lamprey::JoinError::Cancelled(_))));
        lamprey::block(|| {
            idle.ends();
            begun.ends();
        });
    });
}
