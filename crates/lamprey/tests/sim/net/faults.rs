//! A network that fails by chance: the same for the same seed, and never a wrong byte.

use super::{pattern, server};
use lamprey::net::{Shutdown, TcpListener, TcpStream};
use lamprey::sim::{self, Faults, Machine};
use lamprey::{Runtime, channel};
use std::collections::HashSet;
use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(120);

/// Sends the pattern to each client, at the length that it asks for.
fn serve(listener: TcpListener) {
    for stream in listener.incoming() {
        lamprey::spawn(move || -> std::io::Result<()> {
            let mut stream = stream?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))?;
            let mut length = [0; 4];
            stream.read_exact(&mut length)?;
            stream.write_all(&pattern(u32::from_be_bytes(length) as usize))?;
            stream.shutdown(Shutdown::Write)
        });
    }
}

fn fetch(length: usize) -> std::io::Result<()> {
    let mut stream = TcpStream::connect("server:80")?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(&u32::try_from(length).unwrap().to_be_bytes())?;
    let mut all = Vec::new();
    stream.read_to_end(&mut all)?;
    assert!(all == pattern(length), "{} bytes of {length}", all.len());
    Ok(())
}

/// Four clients at once; how many were answered, and with which errors the others failed.
fn transfers(faults: Faults) -> (usize, Vec<ErrorKind>) {
    let (_server, _host) = server("server", serve);
    sim::network().set_faults(faults);
    let hosts = [10, 5_000, 60_000, 300_000].map(|length| lamprey::spawn(move || fetch(length)));
    let results = hosts.map(|host| host.join().unwrap());
    let errors: Vec<_> =
        results.iter().filter_map(|result| result.as_ref().err().map(|error| error.kind())).collect();
    (results.len() - errors.len(), errors)
}

#[test]
fn one_seed_is_one_log() {
    for faults in [Faults::none(), Faults::mild(), Faults::harsh()] {
        let logs: HashSet<_> = (0..12)
            .map(|seed| {
                let (result, log) = Runtime::simulated(seed).run_logged(|| transfers(faults));
                let (again, other) = Runtime::simulated(seed).run_logged(|| transfers(faults));
                assert!(result == again && log == other, "seed {seed}");
                assert!(log.contains("server:80: syn"));
                log
            })
            .collect();
        assert_eq!(logs.len(), 12);
    }
}

#[test]
fn harsh_faults_fail_some_transfers_and_corrupt_none() {
    let (mut answered, mut kinds) = (0, HashSet::new());
    for seed in 0..150 {
        let (count, errors) = Runtime::simulated(seed).run(|| transfers(Faults::harsh()));
        answered += count;
        kinds.extend(errors);
    }
    assert!(answered > 100, "{answered} answers");
    assert!(kinds.contains(&ErrorKind::ConnectionReset) && kinds.contains(&ErrorKind::TimedOut), "{kinds:?}");
}

#[test]
fn mild_faults_are_survived_by_trying_again() {
    for seed in 0..50 {
        Runtime::simulated(seed).run(|| {
            let (_server, _host) = server("server", serve);
            sim::network().set_faults(Faults::mild().resets(0.01));
            assert!((0..50).any(|_| fetch(20_000).is_ok()));
        });
    }
}

#[test]
fn who_waits_for_what_never_comes_is_found_out() {
    let failed = std::panic::catch_unwind(|| {
        Runtime::simulated(1).run(|| {
            let (server, _host) = server("server", serve);
            sim::network().set_faults(Faults::harsh());
            let (tx, rx) = channel::<()>();
            server.crash();
            let _ = TcpStream::connect("server:80").unwrap_err();
            let _kept = tx;
            let _ = rx.recv();
        });
    });
    let text = *failed.unwrap_err().downcast::<String>().unwrap();
    assert!(text.contains("deadlock"), "{text}");
}

#[test]
fn connecting_passes_by_a_machine_that_cannot_be_reached() {
    let run = |seed| {
        Runtime::simulated(seed).run(|| {
            let (far, _server) = server("far", |listener| listener.incoming().for_each(drop));
            let (_near, _host) = server("near", |listener| listener.incoming().for_each(drop));
            sim::network().partition(&[&far], &[&Machine::here()]);
            let both = ["far:80", "near:80"].map(|name| lamprey::net::lookup(name).unwrap()[0]);
            let begin = sim::now();
            let stream = TcpStream::connect(&both[..]).unwrap();
            assert_eq!(stream.peer_addr().unwrap(), both[1]);
            let took = sim::now() - begin;
            // In a simulation nothing else delays it.
            assert!(took >= Duration::from_millis(250) && took < Duration::from_secs(1), "{took:?}");
            took
        })
    };
    assert_eq!(run(3), run(3));
}
