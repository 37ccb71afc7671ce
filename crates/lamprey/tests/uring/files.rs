//! Files: the calls that wait.

use crate::{Scratch, on_both, pattern};
use lamprey::fs::{Advice, AlignedBuf, File, OpenOptions, metadata, symlink_metadata};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

const BLOCK: usize = 4096;

fn direct(path: &std::path::Path) -> File {
    OpenOptions::new().read(true).write(true).custom_flags(libc::O_DIRECT).open(path).unwrap()
}

#[test]
fn reads_and_writes_that_pass_the_page_cache() {
    on_both(1, || {
        let scratch = Scratch::with("direct", &pattern(16 * BLOCK));
        let file = direct(&scratch.0);
        let mut buffer = AlignedBuf::new(2 * BLOCK).unwrap();
        assert_eq!(file.read_at(&mut buffer, 3 * BLOCK as u64).unwrap(), 2 * BLOCK);
        assert_eq!(buffer[..], pattern(16 * BLOCK)[3 * BLOCK..5 * BLOCK]);
        buffer.fill(9);
        file.write_all_at(&buffer, 0).unwrap();
        file.sync_data().unwrap();
        assert!(std::fs::read(&scratch.0).unwrap()[..2 * BLOCK].iter().all(|byte| *byte == 9));
        assert_eq!(file.read_at(&mut buffer, 16 * BLOCK as u64).unwrap(), 0, "the end");
        let crooked = file.read_at(&mut buffer[1..513], 1);
        let crooked = crooked.unwrap_err();
        assert_eq!(crooked.kind(), ErrorKind::InvalidInput);
        let text = crooked.to_string();
        assert!(text.contains("O_DIRECT") && text.contains("the offset is 1"), "{text}");
        let text = file.write_at(&buffer[..100], 0).unwrap_err().to_string();
        assert!(text.contains("its length is 100") && !text.contains("the offset is"), "{text}");
        for error in file.read_batch(&mut [(7, &mut buffer[..BLOCK])]) {
            assert!(error.unwrap_err().to_string().contains("the offset is 7"));
        }
        let error = file.read_exact_at(&mut buffer, 15 * BLOCK as u64).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    });
}

#[test]
fn futures_read_and_write_with_their_own_buffers_and_with_yours() {
    on_both(1, || {
        let scratch = Scratch::with("futures", &pattern(16 * BLOCK));
        let path = scratch.0.clone();
        lamprey::wait(async move {
            let options = OpenOptions::new().read(true).write(true).custom_flags(libc::O_DIRECT).clone();
            let file = options.open_async(&path).await.unwrap();
            let mut plain = vec![0; BLOCK]; // not aligned: the call has a buffer of its own
            assert_eq!(file.read_at_async(&mut plain, BLOCK as u64).await.unwrap(), BLOCK);
            assert_eq!(plain, pattern(2 * BLOCK)[BLOCK..]);
            let (count, buffer) = file.read_to_async(AlignedBuf::new(BLOCK).unwrap(), 0).await;
            assert_eq!((count.unwrap(), &buffer[..]), (BLOCK, &pattern(BLOCK)[..]));
            let (refused, mut buffer) = file.read_to_async(buffer, 3).await;
            assert!(refused.unwrap_err().to_string().contains("the offset is 3"));
            buffer.fill(3);
            let (count, buffer) = file.write_from_async(buffer, 0).await;
            assert_eq!((count.unwrap(), buffer.len()), (BLOCK, BLOCK));
            file.write_all_at_async(&[4; BLOCK], BLOCK as u64).await.unwrap();
            assert_eq!(file.seek_async(SeekFrom::Start(2 * BLOCK as u64)).await.unwrap(), 2 * BLOCK as u64);
            assert_eq!(file.write_async(&[5; BLOCK]).await.unwrap(), BLOCK);
            assert_eq!(file.read_async(&mut plain[..512]).await.unwrap(), 512);
            assert_eq!(plain[..512], pattern(4 * BLOCK)[3 * BLOCK..3 * BLOCK + 512]);
            file.sync_all_async().await.unwrap();
            file.sync_data_async().await.unwrap();
            file.advise_async(0..u64::MAX / 4, Advice::DontNeed).await.unwrap();
            let found = file.metadata_async().await.unwrap();
            assert_eq!(found.len(), 16 * BLOCK as u64);
            file.close_async().await.unwrap();
            let bytes = std::fs::read(&path).unwrap();
            assert_eq!((bytes[0], bytes[BLOCK], bytes[2 * BLOCK]), (3, 4, 5));
        });
    });
}

#[test]
fn the_cursor_moves_as_with_the_standard_library() {
    on_both(1, || {
        let scratch = Scratch::with("cursor", &pattern(5 * BLOCK + 17));
        let mut file = File::open(&scratch.0).unwrap();
        file.advise(0..0, Advice::Random).unwrap();
        std::fs::File::open(&scratch.0).unwrap().sync_all().unwrap();
        file.advise(0..u64::from(u32::MAX) * 4, Advice::DontNeed).unwrap(); // the first read finds nothing in memory
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        let differ = bytes.iter().zip(&pattern(5 * BLOCK + 17)).position(|(a, b)| a != b);
        assert_eq!((bytes.len(), differ), (5 * BLOCK + 17, None));
        file.seek(SeekFrom::Start(7)).unwrap();
        let mut three = [0; 3];
        file.read_exact(&mut three).unwrap();
        assert_eq!(three, pattern(10)[7..]);
        let mut log = OpenOptions::new().append(true).open(&scratch.0).unwrap();
        log.write_all(b"end").unwrap();
        log.write_all(b".").unwrap();
        assert!(std::fs::read(&scratch.0).unwrap().ends_with(b"end."));
        let mut direct_one = direct(&scratch.0);
        let mut buffer = AlignedBuf::new(BLOCK).unwrap();
        for at in 0..3 {
            direct_one.read_exact(&mut buffer).unwrap();
            assert_eq!(buffer[..], pattern(3 * BLOCK)[at * BLOCK..(at + 1) * BLOCK]);
        }
        buffer.fill(1);
        direct_one.write_all(&buffer).unwrap();
        assert_eq!(std::fs::read(&scratch.0).unwrap()[3 * BLOCK..4 * BLOCK], [1; BLOCK]);
    });
}

/// As after `write(2)`, whoever else appends.
#[test]
fn the_cursor_of_a_file_that_is_appended_to_stands_behind_the_write() {
    on_both(2, || {
        for flags in [0, libc::O_DIRECT] {
            let scratch = Scratch::with("append", b"");
            let mut options = OpenOptions::new();
            options.read(true).append(true).custom_flags(flags);
            let hosts: Vec<_> = (1..5)
                .map(|byte| {
                    let mut file = options.open(&scratch.0).unwrap();
                    lamprey::spawn(move || {
                        let mut block = AlignedBuf::new(BLOCK).unwrap();
                        block.fill(byte);
                        let mut found = AlignedBuf::new(BLOCK).unwrap();
                        for _ in 0..40 {
                            file.write_all(&block).unwrap();
                            let end = file.stream_position().unwrap();
                            file.read_exact_at(&mut found, end - BLOCK as u64).unwrap();
                            assert!(
                                found[..] == block[..],
                                "what is before the cursor was written by another"
                            );
                        }
                    })
                })
                .collect();
            hosts.into_iter().for_each(|host| host.join().unwrap());
            assert_eq!(std::fs::metadata(&scratch.0).unwrap().len(), 160 * BLOCK as u64);
        }
    });
}

#[test]
fn a_batch_has_a_result_for_each_part() {
    on_both(1, || {
        let bytes = pattern(700 * BLOCK);
        let scratch = Scratch::with("batch", &bytes);
        let file = direct(&scratch.0);
        let mut buffers: Vec<_> = (0..600).map(|_| AlignedBuf::new(BLOCK).unwrap()).collect(); // more than a ring has
        let at = |part: usize| (part * 37 % 700) as u64 * BLOCK as u64;
        let mut parts: Vec<_> =
            buffers.iter_mut().enumerate().map(|(part, buffer)| (at(part), &mut buffer[..])).collect();
        parts[5].0 = u64::MAX; // beyond all files
        parts[6].0 = 7_000 * BLOCK as u64; // beyond this one
        let counts = file.read_batch(&mut parts);
        for (part, count) in counts.into_iter().enumerate() {
            match part {
                5 => assert_eq!(count.unwrap_err().kind(), ErrorKind::InvalidInput),
                6 => assert_eq!(count.unwrap(), 0),
                _ => {
                    let start = at(part) as usize;
                    assert_eq!(count.unwrap(), BLOCK);
                    assert!(buffers[part][..] == bytes[start..start + BLOCK], "part {part}");
                }
            }
        }
        let one = AlignedBuf::new(BLOCK).unwrap();
        let written = file.write_batch(&[(0, &one), (8 * BLOCK as u64, &one)]);
        assert!(written.into_iter().all(|count| count.unwrap() == BLOCK));
        assert_eq!(std::fs::read(&scratch.0).unwrap()[8 * BLOCK..9 * BLOCK], [0; BLOCK]);
        assert!(file.write_batch(&[(u64::MAX, &one)]).remove(0).is_err());
        assert_eq!(std::fs::read(&scratch.0).unwrap().len(), 700 * BLOCK);
        assert!(file.read_batch(&mut []).is_empty() && file.write_batch(&[]).is_empty());
    });
}

#[test]
fn files_are_opened_as_the_options_say() {
    on_both(1, || {
        let scratch = Scratch::with("open", b"old");
        let fails = |options: &OpenOptions| options.open(&scratch.0).map(drop).unwrap_err().kind();
        assert_eq!(fails(OpenOptions::new().write(true).create_new(true)), ErrorKind::AlreadyExists);
        assert_eq!(fails(&OpenOptions::new()), ErrorKind::InvalidInput);
        assert_eq!(fails(OpenOptions::new().read(true).truncate(true)), ErrorKind::InvalidInput);
        assert_eq!(fails(OpenOptions::new().append(true).truncate(true)), ErrorKind::InvalidInput);
        let gone = scratch.0.with_extension("gone");
        assert_eq!(File::open(&gone).map(drop).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(File::open("a\0b").map(drop).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(lamprey::wait(File::open_async(&gone)).map(drop).unwrap_err().kind(), ErrorKind::NotFound);
        let made = OpenOptions::new().write(true).create(true).mode(0o600).open(&gone).unwrap();
        assert_eq!(made.metadata().unwrap().mode() & 0o777, 0o600);
        made.close().unwrap();
        std::fs::remove_file(&gone).unwrap();
        drop(File::create(&scratch.0).unwrap());
        assert_eq!(metadata(&scratch.0).unwrap().len(), 0);
    });
}

#[test]
fn metadata_are_those_of_the_standard_library() {
    on_both(1, || {
        let scratch = Scratch::with("metadata", b"twelve bytes");
        let theirs = std::fs::metadata(&scratch.0).unwrap();
        let asked = lamprey::wait(lamprey::fs::metadata_async(&scratch.0)).unwrap();
        for ours in
            [metadata(&scratch.0).unwrap(), File::open(&scratch.0).unwrap().metadata().unwrap(), asked]
        {
            assert_eq!((ours.len(), ours.ino(), ours.dev()), (12, theirs.ino(), theirs.dev()));
            assert_eq!(
                (ours.mode(), ours.nlink(), ours.uid()),
                (theirs.mode(), theirs.nlink(), theirs.uid())
            );
            assert_eq!(
                (ours.gid(), ours.blocks(), ours.blksize()),
                (theirs.gid(), theirs.blocks(), theirs.blksize())
            );
            assert_eq!(ours.modified().unwrap(), theirs.modified().unwrap());
            assert_eq!(ours.created().ok(), theirs.created().ok());
            assert_eq!(ours.permissions().mode(), theirs.permissions().mode());
            assert!(ours.is_file() && !ours.is_dir() && !ours.is_symlink());
        }
        let link = scratch.0.with_extension("link");
        std::os::unix::fs::symlink(&scratch.0, &link).unwrap();
        assert!(symlink_metadata(&link).unwrap().is_symlink() && metadata(&link).unwrap().is_file());
        assert!(lamprey::wait(lamprey::fs::symlink_metadata_async(&link)).unwrap().is_symlink());
        std::fs::remove_file(&link).unwrap();
        assert_eq!(metadata(&link).unwrap_err().kind(), ErrorKind::NotFound);
        for missing in [metadata(""), lamprey::wait(lamprey::fs::symlink_metadata_async(""))] {
            assert_eq!(missing.unwrap_err().kind(), ErrorKind::NotFound);
        }
    });
}

#[test]
fn with_io_uring_no_call_of_a_file_needs_a_pool_thread() {
    if lamprey::Io::Uring.check().is_err() {
        return eprintln!("NOT CHECKED: no io_uring");
    }
    const NAME: &str = "with_io_uring_no_call_of_a_file_needs_a_pool_thread";
    if crate::common::role().is_none() {
        let output = crate::common::again(NAME, "child").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    crate::runtime_with(lamprey::Io::Uring, 1).run(|| {
        let scratch = Scratch::with("pool", &pattern(8 * BLOCK));
        let file = direct(&scratch.0);
        let mut buffer = AlignedBuf::new(BLOCK).unwrap();
        file.read_exact_at(&mut buffer, 0).unwrap();
        file.write_all_at(&buffer, 0).unwrap();
        file.sync_all().unwrap();
        file.metadata().unwrap();
        file.advise(0..4096, Advice::WillNeed).unwrap();
        file.read_batch(&mut [(0, &mut buffer)]).remove(0).unwrap();
        lamprey::wait(file.read_to_async(buffer, 0)).0.unwrap();
        file.close().unwrap();
        lamprey::wait(File::open_async(&scratch.0)).unwrap();
        let names: Vec<_> = std::fs::read_dir("/proc/self/task")
            .unwrap()
            .filter_map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")).ok())
            .collect();
        assert!(
            !names.iter().any(|name| name.starts_with("lamprey-pool") || name.starts_with("lamprey-files")),
            "{names:?}"
        );
        lamprey::block(|| ());
    });
}
