//! A process of its own, because no descriptors are left in it.

#[path = "../../lamprey/tests/common/mod.rs"]
mod common;

use common::run;
use lamprey::io::pipe;
use lamprey_compat::Async;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::File;
use std::io::{ErrorKind, Read};
use tokio::io::AsyncWriteExt;

#[test]
fn a_pipe_is_closed_when_no_descriptors_are_left() {
    run(1, || {
        let (mut reader, writer) = pipe().unwrap();
        let mut writer = Async::new(writer);
        let waits = lamprey::spawn(move || reader.read(&mut [0; 4]).unwrap());
        lamprey::yield_now();
        setrlimit(Resource::Nofile, Rlimit { current: Some(64), ..getrlimit(Resource::Nofile) }).unwrap();
        let all: Vec<_> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
        lamprey::wait(writer.shutdown()).unwrap();
        // Its end is free again, and nothing else.
        assert!(pipe().is_err());
        assert_eq!(waits.join().unwrap(), 0);
        drop(all);
        let error = lamprey::wait(writer.write(b"more")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        let error = lamprey::wait(writer.write_async(b"more")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        let error = lamprey::wait(writer.into_inner().write_async(b"more")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    });
}
