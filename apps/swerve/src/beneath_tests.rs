use super::*;
use std::os::unix::fs::symlink;

/// A folder beside a secret file, with links of every kind; opened with both ways to resolve names.
fn site() -> (tempfile::TempDir, [Root; 2]) {
    let temp = tempfile::tempdir().unwrap();
    let site = temp.path().join("site");
    std::fs::create_dir_all(site.join("sub")).unwrap();
    std::fs::write(temp.path().join("secret"), "secret").unwrap();
    std::fs::write(site.join("sub/a"), "a").unwrap();
    symlink("sub/a", site.join("inside")).unwrap();
    symlink("../secret", site.join("outside")).unwrap();
    symlink(temp.path().join("secret"), site.join("absolute")).unwrap();
    symlink(site.join("sub/a"), site.join("absolute-inside")).unwrap();
    symlink("..", site.join("up")).unwrap();
    symlink("loop", site.join("loop")).unwrap();
    symlink("/proc/self/fd/0", site.join("magic")).unwrap();
    symlink("nowhere", site.join("dangling")).unwrap();
    let kernel = Root::open(&site).unwrap();
    let own = Root { path: kernel.path.clone(), kernel_resolves: false };
    (temp, [kernel, own])
}

#[test]
fn plain_files_open() {
    let (_temp, roots) = site();
    for root in roots {
        assert!(root.open_file(b"sub/a").is_ok());
        assert!(root.open_file(b"sub").is_ok());
        assert_eq!(root.open_file(b"nope").unwrap_err(), Errno::NOENT);
        assert_eq!(root.open_file(b"sub/a/b").unwrap_err(), Errno::NOTDIR);
        assert_eq!(root.open_file(&[b'x'; 300]).unwrap_err(), Errno::NAMETOOLONG);
    }
}

#[test]
fn links_out_are_refused_by_both() {
    let (_temp, roots) = site();
    for root in roots {
        for name in [
            "outside",
            "absolute",
            "absolute-inside",
            "up/secret",
            "loop",
            "magic",
            "../secret",
            "/etc/passwd",
            "sub/../../secret",
        ] {
            assert!(
                root.open_file(name.as_bytes()).is_err(),
                "{name}, kernel_resolves {}",
                root.kernel_resolves
            );
        }
    }
}

#[test]
fn links_inside_work_where_the_kernel_resolves() {
    let (_temp, [kernel, own]) = site();
    assert!(!kernel.kernel_resolves || kernel.open_file(b"inside").is_ok());
    assert!(own.open_file(b"inside").is_err());
}

#[test]
fn a_pipe_does_not_hang() {
    let (_temp, roots) = site();
    let path = roots[0].path.join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    for root in roots {
        assert!(root.open_file(b"pipe").is_ok());
    }
}

#[test]
fn a_folder_built_anew_is_seen() {
    let (_temp, [root, _]) = site();
    std::fs::remove_dir_all(&root.path).unwrap();
    assert_eq!(root.open_file(b"sub/a").unwrap_err(), Errno::NOENT);
    std::fs::create_dir_all(root.path.join("sub")).unwrap();
    std::fs::write(root.path.join("sub/a"), "b").unwrap();
    assert!(root.open_file(b"sub/a").is_ok());
}

#[test]
fn a_file_or_nothing_is_no_root() {
    let (temp, _) = site();
    assert_eq!(Root::open(&temp.path().join("secret")).err().unwrap().kind(), io::ErrorKind::NotADirectory);
    assert_eq!(Root::open(&temp.path().join("nope")).err().unwrap().kind(), io::ErrorKind::NotFound);
}
