//! Futures that are forgotten with `std::mem::forget`: what their calls need of the file is given back all the same,
//! when the kernel, or the pool, has done with it.

use crate::{Scratch, on_both, pattern};
use lamprey::fs::{Advice, AlignedBuf, File, OpenOptions};
use std::io::SeekFrom;
use std::task::{Context, Waker};

const BLOCK: usize = 4096;

/// Begins what the future does, and forgets it.
fn forget(future: impl Future) {
    let mut future = Box::pin(future);
    let _ = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    std::mem::forget(future);
}

/// Begins one of the calls of a file that wait, or all of them.
fn begin(file: &File, which: usize) {
    let (mut read, mut at_cursor) = ([0; BLOCK], [0; BLOCK]);
    let buffer = || AlignedBuf::new(BLOCK).unwrap();
    match which {
        0 => forget(file.read_at_async(&mut read, 0)),
        1 => forget(file.read_to_async(buffer(), 0)),
        2 => forget(file.write_at_async(&[1; BLOCK], 0)),
        3 => forget(file.write_from_async(buffer(), 0)),
        4 => forget(file.read_async(&mut at_cursor)),
        5 => forget(file.write_async(&[2; BLOCK])),
        6 => forget(file.sync_all_async()),
        7 => forget(file.sync_data_async()),
        8 => forget(file.metadata_async()),
        9 => forget(file.advise_async(0..u64::MAX / 4, Advice::DontNeed)),
        10 => forget(file.set_len_async(16 * BLOCK as u64)),
        11 => forget(file.seek_async(SeekFrom::Start(0))),
        _ => (0..12).for_each(|which| begin(file, which)),
    }
}

/// A future that keeps the file after the answer would make the close wait for ever.
#[test]
fn a_file_is_closed_after_the_calls_of_forgotten_futures() {
    on_both(1, || {
        let scratch = Scratch::with("forgotten", &pattern(16 * BLOCK));
        let options = OpenOptions::new().read(true).write(true).custom_flags(libc::O_DIRECT).clone();
        for which in 0..=12 {
            let file = options.open(&scratch.0).unwrap();
            begin(&file, which);
            file.close().unwrap();
            let file = options.open(&scratch.0).unwrap();
            begin(&file, which);
            lamprey::wait(file.close_async()).unwrap();
            let file = options.open(&scratch.0).unwrap();
            begin(&file, which);
            drop(std::fs::File::from(file));
        }
    });
}

/// The kernel has not answered when the runtime ends, and gives the call up then.
#[test]
fn a_file_is_closed_after_the_runtime_of_a_forgotten_future() {
    for io in crate::back_ends() {
        let scratch = Scratch::with("forgotten-end", &pattern(BLOCK));
        let runtime = crate::runtime_with(io, 1);
        let path = scratch.0.clone();
        let file = runtime.run(move || {
            let options = OpenOptions::new().read(true).write(true).custom_flags(libc::O_DIRECT).clone();
            let file = options.open(&path).unwrap();
            begin(&file, 12);
            file
        });
        drop(runtime);
        crate::common::within(crate::common::FOREVER, move || file.close().unwrap());
    }
}

/// Closes or converts its file while its thread unwinds.
struct Ends(Option<File>, bool);

impl Drop for Ends {
    fn drop(&mut self) {
        let file = self.0.take().unwrap();
        if self.1 { file.close().unwrap() } else { drop(std::fs::File::from(file)) }
    }
}

/// The worker that would take the kernel's answer is the one that unwinds.
#[test]
fn a_file_is_closed_by_a_thread_that_unwinds() {
    on_both(1, || {
        let scratch = Scratch::with("unwinds", &pattern(16 * BLOCK));
        for (forgets, closes) in [(false, false), (false, true), (true, false), (true, true)] {
            let path = scratch.0.clone();
            let host = lamprey::spawn(move || {
                let direct = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path);
                let ends = Ends(Some(direct.unwrap()), closes);
                let file = ends.0.as_ref().unwrap();
                let mut read = Box::pin(file.read_to_async(AlignedBuf::new(BLOCK).unwrap(), 0));
                let _ = read.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                if forgets {
                    std::mem::forget(read)
                } else {
                    drop(read)
                }
                panic!("on purpose");
            });
            assert!(matches!(host.join(), Err(lamprey::JoinError::Panicked(_))));
        }
    });
}

/// Before a worker runs, and after it has ended, nobody takes the ring's answers.
#[test]
fn files_are_used_while_a_worker_starts_and_ends() {
    struct Reads;
    fn read() {
        let mut text = [0; 5];
        assert_eq!(File::open("Cargo.toml").unwrap().read_at(&mut text, 0).unwrap(), 5);
        lamprey::wait(lamprey::sleep_async(std::time::Duration::from_micros(100)));
    }
    impl lamprey::Source for Reads {
        fn poll(&mut self) {}
        fn notifier(&self) -> Option<lamprey::Notifier> {
            read();
            None
        }
        fn helper(&self) -> Option<lamprey::Helper> {
            read();
            None
        }
    }
    impl Drop for Reads {
        fn drop(&mut self) {
            read();
        }
    }
    for io in [lamprey::Io::Epoll, lamprey::Io::Auto] {
        let policy = || {
            read();
            lamprey::policy::Fifo::default()
        };
        let source = || Ok(Box::new(Reads) as Box<dyn lamprey::Source>);
        let runtime = lamprey::Runtime::builder().workers(2).io(io).policy(policy).source(source).build();
        runtime.unwrap().run(read);
    }
}
