//! A simulated disk against a real one: the same calls have the same results.

use lamprey::Runtime;
use lamprey::fs::{self, File, OpenOptions};
use std::fs::Permissions;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Runs calls by chance below `root`, and says what each has returned.
fn program(root: &Path, seed: u64) -> Vec<String> {
    let mut chance = fastrand::Rng::with_seed(seed);
    let mut files: Vec<File> = Vec::new();
    (0..300).map(|_| step(root, &mut chance, &mut files)).collect()
}

/// A path of a small set: files, directories, what is below files, what ends with a slash.
fn path(root: &Path, chance: &mut fastrand::Rng) -> PathBuf {
    let name = chance.choice([
        "a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "a/b", "d/../a", "./b", "d/", "a/", "d/e/../a",
    ]);
    root.join(name.unwrap_or_default())
}

fn step(root: &Path, chance: &mut fastrand::Rng, files: &mut Vec<File>) -> String {
    let (one, other) = (path(root, chance), path(root, chance));
    let bytes = vec![chance.u8(..); chance.usize(..3000)];
    let mut buf = vec![0; chance.usize(..3000)];
    let offset = chance.u64(..4000);
    let which = chance.usize(..files.len().max(1));
    let call = chance.u32(..23);
    let Some(file) = files.get_mut(which) else { return open(&one, chance, files) };
    let done = match call {
        0 | 1 => open(&one, chance, files),
        2 => shown(&files.swap_remove(which).close()),
        3 => shown(&fs::create_dir(&one)),
        4 => shown(&fs::create_dir_all(&one)),
        5 => shown(&fs::remove_file(&one)),
        6 => shown(&fs::remove_dir(&one)),
        7 => shown(&fs::rename(&one, &other)),
        8 => shown(
            &fs::metadata(&one).map(|found| (found.is_dir(), if found.is_file() { found.len() } else { 0 })),
        ),
        9 => shown(&fs::read_dir(&one).map(|names| {
            let listed = |entry: fs::DirEntry| (entry.file_name(), entry.file_type().unwrap().is_dir());
            let mut names: Vec<_> = names.map(|entry| listed(entry.unwrap())).collect();
            names.sort();
            names
        })),
        10 => shown(&file.write(&bytes)),
        11 => shown(&file.read(&mut buf).map(|count| buf[..count].to_vec())),
        12 => shown(&file.write_at(&bytes, offset)),
        13 => shown(&file.read_at(&mut buf, offset).map(|count| buf[..count].to_vec())),
        14 => shown(&file.set_len(offset)),
        15 => shown(&fs::remove_dir_all(&one)),
        16 => shown(&fs::copy(&one, &other)),
        17 => shown(&fs::exists(&one)),
        18 => shown(&fs::canonicalize(&one).map(|found| found.strip_prefix(root).map(Path::to_owned))),
        19 => shown(&fs::read_link(&one)),
        20 => shown(&fs::set_permissions(&one, Permissions::from_mode(0o700 + chance.u32(..0o77)))),
        _ => match chance.u32(..3) {
            0 => shown(&file.seek(SeekFrom::Current(-(offset.cast_signed())))),
            1 => shown(&file.seek(SeekFrom::End(0))),
            _ => shown(&file.metadata().map(|found| (found.len(), found.nlink(), found.mode()))),
        },
    };
    let name = |path: &Path| path.strip_prefix(root).map(Path::to_owned);
    format!("{call} {:?} {:?}: {done}", name(&one), name(&other))
}

fn open(path: &Path, chance: &mut fastrand::Rng, files: &mut Vec<File>) -> String {
    let mut options = OpenOptions::new();
    options.read(chance.bool()).write(chance.bool()).append(chance.u32(..4) == 0);
    options.truncate(chance.u32(..4) == 0).create(chance.bool()).create_new(chance.u32(..4) == 0);
    let opened = options.open(path).and_then(|file| {
        let is_folder = file.metadata()?.is_dir();
        // What is read of a directory is up to the file system.
        if !is_folder {
            files.push(file);
        }
        Ok(is_folder)
    });
    shown(&opened)
}

/// A result, with the number of the error in place of its text.
fn shown<T: std::fmt::Debug>(result: &io::Result<T>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!("{:?}", (error.raw_os_error(), error.kind())),
    }
}

#[test]
fn the_same_calls_have_the_same_results() {
    let root = std::env::temp_dir().join(format!("lamprey-sim-disk-{}", std::process::id()));
    for seed in 0..150 {
        std::fs::create_dir(&root).unwrap();
        let real = lamprey::run(|| program(&root, seed));
        std::fs::remove_dir_all(&root).unwrap();
        let simulated = Runtime::simulated(seed).run(|| {
            fs::create_dir("/r").unwrap();
            program(Path::new("/r"), seed)
        });
        for (at, (real, simulated)) in real.iter().zip(&simulated).enumerate() {
            assert_eq!(real, simulated, "call {at} of seed {seed}");
        }
    }
}
