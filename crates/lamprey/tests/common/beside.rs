//! Whether a worker's timers, sockets and other hosts are served beside one that is busy.

use super::FOREVER;
use lamprey::net::TcpListener;
use lamprey::{sleep, spawn};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How often the worker's own hosts are served while somebody is at work there.
pub const TIMES: u32 = 20;

/// Runs a host on the only worker that calls `step` again and again, while another one sleeps, one is fed
/// through a socket, and one by turns. Hangs if these are not served.
#[track_caller]
pub fn serves_others(make: impl FnOnce() -> Box<dyn FnMut()> + Send + 'static) {
    super::run(1, move || {
        let done = Arc::new(AtomicBool::new(false));
        let (is_done, steps) = (done.clone(), Arc::new(AtomicU32::new(0)));
        let taken = steps.clone();
        let busy = spawn(move || {
            let mut step = make();
            while !is_done.load(Ordering::Relaxed) {
                step();
                taken.fetch_add(1, Ordering::Relaxed);
            }
        });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let feeder = std::thread::spawn(move || {
            let mut stream = std::net::TcpStream::connect(address).unwrap();
            let mut byte = [0];
            for _ in 0..TIMES {
                stream.write_all(&[1]).unwrap();
                stream.read_exact(&mut byte).unwrap();
            }
        });
        let socket = spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut byte = [0];
            while stream.read(&mut byte).unwrap() != 0 {
                stream.write_all(&byte).unwrap();
            }
        });
        let turns = spawn(|| (0..TIMES).for_each(|_| lamprey::yield_now()));
        (0..TIMES).for_each(|_| sleep(Duration::from_millis(1)));
        turns.join().unwrap();
        socket.join().unwrap();
        feeder.join().unwrap();
        done.store(true, Ordering::Relaxed);
        busy.join().unwrap();
        assert_ne!(steps.load(Ordering::Relaxed), 0);
    });
}

/// Something that is waited for by computing.
#[derive(Clone, Default)]
pub struct Flag(Arc<AtomicBool>);

impl Flag {
    pub fn raise(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub fn is_up(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    #[track_caller]
    pub fn compute_until_up(&self) {
        compute_until(|| self.is_up());
    }
}

/// Computes, without a scheduling point, until it is so.
#[track_caller]
pub fn compute_until(is: impl Fn() -> bool) {
    let deadline = Instant::now() + FOREVER / 2;
    while !is() {
        assert!(Instant::now() < deadline, "not served while its worker computed");
        std::hint::spin_loop();
    }
}

/// Computes for so many microseconds.
pub fn compute(micros: u64) {
    let until = Instant::now() + Duration::from_micros(micros);
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}
