//! Directories: their entries, one after the other, in blocking and in async code; trees of them.

use super::names::Folder;
use crate::common::awaiting::everywhere;
use crate::common::*;
use futures::StreamExt;
use futures::future::{FutureExt, select};
use lamprey::fs::{self, DirBuilder, DirEntry};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// More than are read at once, several times.
const MANY: usize = 10_000;

/// Makes files whose names are numbers.
fn fill(folder: &Path, count: usize) -> BTreeSet<OsString> {
    let names: BTreeSet<_> = (0..count).map(|n| OsString::from(n.to_string())).collect();
    names.iter().for_each(|name| drop(std::fs::File::create(folder.join(name)).unwrap()));
    names
}

fn name(entry: io::Result<DirEntry>) -> OsString {
    entry.unwrap().file_name()
}

#[test]
fn ten_thousand_entries_come_once_each() {
    run(1, || {
        let folder = Folder::new("many");
        let expected = fill(&folder.0, MANY);
        let found: Vec<_> = fs::read_dir(&folder.0).unwrap().map(name).collect();
        assert_eq!((found.len(), found.into_iter().collect::<BTreeSet<_>>()), (MANY, expected.clone()));

        let folder = folder.0.clone();
        let found = lamprey::wait(async move {
            let mut entries = fs::read_dir_async(folder).await.unwrap();
            futures::stream::poll_fn(move |cx| entries.poll_next_entry(cx))
                .map(name)
                .collect::<Vec<_>>()
                .await
        });
        assert_eq!((found.len(), found.into_iter().collect::<BTreeSet<_>>()), (MANY, expected));
    });
}

#[test]
fn a_dropped_future_loses_no_entry() {
    run(1, || {
        let folder = Folder::new("dropped");
        let expected = fill(&folder.0, 1000);
        let mut entries = fs::read_dir(&folder.0).unwrap();
        let mut found = Vec::new();
        // Each third future is polled once and dropped, and the next entry is taken by a blocking call.
        loop {
            if found.len() % 3 == 0
                && let Some(entry) = entries.next_entry_async().now_or_never()
            {
                let Some(entry) = entry.unwrap() else { break };
                found.push(entry.file_name());
            } else {
                let Some(entry) = entries.next() else { break };
                found.push(name(entry));
            }
        }
        assert_eq!((found.len(), found.into_iter().collect::<BTreeSet<_>>()), (1000, expected));
        assert!(entries.next().is_none());
    });
}

#[test]
fn a_cancelled_host_loses_no_entry() {
    run(1, || {
        let folder = Folder::new("cancelled-list");
        let expected = fill(&folder.0, 600);
        let mut entries = fs::read_dir(&folder.0).unwrap();
        let mut found = Vec::new();
        while found.len() < 600 {
            // Some of these are cancelled before they begin, some while they read.
            lamprey::scope(|scope| {
                let (found, entries) = (&mut found, &mut entries);
                let host = scope.spawn(move || {
                    while let Some(entry) = entries.next() {
                        found.push(name(entry));
                        if found.len() % 100 == 0 {
                            lamprey::yield_now();
                        }
                    }
                });
                lamprey::yield_now();
                host.cancel();
            });
        }
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
    });
}

#[test]
fn in_async_code_of_all_kinds() {
    everywhere(|| async {
        let folder = Folder::new(&format!("kinds-{:?}", std::thread::current().id()));
        let names = fill(&folder.0, 300);
        let mut entries = fs::read_dir_async(&folder.0).await.unwrap();
        let mut count = 0;
        while let Some(entry) = entries.next_entry_async().await.unwrap() {
            assert!(names.contains(&entry.file_name()));
            count += 1;
        }
        assert_eq!(count, 300);
        // One that loses.
        let lost = fs::read_dir_async(&folder.0);
        drop(select(Box::pin(lost), std::future::ready(())).await);
    });
}

#[test]
fn entries_say_what_they_are() {
    run(1, || {
        let folder = Folder::new("entries");
        std::fs::create_dir(folder.0.join("d")).unwrap();
        std::fs::write(folder.0.join("f"), "abc").unwrap();
        std::os::unix::fs::symlink("nowhere", folder.0.join("l")).unwrap();
        let entries: Vec<_> = fs::read_dir(&folder.0).unwrap().map(Result::unwrap).collect();
        assert_eq!(entries.len(), 3);
        for entry in &entries {
            let (kind, known) = (entry.file_type().unwrap(), entry.metadata().unwrap());
            let expected = std::fs::symlink_metadata(entry.path()).unwrap();
            assert_eq!((entry.ino(), known.ino()), (expected.ino(), expected.ino()));
            assert_eq!(kind, known.file_type());
            assert_eq!(kind, expected.file_type().into());
            let known = lamprey::wait(entry.metadata_async()).unwrap();
            assert_eq!((known.is_dir(), known.is_symlink()), (kind.is_dir(), kind.is_symlink()));
        }
        // An entry whose file has gone.
        std::fs::remove_file(folder.0.join("f")).unwrap();
        let gone = entries.iter().find(|entry| entry.file_name() == "f").unwrap();
        assert_eq!(gone.metadata().unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(gone.file_type().unwrap().is_file());
    });
}

#[test]
fn trees_are_made_and_removed() {
    run(1, || {
        let folder = Folder::new("trees");
        let (top, deep) = (folder.0.join("a"), folder.0.join("a/b/c"));
        fs::create_dir_all(&deep).unwrap();
        fs::create_dir_all(&deep).unwrap();
        std::fs::write(deep.join("f"), "x").unwrap();
        std::os::unix::fs::symlink(&folder.0, deep.join("l")).unwrap();
        let through = deep.join("f/g");
        assert_eq!(fs::create_dir_all(&through).unwrap_err().kind(), io::ErrorKind::NotADirectory);
        fs::remove_dir_all(&top).unwrap();
        assert!(!top.exists() && folder.0.exists(), "a link is not followed");
        assert_eq!(fs::remove_dir_all(&top).unwrap_err().kind(), io::ErrorKind::NotFound);

        DirBuilder::new().mode(0o700).create(&top).unwrap();
        assert_eq!(std::fs::metadata(&top).unwrap().mode() & 0o777, 0o700);
        assert_eq!(DirBuilder::new().create(&top).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        lamprey::wait(async {
            fs::create_dir_all_async(&deep).await?;
            fs::write_async(deep.join("f"), b"x".to_vec()).await?;
            fs::remove_dir_all_async(&top).await?;
            assert!(!fs::exists_async(&top).await?);
            DirBuilder::new().recursive(true).mode(0o750).create_async(&deep).await
        })
        .unwrap();
        assert_eq!(std::fs::metadata(&deep).unwrap().mode() & 0o777, 0o750);
    });
}
