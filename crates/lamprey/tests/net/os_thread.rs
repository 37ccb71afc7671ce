//! Sockets on plain OS threads, without any runtime.

use crate::common::*;
use lamprey::net::{TcpListener, TcpStream, UdpSocket, UnixStream};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn tcp_between_os_threads() {
    within(FOREVER, || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let reader = OsThread::current();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            eventually("the reader waits", || reader.is_asleep());
            stream.write_all(&pattern(3 << 20)).unwrap();
        });
        let mut received = Vec::new();
        TcpStream::connect(address).unwrap().read_to_end(&mut received).unwrap();
        assert!(received == pattern(3 << 20));
        server.join().unwrap();
    });
}

#[test]
fn a_timeout_holds_on_an_os_thread() {
    within(FOREVER, || {
        let (mut a, _b) = UnixStream::pair().unwrap();
        let limit = Duration::from_millis(20);
        a.set_read_timeout(Some(limit)).unwrap();
        let start = Instant::now();
        assert_eq!(a.read(&mut [0]).unwrap_err().kind(), ErrorKind::TimedOut);
        assert!(start.elapsed() >= limit);
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(limit)).unwrap();
        assert_eq!(socket.recv(&mut [0]).unwrap_err().kind(), ErrorKind::TimedOut);
    });
}

#[test]
fn a_host_and_an_os_thread_share_a_stream() {
    within(FOREVER, || {
        let runtime = runtime(1);
        let (mut a, b) = UnixStream::pair().unwrap();
        let b = Arc::new(b);
        let count = |b: Arc<UnixStream>| move || std::io::copy(&mut &*b, &mut std::io::sink()).unwrap();
        let host = runtime.handle().spawn(count(b.clone()));
        let os = thread::spawn(count(b));
        for _ in 0..1000 {
            a.write_all(&[0; 100]).unwrap();
        }
        drop(a);
        assert_eq!(host.join().unwrap() + os.join().unwrap(), 100_000);
    });
}

#[test]
fn block_and_lookup_run_in_place() {
    let here = thread::current().id();
    assert_eq!(lamprey::block(|| thread::current().id()), here);
    assert!(!lamprey::net::lookup("localhost:1").unwrap().is_empty());
}

#[test]
fn an_os_thread_that_unwinds_may_wait() {
    struct ReadsOnDrop(UnixStream, std::sync::mpsc::Sender<usize>);
    impl Drop for ReadsOnDrop {
        fn drop(&mut self) {
            self.1.send(self.0.read(&mut [0]).unwrap()).unwrap();
        }
    }
    within(FOREVER, || {
        let (mut a, b) = UnixStream::pair().unwrap();
        let (tx, rx) = std::sync::mpsc::channel();
        let thread = blocked_os(move || {
            let _guard = ReadsOnDrop(b, tx);
            std::panic::resume_unwind(Box::new("on purpose"));
        });
        a.write_all(b"x").unwrap();
        assert_eq!(rx.recv().unwrap(), 1);
        assert!(thread.join().is_err());
    });
}

/// The processor time that the calling thread has had.
fn used_by_thread() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The kernel reports an error of such a socket until the program has taken the message out of its error queue, and has nothing to
/// read meanwhile.
#[test]
fn an_os_thread_does_not_spin_beside_an_error_that_stays() {
    within(FOREVER, || {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let on = 1_i32;
        // SAFETY: the option is a number, of this size.
        let set = unsafe {
            let size = size_of_val(&on) as libc::socklen_t;
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::IPPROTO_IP,
                libc::IP_RECVERR,
                (&raw const on).cast(),
                size,
            )
        };
        assert_eq!(set, 0);
        let nobody = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        socket.connect(nobody).unwrap();
        socket.send(b"x").unwrap();
        assert_eq!(socket.recv(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionRefused);
        socket.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        let before = used_by_thread();
        assert_eq!(socket.recv(&mut [0]).unwrap_err().kind(), ErrorKind::TimedOut);
        // Each of a thousand tries takes some microseconds.
        let used = used_by_thread() - before;
        assert!(used < Duration::from_millis(500), "it has used {used:?} of a second");
    });
}
