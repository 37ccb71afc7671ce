//! The event loops of traces that a child has from its parent: they are the parent's.

use crate::common::{FOREVER, rerun, role, within};
use crate::{fork, with_each};
use lamprey::fs::AlignedBuf;
use lamprey::trace::{Aio, Call, Epoll, Interest, Trace, aio_read, epoll_wait};
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// A thread that reads from a pipe, and the pipe's other end.
fn reads_a_pipe() -> (Trace, std::io::PipeWriter) {
    let (reader, writer) = std::io::pipe().unwrap();
    let file = Arc::new(File::from(OwnedFd::from(reader)));
    let thread = Trace::new(async move {
        let (read, buffer) = aio_read(&file, 0, AlignedBuf::new(4096).unwrap()).await;
        assert_eq!((read.unwrap(), buffer[0]), (1, 7));
    });
    (thread, writer)
}

fn add(aio: &Aio, thread: Trace) {
    let Call::AioRead(read) = thread.step() else { panic!("another call") };
    aio.add(read);
}

#[test]
fn reads_of_the_parent_go_on_when_a_child_uses_and_drops_them() {
    if role().is_none() {
        return with_each(|name| rerun("reads_of_the_parent_go_on_when_a_child_uses_and_drops_them", name));
    }
    let Ok(aio) = Aio::new() else { return println!("NOT TESTED: this process may not use io_uring") };
    let (thread, mut writer) = reads_a_pipe();
    add(&aio, thread);
    let mut aio = Some(aio);
    let child = fork(|| {
        let theirs = aio.take().unwrap();
        assert!(theirs.wait().unwrap_err().to_string().contains("fork"));
        let (thread, _writer) = reads_a_pipe();
        add(&theirs, thread);
        theirs.notify();
        drop(theirs);
    });
    child.must_be_good("drop");
    let aio = aio.unwrap();
    writer.write_all(&[7]).unwrap();
    within(FOREVER, move || {
        while !aio.is_empty() {
            aio.wait().unwrap().into_iter().for_each(|rest| assert!(matches!(rest.step(), Call::Ret)));
        }
    });
}

#[test]
fn an_epoll_of_the_parent_does_not_notice_a_child() {
    if role().is_none() {
        return with_each(|name| rerun("an_epoll_of_the_parent_does_not_notice_a_child", name));
    }
    let (mut here, there) = UnixStream::pair().unwrap();
    let there = Arc::new(there);
    let waits = |stream: &Arc<UnixStream>| {
        let stream = Arc::clone(stream);
        let thread = Trace::new(async move { epoll_wait(&stream, Interest::Read).await.unwrap() });
        let Call::EpollWait(wait) = thread.step() else { panic!("another call") };
        wait
    };
    let epoll = Epoll::new().unwrap();
    assert!(epoll.add(waits(&there)).is_ok());
    let child = fork(|| {
        assert!(epoll.wait(None).unwrap_err().to_string().contains("fork"));
        assert!(epoll.add(waits(&there)).is_err());
        epoll.notify();
    });
    child.must_be_good("use");
    here.write_all(&[7]).unwrap();
    assert_eq!(within(FOREVER, move || epoll.wait(None).unwrap().len()), 1);
}
