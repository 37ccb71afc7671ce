//! `cargo run -p programs`: builds each program of README.md and docs/ (the site's front page and the guide among them), and each example, in a package
//! outside of the workspace, with Cargo's own profiles `dev` and `release`, and runs it. Fails if a program
//! does not build, ends with an error, or takes longer than [`LIMIT`]. The workspace's tests do not cover the
//! stack use of unoptimised code, because the workspace's profile `dev` is optimised.
//!
//! All programs are modules of one binary, which the compiler and the linker are done with sooner than with one for each: its name, of
//! which there is a hard link for each program, says which one it is.
//!
//! The guide's chapters about large libraries are left to the doctests of `interop`.
//!
//! A program that is marked `no_run` serves for ever: it must still run after [`A_WHILE`].

mod chapters;
mod extract;
#[cfg(test)]
mod names;
#[cfg(test)]
mod outside;
#[cfg(test)]
mod rejected;
mod run;

use extract::Program;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;
use std::{env, fs, io};

/// The crates beside Lamprey, with the features that the text beside their programs names.
const OTHERS: &str = "rayon = \"1\"\nrustix = { version = \"1\", features = [\"event\", \"fs\", \"process\"] }\n\
     async-channel = \"2\"\n\
     futures = { version = \"0.3\", default-features = false, features = [\"async-await\", \"executor\"] }\n\
     tokio = { version = \"1\", features = [\"rt\", \"rt-multi-thread\", \"sync\", \"time\"] }\n";
/// The maximum time of a program, on a loaded machine.
const LIMIT: Duration = Duration::from_secs(120);
/// The end of each program's file: what `main` returns, as `std` would report it.
const ENTRY: &str =
    "\npub fn entry() -> std::process::ExitCode {\n    std::process::Termination::report(main())\n}\n";
/// The name of the binary.
const PACKAGE: &str = "programs-of-the-docs";
/// The time for which an endless program is run.
const A_WHILE: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace");
    let outcome = collect(&root).and_then(|programs| {
        let place = write_package(&root, &programs)?;
        let wrong = ["dev", "release"].map(|profile| check(&place, profile, &programs));
        Ok((programs.len(), wrong.into_iter().collect::<io::Result<Vec<_>>>()?.concat()))
    });
    match outcome {
        Ok((count, wrong)) if wrong.is_empty() => {
            println!("{count} programs run, in dev and in release");
            ExitCode::SUCCESS
        }
        Ok((_, wrong)) => {
            eprintln!("{} programs failed:\n{}", wrong.len(), wrong.join("\n"));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("programs: {error}");
            ExitCode::FAILURE
        }
    }
}

/// All programs, in the order of their files.
fn collect(root: &Path) -> io::Result<Vec<Program>> {
    let mut files = vec![root.join("README.md")];
    list(&root.join("docs"), "md", &mut files)?;
    let mut programs = Vec::new();
    let of_interop = chapters::of_interop(root)?;
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        if of_interop.iter().any(|chapter| *chapter == *name) {
            continue;
        }
        let text = fs::read_to_string(&file)?;
        programs.extend(extract::programs(&name_of(root, &file), &text));
    }
    let (mut examples, folder) = (Vec::new(), root.join("crates/lamprey/examples"));
    list(&folder, "rs", &mut examples)?;
    // Those in folders are tried elsewhere: the ones that are to fail by the tests, the one with a page by `page-test`.
    for file in examples.into_iter().filter(|file| file.parent() == Some(&folder)) {
        programs.push(Program::whole(&name_of(root, &file), &fs::read_to_string(&file)?));
    }
    if programs.len() < 20 {
        return Err(io::Error::other(format!("only {} programs were found", programs.len())));
    }
    Ok(programs)
}

/// Adds the files in `folder`, and below it, whose names have this ending.
fn list(folder: &Path, ending: &str, into: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            list(&path, ending, into)?;
        } else if path.extension().is_some_and(|found| found == ending) {
            into.push(path);
        }
    }
    Ok(())
}

/// `docs/guide/a-b.md` becomes `docs_guide_a_b`.
fn name_of(root: &Path, file: &Path) -> String {
    let path = file.strip_prefix(root).unwrap_or(file).with_extension("");
    path.to_string_lossy().replace(|c: char| !c.is_ascii_alphanumeric(), "_").to_lowercase()
}

/// Creates the package, and returns its folder.
fn write_package(root: &Path, programs: &[Program]) -> io::Result<PathBuf> {
    let place = env::temp_dir().join(format!("lamprey-programs-{}", std::process::id()));
    let sources = place.join("src");
    fs::create_dir_all(&sources)?;
    let lamprey = root.join("crates/lamprey");
    let manifest = format!(
        "[package]\nname = {PACKAGE:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\nlamprey = {{ path = {lamprey:?} }}\n{OTHERS}"
    );
    fs::write(place.join("Cargo.toml"), manifest)?;
    // The versions of other crates with which the workspace is tested.
    fs::copy(root.join("Cargo.lock"), place.join("Cargo.lock"))?;
    fs::write(sources.join("main.rs"), dispatcher(programs))?;
    for program in programs {
        fs::write(sources.join(format!("{}.rs", program.name)), program.text.clone() + ENTRY)?;
    }
    Ok(place)
}

/// Calls the program that the binary is named after.
fn dispatcher(programs: &[Program]) -> String {
    let modules: String = programs.iter().map(|program| format!("mod {};\n", program.name)).collect();
    let arms: String = programs
        .iter()
        .map(|Program { name, .. }| format!("        {name:?} => {name}::entry(),\n"))
        .collect();
    format!(
        "{modules}\nfn main() -> std::process::ExitCode {{\n    let name = std::env::args().next().unwrap_or_default();\n    \
         match name.rsplit('/').next().unwrap_or_default() {{\n{arms}        _ => panic!(\"no program {{name}}\"),\n    }}\n}}\n"
    )
}

/// Builds and runs all programs; returns a line for each failure.
fn check(place: &Path, profile: &str, programs: &[Program]) -> io::Result<Vec<String>> {
    let target = place.join("target");
    let mut build = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build
        .args(["build", "--quiet", "--profile", profile])
        .current_dir(place)
        .env("CARGO_TARGET_DIR", &target);
    println!("+ {build:?}");
    if !build.status()?.success() {
        return Err(io::Error::other(format!("the programs do not build (see {})", place.display())));
    }
    let folder = target.join(if profile == "dev" { "debug" } else { profile });
    let mut wrong = Vec::new();
    for program in programs {
        fs::hard_link(folder.join(PACKAGE), folder.join(&program.name))?;
        let limit = if program.is_endless { A_WHILE } else { LIMIT };
        let outcome = run::run(&folder.join(&program.name), limit)?;
        match outcome.problem(program.is_endless) {
            None => println!("{profile} {}: {:.2} s", program.name, outcome.took.as_secs_f64()),
            Some(problem) => {
                let line = format!("{profile} {}: {problem}", program.name);
                eprintln!("{line}\n{}", outcome.text);
                wrong.push(line);
            }
        }
    }
    if profile == "release" && wrong.is_empty() {
        fs::remove_dir_all(place)?;
    }
    Ok(wrong)
}
