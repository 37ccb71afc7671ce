//! The event loop of `examples/inotify_source.rs`, on a kernel thread of its own and within the workers.

#[path = "../examples/inotify_source.rs"]
mod inotify_source;

use inotify_source::Folder;
use lamprey::{Runtime, RuntimeBuilder, Source, spawn};
use std::io;

fn sees_changes(name: &str, add: impl FnOnce(RuntimeBuilder, Folder) -> RuntimeBuilder) {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::watch(dir.path()).unwrap();
    let runtime = add(Runtime::builder().workers(2), folder.clone()).build().unwrap();
    let path = dir.path().to_owned();
    runtime.run(move || {
        for n in 0..50 {
            let waiter = spawn({
                let folder = folder.clone();
                move || folder.changes()
            });
            if n % 2 == 0 {
                lamprey::sleep(std::time::Duration::from_millis(1)); // it waits
            }
            let file = format!("{n}.txt");
            lamprey::block(|| std::fs::write(path.join(&file), "text")).unwrap();
            assert_eq!(waiter.join().unwrap(), [file], "{name}");
        }
    });
}

#[test]
fn a_loop_beside_the_workers_sees_changes() {
    sees_changes("beside", |builder, folder| builder.source_thread(move || folder.source()));
}

#[test]
fn a_loop_within_the_workers_sees_changes() {
    sees_changes("within", |builder, folder| builder.source(move || folder.source()));
}

#[test]
fn a_loop_that_cannot_be_made_says_why() {
    let refused = || Err::<Box<dyn Source>, _>(io::Error::other("no such device"));
    let error = Runtime::builder().workers(1).source_thread(refused).build().err().unwrap();
    assert_eq!(error.to_string(), "no such device");
}
