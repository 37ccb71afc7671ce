//! A simulated disk: directories, permissions, times and locks; what it has not says so.

use lamprey::fs::{self, DirBuilder, File, FileTimes};
use lamprey::sim::{DiskSettings, Machine};
use lamprey::{Runtime, spawn};
use std::fs::{Permissions, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

#[test]
fn a_link_is_refused_with_what_to_do_instead() {
    Runtime::simulated(1).run(|| {
        fs::write("/a", "b").unwrap();
        let errors = [fs::hard_link("/a", "/new").unwrap_err(), fs::symlink("/a", "/new").unwrap_err()];
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(
                error.to_string().contains("\"/new\"") && error.to_string().contains("fs::copy"),
                "{error}"
            );
        }
        assert_eq!(
            lamprey::wait(fs::symlink_async("/a", "/new")).unwrap_err().kind(),
            ErrorKind::Unsupported
        );
        assert_eq!(fs::read_link("/a").unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(fs::read_link("/new").unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(fs::canonicalize("tmp/../a").unwrap(), Path::new("/a"));
        fs::copy("/a", "/new").unwrap();
        assert_eq!(fs::read("/new").unwrap(), b"b");
    });
}

#[test]
fn permissions_and_times_are_kept() {
    Runtime::simulated(1).run(|| {
        let file = File::create("/a").unwrap();
        file.set_permissions(Permissions::from_mode(0o640)).unwrap();
        assert_eq!(fs::metadata("/a").unwrap().mode() & 0o7777, 0o640);
        fs::set_permissions("/a", Permissions::from_mode(0o600)).unwrap();
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(77);
        let later = at + Duration::from_secs(1);
        file.set_times(FileTimes::new().set_accessed(at)).unwrap();
        file.set_modified(later).unwrap();
        let found = file.metadata().unwrap();
        assert_eq!((found.mode() & 0o7777, found.accessed().unwrap()), (0o600, at));
        assert_eq!(found.modified().unwrap(), later);
        DirBuilder::new().recursive(true).mode(0o700).create("/d/e").unwrap();
        assert_eq!(fs::metadata("/d").unwrap().mode() & 0o7777, 0o700);
    });
}

#[test]
fn async_forms_do_the_same() {
    for seed in 0..20 {
        Runtime::simulated(seed).run(|| {
            lamprey::wait(async {
                fs::create_dir_all_async("/d/e/f").await?;
                fs::create_dir_all_async("/d/e").await?;
                fs::write_async("/d/e/a", b"text".to_vec()).await?;
                assert_eq!(fs::copy_async("/d/e/a", "/d/b").await?, 4);
                let mut names = Vec::new();
                let mut entries = fs::read_dir_async("/d").await?;
                while let Some(entry) = entries.next_entry_async().await? {
                    names.push((entry.path(), entry.file_type()?.is_dir()));
                }
                assert_eq!(names, [("/d/b".into(), false), ("/d/e".into(), true)]);
                fs::remove_dir_all_async("/d").await?;
                assert!(!fs::exists_async("/d").await?);
                std::io::Result::Ok(())
            })
            .unwrap();
        });
    }
}

#[test]
fn a_lock_is_waited_for_in_the_simulations_time() {
    for seed in 0..5 {
        Runtime::simulated(seed).run(|| {
            let one = File::create("/lock").unwrap();
            one.lock().unwrap();
            let waits = spawn(|| {
                let other = File::open("/lock").unwrap();
                assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
                assert_eq!(
                    other.lock_timeout(Duration::from_secs(5)).unwrap_err().kind(),
                    ErrorKind::TimedOut
                );
                other.lock().unwrap();
                fs::read_to_string("/lock").unwrap()
            });
            lamprey::sleep(Duration::from_secs(60));
            fs::write("/lock", "a minute later").unwrap();
            one.unlock().unwrap();
            assert_eq!(waits.join().unwrap(), "a minute later");
        });
    }
}

#[test]
fn a_machine_that_fails_lets_go_of_its_locks() {
    Runtime::simulated(3).run(|| {
        let there = Machine::new("there");
        there.disk().write("/lock", "").unwrap();
        let holds = there.spawn(|| {
            let file = File::open("/lock").unwrap();
            file.lock().unwrap();
            lamprey::sleep(Duration::MAX);
        });
        lamprey::sleep(Duration::from_secs(1));
        there.crash();
        assert!(holds.join().is_err());
        there.restart();
        there.spawn(|| File::open("/lock").unwrap().lock_timeout(Duration::ZERO).unwrap()).join().unwrap();
    });
}

#[test]
fn trees_are_removed_even_if_calls_fail_and_are_repeated() {
    for seed in 0..50 {
        Runtime::simulated(seed).disk(DiskSettings::new().write_errors(0.2)).run(|| {
            let repeat = |call: &dyn Fn() -> std::io::Result<()>| while call().is_err() {};
            repeat(&|| fs::create_dir_all("/d/e/f"));
            repeat(&|| fs::write("/d/e/a", "text"));
            repeat(&|| fs::remove_dir_all("/d"));
            assert!(!fs::exists("/d").unwrap());
        });
    }
}
