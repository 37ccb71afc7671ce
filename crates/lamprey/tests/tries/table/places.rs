//! Files, pools, children, signals, counters.

use super::{ZERO, flag, later, rows};
use lamprey::process::Command;
use lamprey::signal::{Signal, listen};
use lamprey::{Handle, Runtime, block_timeout, fs, try_block};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::task::{Context, Waker};
use std::time::Duration;

rows! {
    ["driver/pool/calls try_block", "driver/pool/calls block_timeout"] {
        // The pool is full.
        let runtime = Runtime::builder().workers(1).blocking_threads(1).blocking_queue(0).build().unwrap();
        runtime.run(|| {
            let (tx, rx) = std::sync::mpsc::channel::<u8>();
            let busy = lamprey::spawn(move || lamprey::block(move || rx.recv()));
            while try_block(|| ()).is_ok() {}
            later(move || drop(tx));
            while try_block(|| ()).is_err() {}
            while block_timeout(ZERO, || ()).is_err() {}
            drop(busy.join());
        });
    }
    ["fs/metadata exists", "fs/metadata metadata"] {
        let path = path("exists");
        let theirs = path.clone();
        later(move || std::fs::write(theirs, "1"));
        while !fs::exists(&path).unwrap() {}
        while fs::metadata(&path).unwrap().len() == 0 {}
        std::fs::remove_file(path).unwrap();
    }
    ["fs File::metadata", "fs/dir_entry DirEntry::metadata"] {
        let folder = path("folder");
        std::fs::create_dir(&folder).unwrap();
        let file = fs::File::create(folder.join("file")).unwrap();
        let entry = fs::read_dir(&folder).unwrap().next().unwrap().unwrap();
        let theirs = folder.clone();
        later(move || {
            std::fs::write(theirs.join("file"), "1").unwrap();
            lamprey::sleep(Duration::from_millis(1));
            std::fs::write(theirs.join("file"), "12")
        });
        while file.metadata().unwrap().len() == 0 {}
        while entry.metadata().unwrap().len() < 2 {}
        std::fs::remove_dir_all(folder).unwrap();
    }
    ["fs/lock File::try_lock", "fs/lock File::try_lock_shared", "fs/lock File::lock_timeout", "fs/lock File::lock_shared_timeout"] {
        let path = path("lock");
        let tries: [fn(&fs::File) -> bool; 4] = [
            |file| file.try_lock().is_ok(),
            |file| file.try_lock_shared().is_ok(),
            |file| file.lock_timeout(ZERO).is_ok(),
            |file| file.lock_shared_timeout(ZERO).is_ok(),
        ];
        for locks in tries {
            let (file, other) = (fs::File::create(&path).unwrap(), fs::File::create(&path).unwrap());
            other.lock().unwrap();
            later(move || other.unlock());
            while !locks(&file) {}
        }
        std::fs::remove_file(path).unwrap();
    }
    ["fs/read_dir ReadDir::poll_next_entry"] {
        let folder = path("entries");
        std::fs::create_dir(&folder).unwrap();
        (0..200).for_each(|n| std::fs::write(folder.join(n.to_string()), "").unwrap());
        let mut entries = fs::read_dir(&folder).unwrap();
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..200 {
            while entries.poll_next_entry(&mut context).is_pending() {}
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
    ["process/child Child::try_wait"] {
        // A host of this worker lets the child end.
        let mut child = child();
        let input = child.stdin.take();
        later(move || drop(input));
        while child.try_wait().unwrap().is_none() {}
    }
    ["process/child Child::wait_timeout"] {
        let mut child = child();
        let input = child.stdin.take();
        later(move || drop(input));
        while child.wait_timeout(ZERO).is_err() {}
    }
    ["signal/listener Signals::try_recv", "signal/listener Signals::recv_timeout"] {
        let signals = listen(&[Signal::USR1]).unwrap();
        let raise = || later(|| {
            // SAFETY: a plain number.
            unsafe { libc::raise(libc::SIGUSR1) }
        });
        raise();
        while signals.try_recv().is_none() {}
        raise();
        while signals.recv_timeout(ZERO).is_err() {}
    }
    ["thread/handle Handle::stats"] {
        let (handle, done) = (Handle::current().unwrap(), flag());
        while !done.load(Ordering::Relaxed) {
            assert_ne!(handle.stats().hosts, 0);
        }
    }
    ["runtime/mod Runtime::stats"] {
        let (other, done) = (Runtime::builder().workers(1).build().unwrap(), flag());
        while !done.load(Ordering::Relaxed) {
            assert_eq!(other.stats().hosts, 0);
        }
    }
}

/// A child that ends when its standard input does.
fn child() -> lamprey::process::Child {
    let mut command = Command::new("cat");
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null());
    command.spawn().unwrap()
}

fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("lamprey-tries-{name}-{}", std::process::id()))
}
