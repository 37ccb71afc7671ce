//! A program of light threads of the JVM, whose endpoint serves the same page.

use crate::program::Program;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A program on a JVM. It is killed when this is dropped.
pub struct Jvm {
    /// The program.
    pub program: Program,
    _folder: TempDir,
}

impl Jvm {
    /// Compiles `java/Watched.java`, transforms it with what Maven has built in the folder java/, and starts it. The names are for threads of it.
    ///
    /// # Panics
    /// If there is no JDK, java/ has not been built, or the program does not start.
    pub fn start(names: &[&str]) -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let core = jar("core", "lamprey-core-", ".jar");
        let transform = jar("transform", "lamprey-transform-", "-cli.jar");
        let folder = tempfile::tempdir().unwrap();
        let classes = folder.path().to_str().unwrap();
        let source = here.join("java/Watched.java");
        // The page shows where the source is, so its file has a name.
        run(&jdk("javac"), &["-nowarn", "-g", "-cp", &core, "-d", classes, source.to_str().unwrap()]);
        run(&jdk("java"), &["-jar", &transform, "--classpath", &core, classes]);
        let path = format!("{classes}:{core}");
        let options = ["-Xmx256m", "-Dlamprey.carriers=2", "-cp", &path, "Watched"];
        let program = Program::start(&jdk("java"), &[&options[..], names].concat());
        Self { program, _folder: folder }
    }
}

fn jdk(tool: &str) -> String {
    match env::var_os("JAVA_HOME") {
        Some(home) => Path::new(&home).join("bin").join(tool).to_str().unwrap().to_owned(),
        None => tool.to_owned(),
    }
}

/// The path of a jar that Maven has built.
fn jar(module: &str, begin: &str, end: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../java").join(module).join("target");
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap_or_default();
        let version = name.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end));
        version.is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
    };
    let found =
        fs::read_dir(&folder).ok().and_then(|files| files.map(|file| file.unwrap().path()).find(is_it));
    let found = found.unwrap_or_else(|| {
        panic!(
            "no {begin}VERSION{end} is in {}: build it, mvn -f java/pom.xml install -DskipTests",
            folder.display()
        )
    });
    found.to_str().unwrap().to_owned()
}

fn run(program: &str, arguments: &[&str]) {
    let done = Command::new(program).args(arguments).output();
    let done = done.unwrap_or_else(|error| panic!("{program}: {error}; install a JDK, or set JAVA_HOME"));
    assert!(
        done.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&[done.stdout, done.stderr].concat())
    );
}
