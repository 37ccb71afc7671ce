//! Sockets, pipes and descriptors; futures that are polled by hand.

use super::{ZERO, flag, later, rows};
use lamprey::io::{Descriptor, Interest, pipe};
use lamprey::net::{TcpListener, TcpSocket, TcpStream, UdpSocket, UnixStream};
use lamprey::{bounded, sleep};
use std::io::{ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::task::{Context, Waker};
use std::time::Duration;

const MOMENT: Duration = Duration::from_millis(1);

rows! {
    ["net/stream_poll $name::poll_read", "net/stream_poll $name::poll_read_uninit", "net/stream_poll $name::poll_read_vectored", "net/events $name::poll_readable"] {
        let (mut a, b) = UnixStream::pair().unwrap();
        later(move || (0..4).for_each(|n| {
            a.write_all(&[n]).unwrap();
            sleep(MOMENT);
        }));
        let (mut context, mut byte) = (noop(), [0]);
        while b.poll_readable(&mut context).is_pending() {}
        while b.poll_read(&mut context, &mut byte).is_pending() {}
        while b.poll_read_uninit(&mut context, &mut [MaybeUninit::uninit()]).is_pending() {}
        while b.poll_read_vectored(&mut context, &mut [IoSliceMut::new(&mut byte)]).is_pending() {}
        while b.poll_readable(&mut context).is_pending() {}
    }
    ["net/stream_poll $name::poll_write", "net/stream_poll $name::poll_write_vectored", "net/events $name::poll_writable"] {
        let (a, mut b) = UnixStream::pair().unwrap();
        let (mut context, bytes) = (noop(), vec![0; 1 << 16]);
        while a.poll_write(&mut context, &bytes).is_ready() || a.poll_write(&mut context, &bytes).is_ready() {}
        later(move || std::io::copy(&mut b, &mut std::io::sink()));
        while a.poll_writable(&mut context).is_pending() {}
        for _ in 0..20 {
            while a.poll_write(&mut context, &bytes).is_pending() {}
            while a.poll_write_vectored(&mut context, &[IoSlice::new(&bytes)]).is_pending() {}
        }
    }
    ["net/listen $name::poll_accept"] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        later(move || TcpStream::connect(address).unwrap());
        while listener.poll_accept(&mut noop()).is_pending() {}
    }
    ["net/common $name::take_error", "net/tcp_socket TcpSocket::take_error"] {
        // No error comes: whoever looks for one lets others run all the same.
        let (a, _b) = UnixStream::pair().unwrap();
        let done = flag();
        while !done.load(Ordering::Relaxed) {
            assert!(a.take_error().unwrap().is_none());
        }
        let socket = TcpSocket::new_v4().unwrap();
        let done = flag();
        while !done.load(Ordering::Relaxed) {
            assert!(socket.take_error().unwrap().is_none());
        }
    }
    ["net/common $name::peek"] {
        let (mut a, b) = UnixStream::pair().unwrap();
        b.set_nonblocking(true).unwrap();
        later(move || {
            a.write_all(&[1]).unwrap();
            sleep(MOMENT);
        });
        while b.peek(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock) {}
        while (&b).read(&mut [0]).is_err() {}
    }
    ["net/common $name::set_read_timeout"] {
        let (mut a, b) = UnixStream::pair().unwrap();
        b.set_read_timeout(Some(Duration::from_nanos(1))).unwrap();
        later(move || a.write_all(&[1]).unwrap());
        while (&b).read(&mut [0]).is_err() {}
    }
    ["net/common $name::set_write_timeout"] {
        let (a, mut b) = UnixStream::pair().unwrap();
        a.set_write_timeout(Some(Duration::from_nanos(1))).unwrap();
        let bytes = vec![0; 1 << 16];
        while (&a).write(&bytes).is_ok() {}
        later(move || std::io::copy(&mut b, &mut std::io::sink()));
        while (&a).write(&bytes).is_err() {}
    }
    ["net/udp UdpSocket::poll_recv", "net/udp UdpSocket::poll_recv_from", "net/udp UdpSocket::peek", "net/udp UdpSocket::peek_from"] {
        let (a, b) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        a.connect(b.local_addr().unwrap()).unwrap();
        b.connect(a.local_addr().unwrap()).unwrap();
        b.set_nonblocking(true).unwrap();
        later(move || (0..2).for_each(|n| {
            a.send(&[n]).unwrap();
            sleep(MOMENT);
        }));
        while b.peek(&mut [0]).is_err() {}
        while b.poll_recv(&mut noop(), &mut [0]).is_pending() {}
        while b.peek_from(&mut [0]).is_err() {}
        while b.poll_recv_from(&mut noop(), &mut [0]).is_pending() {}
    }
    ["io/pipe PipeReader::poll_read", "io/pipe PipeReader::poll_read_uninit"] {
        let (reader, mut writer) = pipe().unwrap();
        later(move || (0..2).for_each(|n| {
            writer.write_all(&[n]).unwrap();
            sleep(MOMENT);
        }));
        while reader.poll_read(&mut noop(), &mut [0]).is_pending() {}
        while reader.poll_read_uninit(&mut noop(), &mut [MaybeUninit::uninit()]).is_pending() {}
    }
    ["io/pipe PipeWriter::poll_write", "io/pipe PipeWriter::poll_write_vectored"] {
        let (mut reader, writer) = pipe().unwrap();
        let bytes = vec![0; 1 << 16];
        while writer.poll_write(&mut noop(), &bytes).is_ready() {}
        later(move || std::io::copy(&mut reader, &mut std::io::sink()));
        for _ in 0..20 {
            while writer.poll_write(&mut noop(), &bytes).is_pending() {}
            while writer.poll_write_vectored(&mut noop(), &[IoSlice::new(&bytes)]).is_pending() {}
        }
    }
    ["io/descriptor Descriptor::poll_readable", "io/descriptor Descriptor::poll_attempt", "io/descriptor Descriptor::readable_timeout"] {
        let (reader, writer) = std::io::pipe().unwrap();
        let reader = Descriptor::new(OwnedFd::from(reader)).unwrap();
        later(move || {
            sleep(MOMENT);
            (&writer).write_all(&[1]).unwrap();
            sleep(Duration::MAX);
        });
        let would_block = |_: &OwnedFd| Err::<(), _>(ErrorKind::WouldBlock.into());
        let (tx, rx) = bounded(1);
        later(move || tx.send(()));
        while reader.poll_attempt(Interest::Readable, &mut noop(), would_block).is_pending() && rx.try_recv().is_err() {}
        while reader.readable_timeout(ZERO).is_err() {}
        while reader.poll_readable(&mut noop()).is_pending() {}
    }
    ["io/descriptor Descriptor::poll_writable", "io/descriptor Descriptor::writable_timeout"] {
        for by_timeout in [false, true] {
            let (mut reader, writer) = std::io::pipe().unwrap();
            let writer = Descriptor::new(OwnedFd::from(writer)).unwrap();
            while writer.poll_attempt(Interest::Writable, &mut noop(), |fd| Ok(rustix::io::write(fd, &[0; 4096])?)).is_ready() {}
            later(move || reader.read_exact(&mut vec![0; 1 << 15]));
            while if by_timeout { writer.writable_timeout(ZERO).is_err() } else { writer.poll_writable(&mut noop()).is_pending() } {}
        }
    }
}

fn noop() -> Context<'static> {
    Context::from_waker(Waker::noop())
}
