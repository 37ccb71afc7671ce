//! `cargo run -p site`: renders `docs/front.md` and the guide to the pages in `site/`, which `lamprey serve site` shows
//! without a network. A test fails if they are out of date, if a link leads nowhere, or if a page says what is not so.

mod page;
mod render;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use page::Chapter;

/// The folder of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The chapters, in the order of the book.
fn chapters(root: &Path) -> io::Result<Vec<Chapter>> {
    let summary = fs::read_to_string(root.join("docs/guide/SUMMARY.md"))?;
    let listed =
        summary.lines().filter_map(|line| line.strip_prefix("- [")?.strip_suffix(".md)")?.split_once("]("));
    listed
        .map(|(title, name)| {
            let text = fs::read_to_string(root.join(format!("docs/guide/{name}.md")))?;
            Ok(Chapter { title: title.to_owned(), name: name.to_owned(), text })
        })
        .collect()
}

/// The files that are made, by their path in `site/`.
fn files(root: &Path) -> io::Result<Vec<(String, String)>> {
    let chapters = chapters(root)?;
    let front = fs::read_to_string(root.join("docs/front.md"))?;
    let mut files = vec![
        ("index.html".to_owned(), page::front(&front)),
        ("speed.svg".to_owned(), fs::read_to_string(root.join("docs/speed.svg"))?),
    ];
    for (at, chapter) in chapters.iter().enumerate() {
        let text = page::chapter(&chapters, at);
        files.push((format!("guide/{}.html", chapter.name), text));
    }
    // The address of the folder is that of the first chapter.
    files.push(("guide/index.html".to_owned(), page::chapter(&chapters, 0)));
    Ok(files)
}

/// The pictures of chapters, by their path in `site/`.
fn pictures(root: &Path) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut pictures = Vec::new();
    for entry in fs::read_dir(root.join("docs/guide"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "png") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            pictures.push((format!("guide/{name}"), fs::read(path)?));
        }
    }
    Ok(pictures)
}

fn write(root: &Path) -> io::Result<usize> {
    let (site, files) = (root.join("site"), files(root)?);
    if site.join("guide").exists() {
        fs::remove_dir_all(site.join("guide"))?;
    }
    fs::create_dir_all(site.join("guide"))?;
    for (path, text) in &files {
        fs::write(site.join(path), text)?;
    }
    for (path, picture) in pictures(root)? {
        fs::write(site.join(path), picture)?;
    }
    Ok(files.len())
}

fn main() -> ExitCode {
    match write(&root()) {
        Ok(count) => {
            println!("{count} files written to site/");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("site: {error}");
            ExitCode::FAILURE
        }
    }
}
