//! Fresh crates that depend on one library, built by cargo, offline and with the versions of this workspace.

use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A library with choices, and how a program uses it. `#` is the number of a choice.
pub struct Library {
    /// The name of the project.
    pub name: &'static str,
    /// The line in the manifest.
    pub dependency: &'static str,
    /// What each program imports.
    pub uses: &'static str,
    /// A function with a choice between `One#` and `Other#`.
    pub choice: &'static str,
    /// A call of that function, which adds to `sum`.
    pub call: &'static str,
    /// The function that starts the runtime; `#` is what it runs.
    pub main: &'static str,
}

/// A workspace of two programs: `nothing`, and `choices`.
pub struct Project(PathBuf);

/// The arguments with which a program of `n` choices is built. One choice is only checked.
pub fn profile(n: u64) -> &'static str {
    if n == 1 { "check" } else { "--release" }
}

impl Project {
    /// Writes the sources anew, so that cargo builds both programs again.
    pub fn write(library: &Library, n: u64) -> Result<Self> {
        let folder = std::env::current_exe()?.with_file_name("compile").join(library.name);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let project = Self(folder);
        project
            .file("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"nothing\", \"choices\"]\n")?;
        project.file("Cargo.lock", &fs::read_to_string(root.join("Cargo.lock"))?)?;
        for (name, choices) in [("nothing", 0), ("choices", n)] {
            let manifest = format!(
                "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n{}\n",
                library.dependency
            );
            project.file(&format!("{name}/Cargo.toml"), &manifest)?;
            project.file(&format!("{name}/src/main.rs"), &library.program(choices))?;
        }
        Ok(project)
    }

    fn file(&self, name: &str, text: &str) -> Result<()> {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Builds a package; returns how long that took.
    pub fn build(&self, profile: &str, package: &str) -> Result<Duration> {
        let begun = Instant::now();
        let command = if profile == "check" { vec!["check"] } else { vec!["build", profile] };
        self.cargo(&[&command[..], &["--quiet", "--offline", "--package", package]].concat())?;
        Ok(begun.elapsed())
    }

    /// Removes what has been built of a package, and leaves its dependencies.
    pub fn forget(&self, profile: &str, package: &str) -> Result<()> {
        let profile = if profile == "check" { "--profile=dev" } else { profile };
        self.cargo(&["clean", profile, "--quiet", "--offline", "--package", package])
    }

    /// The size of a program; of one that was only checked, none.
    pub fn bytes(&self, profile: &str, package: &str) -> Result<u64> {
        if profile == "check" {
            return Ok(0);
        }
        Ok(fs::metadata(self.0.join("target/release").join(package))?.len())
    }

    fn cargo(&self, arguments: &[&str]) -> Result<()> {
        let mut command = Command::new("cargo");
        command.args(arguments).current_dir(&self.0).arg("--target-dir").arg(self.0.join("target"));
        // What a user has who sets nothing.
        for variable in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_JOBS", "CARGO_BUILD_TARGET"] {
            command.env_remove(variable);
        }
        let output = command.env("CARGO_INCREMENTAL", "0").output().context("cannot run cargo")?;
        if !output.status.success() {
            bail!("cargo {}: {}", arguments[0], String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(())
    }
}

impl Library {
    /// A program of `n` choices.
    fn program(&self, n: u64) -> String {
        if n == 0 {
            return self.main.replace('#', "");
        }
        let each =
            |text: &str| (0..n).map(|number| text.replace('#', &number.to_string())).collect::<Vec<_>>();
        let types =
            each("struct One#([u64; # % 5 + 1]);\n\nstruct Other#([u64; # % 3 + 1], u64);\n").concat();
        let calls = format!(
            "let mut sum = 0;\n        {}\n        println!(\"{{sum}}\");",
            each(self.call).join("\n        ")
        );
        let parts = [
            format!("#![allow(dead_code)]\n\n{}\nuse std::time::Duration;\n", self.uses),
            types,
            each(self.choice).join("\n\n"),
            self.main.replace('#', &calls),
        ];
        parts.join("\n")
    }
}
