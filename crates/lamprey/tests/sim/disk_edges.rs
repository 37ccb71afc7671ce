//! A simulated disk at the edges of what there is: times before 1970, lengths, paths that are none, directories as files. Beside a real one.

use lamprey::fs::{self, File, FileTimes, OpenOptions};
use lamprey::{Runtime, wait};
use std::fmt::Debug;
use std::fs::Permissions;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

fn said<T: Debug>(result: io::Result<T>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!("{:?} {:?}", error.kind(), error.raw_os_error()),
    }
}

/// Both say the same of an empty directory.
fn both_say(name: &str, what: fn(&Path) -> Vec<String>) {
    let folder = std::env::temp_dir().join(format!("lamprey-edges-{name}-{}", std::process::id()));
    let run = move |root: PathBuf| {
        fs::create_dir_all(&root).unwrap();
        let all = what(&root);
        fs::remove_dir_all(&root).unwrap();
        all
    };
    let of_kernel = lamprey::run(|| run(folder));
    for seed in 0..3 {
        assert_eq!(Runtime::simulated(seed).run(|| run("/above/root".into())), of_kernel);
    }
}

#[test]
fn times_before_1970_are_kept() {
    both_say("times", |root| {
        let file = File::create(root.join("a")).unwrap();
        let before = |nanos| SystemTime::UNIX_EPOCH - Duration::from_nanos(nanos);
        let times = [before(0), before(1), before(1_000_000_000), before(86_400_000_000_123)];
        let set = |time: SystemTime| {
            file.set_modified(time).unwrap();
            file.set_times(FileTimes::new().set_accessed(time)).unwrap();
            let found = fs::metadata(root.join("a")).unwrap();
            assert_eq!((found.modified().unwrap(), found.accessed().unwrap()), (time, time));
            format!("{:?}", time)
        };
        times.map(set).into()
    });
}

#[test]
fn a_path_with_a_zero_is_refused_as_by_std() {
    both_say("zero", |root| {
        let (none, file) = (root.join("a\0b"), root.join("file"));
        fs::write(&file, "x").unwrap();
        let below = root.join("none/a\0b");
        let mut all = Vec::new();
        for path in [&none, &below] {
            all.extend([
                said(File::open(path).map(drop)),
                said(File::create(path).map(drop)),
                said(wait(File::open_async(path)).map(drop)),
                said(OpenOptions::new().write(true).create_new(true).open(path).map(drop)),
                said(fs::metadata(path).map(drop)),
                said(wait(fs::metadata_async(path)).map(drop)),
                said(fs::symlink_metadata(path).map(drop)),
                said(fs::exists(path)),
                said(fs::read(path)),
                said(fs::write(path, "y")),
                said(fs::copy(path, &file)),
                said(fs::copy(&file, path)),
                said(fs::read_dir(path).map(drop)),
                said(fs::create_dir(path)),
                said(fs::create_dir_all(path)),
                said(fs::remove_file(path)),
                said(fs::remove_dir(path)),
                said(fs::remove_dir_all(path)),
                said(fs::rename(path, &file)),
                said(fs::rename(&file, path)),
                said(fs::rename(root.join("none"), path)),
                said(fs::canonicalize(path)),
                said(fs::read_link(path)),
                said(fs::set_permissions(path, Permissions::from_mode(0o600))),
            ]);
        }
        all
    });
}

#[test]
fn a_length_of_no_file_is_refused_as_by_std() {
    both_say("length", |root| {
        let file = File::create(root.join("a")).unwrap();
        let lengths = [u64::MAX, 1 << 63, (1 << 63) + 1];
        let sync = lengths.map(|length| said(file.set_len(length)));
        sync.into_iter().chain(lengths.map(|length| said(wait(file.set_len_async(length))))).collect()
    });
}

/// As on ext4; other file systems have larger files, or smaller ones.
#[test]
fn a_file_ends_before_16_terabytes() {
    const MOST: u64 = (1 << 44) - 4096;
    Runtime::simulated(1).run(|| {
        let too_large =
            |result: io::Result<()>| assert_eq!(result.unwrap_err().kind(), ErrorKind::FileTooLarge);
        let file = OpenOptions::new().read(true).write(true).create(true).open("/a").unwrap();
        too_large(file.set_len(i64::MAX as u64));
        too_large(file.set_len(MOST + 1));
        too_large(file.write_at(b"x", MOST).map(drop));
        too_large(file.write_at(b"x", i64::MAX as u64).map(drop));
        assert_eq!(file.metadata().unwrap().len(), 0);
        file.set_len(MOST).unwrap();
        assert_eq!(file.write_at(b"", MOST).unwrap(), 0);
        assert_eq!(file.write_at(b"xyz", MOST - 1).unwrap(), 1);
        assert_eq!(file.metadata().unwrap().len(), MOST);
    });
}

#[test]
fn a_directory_is_not_read_as_by_std() {
    both_say("directory", |root| {
        fs::write(root.join("file"), "x").unwrap();
        let mut all = Vec::new();
        for path in [root.to_owned(), root.join("file")] {
            let mut file = File::open(&path).unwrap();
            for room in [0, 1] {
                let mut buf = vec![0; room];
                all.push(said((&file).read(&mut buf)));
                all.push(said(file.read(&mut buf)));
                all.push(said(file.read_at(&mut buf, 0)));
                all.push(said(wait(file.read_async(&mut buf))));
                all.push(said(wait(file.read_at_async(&mut buf, 0))));
            }
        }
        let own = said(std::fs::File::open(std::env::temp_dir()).unwrap().read(&mut []));
        assert_eq!(all[0], own);
        all
    });
}
