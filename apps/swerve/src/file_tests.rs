use super::*;
use std::path::Path;
use std::time::Duration;
use std::time::SystemTime;

fn folder() -> (tempfile::TempDir, Root) {
    let temp = tempfile::tempdir().unwrap();
    let root = Root::open(temp.path()).unwrap();
    (temp, root)
}

fn file(root: &Root, name: &str, known: Option<Arc<File>>) -> Arc<File> {
    match find(root, name.as_bytes(), known, 1000) {
        Ok(Found::File(file)) => file,
        Ok(Found::Folder) => panic!("{name} is a folder"),
        Err(status) => panic!("{name}: {status:?}"),
    }
}

fn bytes(file: &File) -> &[u8] {
    match &file.content {
        Content::Whole(bytes) => bytes,
        Content::Open(_) => panic!("not in memory"),
    }
}

fn write_dated(path: &Path, text: &str, seconds_ago: u64) {
    std::fs::write(path, text).unwrap();
    let then = SystemTime::now() - Duration::from_secs(seconds_ago);
    std::fs::File::options().append(true).open(path).unwrap().set_modified(then).unwrap();
}

#[test]
fn small_files_are_read_and_large_ones_opened() {
    let (temp, root) = folder();
    std::fs::write(temp.path().join("small.txt"), vec![b'x'; 1000]).unwrap();
    std::fs::write(temp.path().join("large"), vec![b'x'; 1001]).unwrap();
    let small = file(&root, "small.txt", None);
    assert_eq!((bytes(&small).len(), small.length()), (1000, 1000));
    let fields = String::from_utf8(small.fields().to_vec()).unwrap();
    assert!(
        fields.starts_with(
            "Content-Type: text/plain; charset=utf-8\r\nContent-Length: 1000\r\nLast-Modified: "
        ),
        "{fields}"
    );
    assert!(String::from_utf8_lossy(small.validator_lines()).starts_with("Last-Modified: "));
    let large = file(&root, "large", None);
    assert!(matches!(large.content, Content::Open(_)));
    assert_eq!(large.length(), 1001);
}

#[test]
fn a_file_that_was_just_written_is_read_again_even_if_its_stamp_is_the_same() {
    let (temp, root) = folder();
    std::fs::write(temp.path().join("a"), "one").unwrap();
    let first = file(&root, "a", None);
    assert!(!first.settled);
    let second = file(&root, "a", Some(first.clone()));
    assert!(!Arc::ptr_eq(&first, &second));
    assert_eq!(first.validators().tag(), second.validators().tag(), "the same bytes");
}

#[test]
fn a_settled_file_is_known_again_until_it_changes() {
    let (temp, root) = folder();
    let path = temp.path().join("a");
    std::fs::write(&path, "one").unwrap();
    let fd = root.open_file(b"a").unwrap();
    let stamp = Stamp::of(&rustix::fs::fstat(&fd).unwrap());
    // A time at which the change is old.
    let later = SystemTime::now() + Duration::from_secs(10);
    let known = Arc::new(File::new(b"a", Content::Whole(b"one".to_vec()), stamp, later));
    assert!(known.settled);
    assert!(Arc::ptr_eq(&known, &file(&root, "a", Some(known.clone()))));
    // Same length and same modification time: the change time still tells.
    write_dated(&path, "two", 0);
    std::fs::File::options().append(true).open(&path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    let changed = file(&root, "a", Some(known.clone()));
    assert_eq!(bytes(&changed), b"two");
    assert_ne!(changed.validators().tag(), known.validators().tag());
}

#[test]
fn a_file_replaced_by_its_like_is_another() {
    let (temp, root) = folder();
    // In memory, and streamed.
    for length in [100, 5000] {
        write_dated(&temp.path().join("a"), &"a".repeat(length), 100_000);
        let time = std::fs::metadata(temp.path().join("a")).unwrap().modified().unwrap();
        let known = file(&root, "a", None);
        std::fs::write(temp.path().join("b"), "b".repeat(length)).unwrap();
        std::fs::File::options()
            .append(true)
            .open(temp.path().join("b"))
            .unwrap()
            .set_modified(time)
            .unwrap();
        std::fs::rename(temp.path().join("b"), temp.path().join("a")).unwrap();
        let other = file(&root, "a", Some(known.clone()));
        assert_eq!(other.validators().modified(), known.validators().modified());
        assert_ne!(other.validators().tag(), known.validators().tag());
    }
}

#[test]
fn a_file_from_the_future_is_as_old_as_the_clock() {
    let (temp, root) = folder();
    let path = temp.path().join("a");
    std::fs::write(&path, "x").unwrap();
    let future = SystemTime::now() + Duration::from_secs(100_000);
    std::fs::File::options().append(true).open(&path).unwrap().set_modified(future).unwrap();
    assert!(file(&root, "a", None).validators().modified() <= crate::date::seconds(SystemTime::now()));
}

#[test]
fn what_is_no_file_has_its_status() {
    let (temp, root) = folder();
    std::fs::create_dir(temp.path().join("sub")).unwrap();
    assert!(matches!(find(&root, b"sub", None, 1000), Ok(Found::Folder)));
    assert_eq!(find(&root, b"nope", None, 1000).err(), Some(Status::NotFound));
    assert_eq!(find(&root, b"sub/nope/x", None, 1000).err(), Some(Status::NotFound));
    let _socket = std::os::unix::net::UnixListener::bind(temp.path().join("socket")).unwrap();
    assert_eq!(find(&root, b"socket", None, 1000).err(), Some(Status::Forbidden));
    std::os::unix::fs::symlink("/etc/passwd", temp.path().join("link")).unwrap();
    assert_eq!(find(&root, b"link", None, 1000).err(), Some(Status::Forbidden));
}

#[test]
fn read_at_gives_less_only_at_the_end() {
    let (temp, root) = folder();
    std::fs::write(temp.path().join("a"), "0123456789").unwrap();
    let fd = root.open_file(b"a").unwrap();
    let mut buffer = [0; 8];
    assert_eq!(read_at(&fd, &mut buffer, 0).unwrap(), 8);
    assert_eq!(read_at(&fd, &mut buffer, 8).unwrap(), 2);
    assert_eq!(&buffer[..2], b"89");
    assert_eq!(read_at(&fd, &mut buffer, 10).unwrap(), 0);
}
