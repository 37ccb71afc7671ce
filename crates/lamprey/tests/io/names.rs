//! Names of files, directories, and files as a whole.

use crate::common::*;
use lamprey::fs::{self, File};
use std::io::ErrorKind;
use std::path::PathBuf;

/// A directory of its own, which goes when this is dropped.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lamprey-names-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_are_made_renamed_and_removed() {
    run(1, || {
        let folder = Folder::new("files");
        let (a, b) = (folder.0.join("a"), folder.0.join("b"));
        fs::write(&a, "new").unwrap();
        fs::write(&b, "a longer old one").unwrap();
        fs::rename(&a, &b).unwrap();
        assert_eq!(fs::read(&a).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(fs::read_to_string(&b).unwrap(), "new");
        File::open(&folder.0).unwrap().sync_all().unwrap();
        let names = fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["b"]);
        fs::remove_file(&b).unwrap();
        assert_eq!(fs::remove_file(&b).unwrap_err().kind(), ErrorKind::NotFound);
        fs::write(&a, [0xff]).unwrap();
        assert_eq!(fs::read_to_string(&a).unwrap_err().kind(), ErrorKind::InvalidData);
    });
}

#[test]
fn directories_are_made_and_removed() {
    run(1, || {
        let folder = Folder::new("directories");
        let inner = folder.0.join("a/b/c");
        assert_eq!(fs::create_dir(&inner).unwrap_err().kind(), ErrorKind::NotFound);
        fs::create_dir_all(&inner).unwrap();
        fs::create_dir_all(&inner).unwrap();
        assert_eq!(fs::create_dir(&inner).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::remove_dir(folder.0.join("a")).unwrap_err().kind(), ErrorKind::DirectoryNotEmpty);
        fs::remove_dir(&inner).unwrap();
        assert_eq!(fs::read_dir(&inner).unwrap_err().kind(), ErrorKind::NotFound);
    });
}

#[test]
fn in_async_code() {
    run(1, || {
        let folder = Folder::new("async");
        let at = |name: &str| folder.0.join(name);
        lamprey::wait(async {
            fs::create_dir_async(at("d")).await?;
            fs::write_async(at("d/a"), b"text".to_vec()).await?;
            fs::rename_async(at("d/a"), at("d/b")).await?;
            assert_eq!(fs::read_async(at("d/b")).await?, b"text");
            assert_eq!(fs::read_to_string_async(at("d/b")).await?, "text");
            let mut entries = fs::read_dir_async(at("d")).await?;
            assert_eq!(entries.next_entry_async().await?.unwrap().path(), at("d/b"));
            assert!(entries.next_entry_async().await?.is_none());
            fs::remove_file_async(at("d/b")).await?;
            fs::remove_dir_async(at("d")).await?;
            std::io::Result::Ok(())
        })
        .unwrap();
    });
}

#[test]
fn a_host_that_is_cancelled_before_does_nothing() {
    run(1, || {
        let folder = Folder::new("cancelled");
        let path = folder.0.join("a");
        let theirs = path.clone();
        let host = lamprey::spawn(move || fs::write(theirs, "late"));
        host.cancel();
        assert!(host.join().is_err());
        assert!(!path.exists());
    });
}
