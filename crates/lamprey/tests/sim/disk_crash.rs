//! What is left on a disk when its machine fails.

use lamprey::Runtime;
use lamprey::fs::{self, File, OpenOptions};
use lamprey::signal::Signal;
use lamprey::sim::{Disk, DiskSettings, Machine};
use std::collections::BTreeSet;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::time::Duration;

/// Runs `program` on a machine that then fails, once for each seed, and returns what `look` finds on its disk.
fn after_crash<T: Send>(
    seeds: u64,
    program: fn() -> std::io::Result<()>,
    look: impl Fn(&Disk) -> T + Send + Sync,
) -> Vec<T> {
    let each = |seed| {
        Runtime::simulated(seed).run(|| {
            let there = Machine::new("there");
            there.spawn(program).join().unwrap().unwrap();
            there.crash();
            look(&there.disk())
        })
    };
    (0..seeds).map(each).collect()
}

fn read(disk: &Disk, path: &str) -> Option<Vec<u8>> {
    disk.read(path).ok()
}

#[test]
fn what_is_synced_stays() {
    let left = after_crash(
        200,
        || {
            let mut file = File::create("/a")?;
            file.write_all(&[1; 3000])?;
            file.sync_data()?;
            fs::create_dir_all("/b/c")?;
            fs::write("/b/c/d", "e")?;
            File::open("/b/c/d")?.sync_all()
        },
        |disk| {
            assert_eq!(disk.durable("/a").unwrap(), disk.read("/a").unwrap());
            (read(disk, "/a"), read(disk, "/b/c/d"))
        },
    );
    assert!(left.iter().all(|left| *left == (Some(vec![1; 3000]), Some(b"e".to_vec()))));
}

#[test]
fn what_is_not_synced_is_there_or_not_or_torn() {
    let left = after_crash(
        500,
        || {
            let file = File::create("/a")?;
            file.write_at(&[1; 2048], 0)?;
            file.sync_all()?;
            file.write_at(&[2; 4096], 0).map(drop)
        },
        |disk| disk.read("/a").unwrap(),
    );
    let mut kinds = BTreeSet::new();
    for left in &left {
        let sectors: Vec<_> = left.chunks(512).map(|sector| sector[0]).collect();
        for (index, sector) in left.chunks(512).enumerate() {
            assert!(sector.iter().all(|byte| *byte == sector[0]), "a sector is torn: {sectors:?}");
            let is_possible = if index < 4 { [1, 2] } else { [0, 2] }.contains(&sector[0]);
            assert!(is_possible && left.len() >= 2048 && left.len() <= 4096, "{sectors:?}");
        }
        kinds.insert(sectors);
    }
    assert!(kinds.contains(&vec![1; 4]) && kinds.contains(&vec![2; 8]), "{kinds:?}");
    assert!(kinds.len() > 50, "{}", kinds.len());
}

#[test]
fn an_old_version_may_be_found_that_the_system_has_written_back() {
    let left = after_crash(
        2000,
        || {
            let file = File::create("/a")?;
            file.sync_all()?;
            (1..=3).try_for_each(|version| file.write_at(&[version; 512], 0).map(drop))
        },
        |disk| disk.read("/a").unwrap().first().copied().unwrap_or(0),
    );
    let found: BTreeSet<_> = left.into_iter().collect();
    assert!([0, 1, 2, 3].iter().all(|version| found.contains(version)), "{found:?}");
}

#[test]
fn a_name_is_there_or_not_until_its_directory_is_synced() {
    let both = |disk: &Disk| (disk.read("/a").is_ok(), disk.read("/b").is_ok());
    let create = || fs::write("/a", "").and_then(|()| fs::write("/b", ""));
    let found: BTreeSet<_> = after_crash(200, create, both).into_iter().collect();
    assert_eq!(found.len(), 4, "in any order: {found:?}");
    let synced = || {
        fs::write("/a", "")?;
        fs::write("/b", "")?;
        File::open("/")?.sync_all()?;
        fs::remove_file("/a")
    };
    let found: BTreeSet<_> = after_crash(200, synced, both).into_iter().collect();
    assert_eq!(found, BTreeSet::from([(false, true), (true, true)]));
}

#[test]
fn a_rename_is_atomic() {
    let left = after_crash(
        300,
        || {
            fs::write("/a", "old")?;
            File::open("/a")?.sync_all()?;
            fs::write("/draft", "new")?;
            File::open("/draft")?.sync_all()?;
            fs::rename("/draft", "/a")
        },
        |disk| (read(disk, "/a").unwrap(), read(disk, "/draft")),
    );
    let found: BTreeSet<_> = left.into_iter().collect();
    let [old, new] = [b"old".to_vec(), b"new".to_vec()];
    assert_eq!(found, BTreeSet::from([(old, Some(new.clone())), (new, None)]));
}

#[test]
fn a_rename_before_the_sync_is_found() {
    let left = after_crash(
        200,
        || {
            fs::write("/a", "old")?;
            File::open("/a")?.sync_all()?;
            fs::write("/draft", "new")?;
            fs::rename("/draft", "/a")
        },
        |disk| read(disk, "/a").unwrap(),
    );
    let found: BTreeSet<_> = left.into_iter().collect();
    assert!(found.contains(&b""[..]), "{found:?}");
}

#[test]
fn nothing_that_a_machine_does_while_it_ends_reaches_the_disk() {
    struct Writes(File);
    impl Drop for Writes {
        fn drop(&mut self) {
            assert!(self.0.write_all(b"late").is_err() && self.0.sync_all().is_err());
            assert!(fs::write("/late", "late").is_err() && fs::remove_file("/a").is_err());
        }
    }
    for seed in 0..50 {
        Runtime::simulated(seed).run(|| {
            let there = Machine::new("there");
            let host = there.spawn(|| {
                let mut file = File::create("/a").unwrap();
                file.write_all(b"early").unwrap();
                file.sync_all().unwrap();
                let _writes = Writes(file);
                lamprey::sleep(Duration::MAX);
            });
            lamprey::sleep(Duration::from_secs(1));
            there.crash();
            assert!(host.join().is_err());
            there.restart();
            let found = there.spawn(|| (fs::read("/a").unwrap(), fs::metadata("/late").is_err()));
            assert_eq!(found.join().unwrap(), (b"early".to_vec(), true));
        });
    }
}

#[test]
fn nor_if_that_is_the_first_use_of_the_disk() {
    struct Writes;
    impl Drop for Writes {
        fn drop(&mut self) {
            assert!(fs::write("/late", "late").is_err());
        }
    }
    Runtime::simulated(1).run(|| {
        let there = Machine::new("there");
        let host = there.spawn(|| {
            let _writes = Writes;
            lamprey::sleep(Duration::MAX);
        });
        lamprey::sleep(Duration::from_secs(1));
        there.crash();
        assert!(matches!(host.join(), Err(lamprey::JoinError::Cancelled(_))));
        assert!(there.disk().durable_files().is_empty());
    });
}

#[test]
fn a_file_that_was_opened_before_is_of_no_use() {
    Runtime::simulated(1).run(|| {
        let there = Machine::new("there");
        let opened =
            there.spawn(|| OpenOptions::new().read(true).write(true).create(true).open("/a").unwrap());
        let file = opened.join().unwrap();
        there.crash();
        there.restart();
        assert!(file.sync_all().is_err() && file.write_at(b"x", 0).is_err() && file.metadata().is_err());
    });
}

#[test]
fn a_killed_program_loses_nothing_but_a_failed_machine_does() {
    let mut lost = 0;
    for seed in 0..50 {
        Runtime::simulated(seed).run(|| {
            let there = Machine::new("there");
            let write = || {
                File::create("/a").unwrap().write_all(&[1; 1000]).unwrap();
                lamprey::sleep(Duration::MAX);
            };
            let host = there.spawn(write);
            lamprey::sleep(Duration::from_secs(1));
            there.signal(Signal::KILL);
            assert!(host.join().is_err() && !there.is_up());
            there.restart();
            assert_eq!(there.spawn(|| fs::read("/a").unwrap()).join().unwrap(), [1; 1000]);
            there.crash();
            lost += u32::from(there.disk().read("/a").ok() != Some(vec![1; 1000]));
        });
    }
    assert!(lost > 10, "{lost}");
}

#[test]
fn what_a_failed_sync_was_to_write_is_lost() {
    let mut lost = 0;
    for seed in 0..50 {
        Runtime::simulated(seed).run(|| {
            let there = Machine::new("there");
            let disk = there.disk();
            let program = there.spawn(move || {
                let file = File::create("/a").unwrap();
                file.sync_all().unwrap();
                let here = Machine::here().disk();
                file.write_at(&[1; 2048], 0).unwrap();
                here.set(DiskSettings::new().sync_errors(1.0));
                assert_eq!(file.sync_all().unwrap_err().raw_os_error(), Some(libc::EIO));
                here.set(DiskSettings::new());
                // Nothing is left to write, as it seems.
                file.sync_all().unwrap();
                assert_eq!(fs::read("/a").unwrap(), [1; 2048]);
                fs::write("/b", [1; 2048]).unwrap();
                file.write_at(&[1; 512], 1536).unwrap();
                file.sync_all().unwrap();
            });
            program.join().unwrap();
            there.crash();
            let left = disk.read("/a").unwrap();
            assert_eq!((left.len(), &left[1536..]), (2048, &[1; 512][..]), "it was written again");
            lost += u32::from(left != [1; 2048]);
        });
    }
    assert!(lost > 30, "{lost}");
}

#[test]
fn a_directory_that_nobody_synced_takes_along_what_is_in_it() {
    let left = after_crash(
        100,
        || fs::create_dir("/d").and_then(|()| fs::write("/d/a", "")),
        |disk| (disk.read("/d").map_err(|error| error.kind()), disk.read("/d/a").is_ok()),
    );
    for (folder, file) in left {
        assert!(folder.is_ok() || folder == Err(ErrorKind::NotFound) && !file);
    }
    assert!(!Path::new("/d").exists());
}
