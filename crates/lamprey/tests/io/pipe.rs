//! Pipes: between hosts, to children, with clones and without readers.

use crate::common::*;
use lamprey::io::{PipeReader, pipe};
use lamprey::{spawn, wait};
use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn a_megabyte_goes_through_in_order() {
    run(2, || {
        let (mut reader, mut writer) = pipe().unwrap();
        let bytes: Vec<u8> = (0..1 << 20).map(|number: u32| number as u8 ^ (number >> 8) as u8).collect();
        let expected = bytes.clone();
        let host = spawn(move || writer.write_all(&bytes));
        let mut got = Vec::new();
        reader.read_to_end(&mut got).unwrap();
        assert!(got == expected);
        host.join().unwrap().unwrap();
    });
}

#[test]
fn the_awaitable_forms_do_the_same() {
    run(2, || {
        let (reader, writer) = pipe().unwrap();
        let parasite = lamprey::parasite(async move { writer.write_all_async(&[7; 300_000]).await });
        let mut got = Vec::new();
        wait(reader.read_to_end_async(&mut got)).unwrap();
        assert!(got == [7; 300_000]);
        parasite.join().unwrap().unwrap();
    });
}

#[test]
fn several_slices_at_once() {
    run(1, || {
        let (mut reader, mut writer) = pipe().unwrap();
        assert_eq!(writer.write_vectored(&[IoSlice::new(b"ab"), IoSlice::new(b"c")]).unwrap(), 3);
        let (mut first, mut second) = ([0; 1], [0; 2]);
        let bufs = &mut [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
        assert_eq!(reader.read_vectored(bufs).unwrap(), 3);
        assert_eq!((&first, &second), (b"a", b"bc"));
    });
}

#[test]
fn a_clone_outlives_its_original() {
    run(1, || {
        let (reader, writer) = pipe().unwrap();
        let (mut reader, mut writer) = (clone_only(reader), writer);
        let host = spawn(move || {
            let mut byte = [0];
            reader.read_exact(&mut byte).map(|()| byte[0])
        });
        // If the pipe were in blocking mode, the only worker would wait in the kernel.
        lamprey::yield_now();
        writer.write_all(b"x").unwrap();
        assert_eq!(host.join().unwrap().unwrap(), b'x');
    });
}

fn clone_only(reader: PipeReader) -> PipeReader {
    reader.try_clone().unwrap()
}

#[test]
fn without_readers_it_is_broken() {
    run(1, || {
        let (reader, mut writer) = pipe().unwrap();
        drop(reader);
        assert_eq!(writer.write(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn the_reader_goes_while_a_writer_waits() {
    run(1, || {
        let (reader, mut writer) = pipe().unwrap();
        let host = spawn(move || writer.write_all(&[0; 1 << 20]));
        lamprey::yield_now();
        drop(reader);
        assert_eq!(host.join().unwrap().unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn a_cancelled_read_takes_nothing() {
    run(1, || {
        let (mut reader, mut writer) = pipe().unwrap();
        assert!(lamprey::with_timeout(Duration::from_millis(1), || reader.read(&mut [0; 8])).is_err());
        writer.write_all(b"x").unwrap();
        assert_eq!(reader.read(&mut [0; 8]).unwrap(), 1);
    });
}

#[test]
fn a_child_writes_into_it() {
    run(1, || {
        let (reader, writer) = pipe().unwrap();
        let mut child =
            Command::new("printf").arg("from a child").stdout(Stdio::from(writer)).spawn().unwrap();
        assert_eq!(io::read_to_string(reader).unwrap(), "from a child");
        assert!(child.wait().unwrap().success());
    });
}

#[test]
fn it_is_given_back_in_blocking_mode() {
    let (reader, writer) = pipe().unwrap();
    let (reader, writer) = (OwnedFd::from(reader), OwnedFd::from(writer));
    for fd in [&reader, &writer] {
        assert!(!rustix::fs::fcntl_getfl(fd).unwrap().contains(rustix::fs::OFlags::NONBLOCK));
    }
    assert!(PipeReader::try_from(reader).is_ok());
}
