//! What `std::fs` has, against `std::fs`: the same calls have the same results and the same errors.

use super::names::Folder;
use crate::common::*;
use lamprey::fs::{self, File, FileTimes};
use std::fmt::Debug;
use std::fs::Permissions;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Compares results, errors by their numbers.
#[track_caller]
fn same<T: PartialEq + Debug>(ours: io::Result<T>, theirs: io::Result<T>) {
    let shown = |result: io::Result<T>| {
        result.map_err(|error| (error.raw_os_error(), error.kind(), error.raw_os_error().is_none()))
    };
    assert_eq!(shown(ours), shown(theirs));
}

/// A file, a directory, a link to each, a dangling link, and nothing.
fn furnished(name: &str) -> Folder {
    let folder = Folder::new(name);
    let at = |name: &str| folder.0.join(name);
    std::fs::write(at("file"), "some text").unwrap();
    std::fs::create_dir(at("directory")).unwrap();
    std::os::unix::fs::symlink("file", at("to-file")).unwrap();
    std::os::unix::fs::symlink("directory", at("to-directory")).unwrap();
    std::os::unix::fs::symlink("nothing", at("to-nothing")).unwrap();
    folder
}

const NAMES: [&str; 8] = [
    "file",
    "directory",
    "to-file",
    "to-directory",
    "to-nothing",
    "nothing",
    "file/below",
    "directory/../file",
];

#[test]
fn what_is_found_is_what_std_finds() {
    run(1, || {
        let folder = furnished("found");
        for path in NAMES.map(|name| folder.0.join(name)) {
            same(fs::exists(&path), std::fs::exists(&path));
            same(fs::read_link(&path), std::fs::read_link(&path));
            same(fs::canonicalize(&path), std::fs::canonicalize(&path));
            same(fs::read(&path), std::fs::read(&path));
            same(fs::metadata(&path).map(|f| f.mode()), std::fs::metadata(&path).map(|f| f.mode()));
            let (ours, theirs) = (fs::symlink_metadata(&path), std::fs::symlink_metadata(&path));
            same(ours.map(|found| found.file_type()), theirs.map(|found| found.file_type().into()));
            lamprey::wait(async {
                same(fs::exists_async(&path).await, std::fs::exists(&path));
                same(fs::read_link_async(&path).await, std::fs::read_link(&path));
                same(fs::canonicalize_async(&path).await, std::fs::canonicalize(&path));
            });
        }
        let zero = Path::new("a\0b");
        for error in [fs::exists(zero).unwrap_err(), fs::canonicalize(zero).unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
        }
        assert_eq!(fs::read_dir(zero).unwrap_err().kind(), ErrorKind::InvalidInput);
    });
}

/// What is in a folder: names, types, permissions, contents.
fn picture(folder: &Path) -> Vec<(String, u32, Option<Vec<u8>>)> {
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, entry.metadata().unwrap().mode(), std::fs::read(entry.path()).ok())
        })
        .collect();
    found.sort();
    found
}

#[test]
fn what_is_changed_is_what_std_changes() {
    type Change = fn(&Path, &Path) -> io::Result<u64>;
    let changes: [(Change, Change); 6] = [
        (|a, b| fs::copy(a, b), |a, b| std::fs::copy(a, b)),
        (|a, b| lamprey::wait(fs::copy_async(a, b)), |a, b| std::fs::copy(a, b)),
        (|a, b| fs::hard_link(a, b).map(|()| 0), |a, b| std::fs::hard_link(a, b).map(|()| 0)),
        (
            |a, b| lamprey::wait(fs::hard_link_async(a, b)).map(|()| 0),
            |a, b| std::fs::hard_link(a, b).map(|()| 0),
        ),
        (
            |_, b| lamprey::wait(fs::symlink_async("file", b)).map(|()| 0),
            |_, b| std::os::unix::fs::symlink("file", b).map(|()| 0),
        ),
        (
            |a, _| fs::set_permissions(a, Permissions::from_mode(0o741)).map(|()| 0),
            |a, _| std::fs::set_permissions(a, Permissions::from_mode(0o741)).map(|()| 0),
        ),
    ];
    run(1, move || {
        for (at, (ours, theirs)) in changes.into_iter().enumerate() {
            for from in NAMES {
                for to in ["new", "to-file", "directory", "file/below"] {
                    let (one, other) = (furnished(&format!("ours-{at}")), furnished(&format!("theirs-{at}")));
                    same(
                        ours(&one.0.join(from), &one.0.join(to)),
                        theirs(&other.0.join(from), &other.0.join(to)),
                    );
                    assert_eq!(picture(&one.0), picture(&other.0), "{at} {from} {to}");
                }
            }
        }
    });
}

#[test]
fn a_file_has_all_that_stds_has() {
    run(1, || {
        let folder = Folder::new("file");
        let path = folder.0.join("a");
        let mut file = File::create_new(&path).unwrap();
        assert_eq!(File::create_new(&path).unwrap_err().kind(), ErrorKind::AlreadyExists);
        file.write_all(b"0123456789").unwrap();
        let long_ago = SystemTime::UNIX_EPOCH + Duration::new(1_000_000, 5);
        file.set_times(FileTimes::new().set_accessed(long_ago).set_modified(long_ago)).unwrap();
        let found = std::fs::metadata(&path).unwrap();
        assert_eq!((found.accessed().unwrap(), found.modified().unwrap()), (long_ago, long_ago));
        file.set_modified(long_ago + Duration::from_secs(1)).unwrap();
        let found = file.metadata().unwrap();
        assert_eq!(
            (found.accessed().unwrap(), found.modified().unwrap().duration_since(long_ago).unwrap()),
            (long_ago, Duration::from_secs(1))
        );
        file.set_permissions(Permissions::from_mode(0o640)).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
        lamprey::wait(async {
            file.set_permissions_async(Permissions::from_mode(0o600)).await.unwrap();
            file.set_modified_async(long_ago).await.unwrap();
            fs::set_permissions_async(folder.0.join("b"), Permissions::from_mode(0o600)).await.unwrap_err();
            File::create_new_async(&path).await.unwrap_err();
        });
        let found = std::fs::metadata(&path).unwrap();
        assert_eq!((found.mode() & 0o777, found.modified().unwrap()), (0o600, long_ago));
        assert!(File::options().read(true).open(&path).is_ok());
    });
}

#[test]
fn clones_share_the_cursor_and_no_byte_comes_twice() {
    run(2, || {
        let folder = Folder::new("clones");
        let path = folder.0.join("a");
        let bytes = pattern(200_000);
        std::fs::write(&path, &bytes).unwrap();
        let mut file = File::open(&path).unwrap();
        let clone = file.try_clone().unwrap();
        assert_eq!(file.seek(SeekFrom::Start(5)).unwrap(), 5);
        assert_eq!((&clone).stream_position().unwrap(), 5);
        file.rewind().unwrap();
        let hosts = [file, clone].map(|mut file| {
            lamprey::spawn(move || {
                let mut parts = Vec::new();
                let mut part = [0; 512];
                while let count @ 1.. = file.read(&mut part).unwrap() {
                    parts.push(part[..count].to_vec());
                }
                parts
            })
        });
        let mut found: Vec<_> = hosts.into_iter().flat_map(|host| host.join().unwrap()).collect();
        let mut expected: Vec<_> = bytes.chunks(512).map(<[u8]>::to_vec).collect();
        (found.sort(), expected.sort());
        assert!(found == expected);
    });
}

#[test]
fn cancelled_before_it_begins_nothing_has_happened() {
    run(1, || {
        let folder = furnished("nothing");
        let before = picture(&folder.0);
        let calls: [fn(&Path) -> io::Result<()>; 6] = [
            |folder| fs::copy(folder.join("file"), folder.join("new")).map(drop),
            |folder| fs::remove_dir_all(folder.join("directory")),
            |folder| fs::create_dir_all(folder.join("new/newer")),
            |folder| fs::symlink("file", folder.join("new")),
            |folder| fs::hard_link(folder.join("file"), folder.join("new")),
            |folder| fs::set_permissions(folder.join("file"), Permissions::from_mode(0o711)),
        ];
        for call in calls {
            let path = folder.0.clone();
            let host = lamprey::spawn(move || call(&path));
            host.cancel();
            assert!(host.join().is_err());
        }
        assert_eq!(picture(&folder.0), before);
    });
}
