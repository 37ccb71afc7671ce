//! The public types with parameters, as they stand in the sources.

use std::fs;
use std::path::Path;

/// `file: Type.parameter`, for each parameter of each `pub` type, also of one in a private module.
pub fn public_types() -> Vec<String> {
    let root = crate::outside::root();
    let mut found = Vec::new();
    scan(&root.join("crates/lamprey/src"), "", &mut found);
    scan(&root.join("crates/swapstack/src"), "swapstack/", &mut found);
    found
}

fn scan(folder: &Path, before: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{before}{}", path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            scan(&path, &format!("{name}/"), found);
        } else if name.ends_with(".rs") {
            let types = types(&fs::read_to_string(&path).unwrap());
            found.extend(types.into_iter().map(|one| format!("{name}: {one}")));
        }
    }
}

/// `Type.parameter` of the types that a file declares.
fn types(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_future = false;
    for line in text.lines().map(str::trim_start) {
        // The types of the macro `named_future!` begin with their names.
        in_future = line.starts_with("named_future!")
            || in_future && (line.starts_with('/') || line.starts_with('#'));
        let kinds = ["pub struct ", "pub enum ", "pub union "];
        let declared = kinds.iter().find_map(|kind| line.strip_prefix(kind)).or_else(|| {
            let is_name = line.starts_with(|letter: char| letter.is_ascii_uppercase());
            is_name
                .then_some(line)
                .filter(|line| line.contains("Future<'a") && line.contains(") -> ") && !line.contains("fn "))
        });
        let Some((name, rest)) = declared.and_then(|line| line.split_once('<')) else { continue };
        // A macro's own `$name` is of no type; `channel/iter.rs` makes types of these parameters.
        if name.chars().all(|letter| letter.is_ascii_alphanumeric()) {
            found.extend(parameters(rest).into_iter().map(|parameter| format!("{name}.{parameter}")));
        }
    }
    found
}

/// The names of the parameters, up to the bracket that closes their list.
fn parameters(rest: &str) -> Vec<String> {
    let (mut depth, mut list, mut parts) = (0, String::new(), Vec::new());
    for letter in rest.replace("$($of),+", "T").replace("->", "").chars() {
        match letter {
            '<' => depth += 1,
            '>' if depth == 0 => break,
            '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(std::mem::take(&mut list));
                continue;
            }
            _ => {}
        }
        list.push(letter);
    }
    parts.push(list);
    let name = |part: String| part.split([':', '=']).next().unwrap_or_default().trim().to_owned();
    parts.into_iter().map(name).collect()
}

/// The crates that are not in the table.
#[test]
fn the_other_crates_leave_variance_to_the_compiler() {
    fn files(folder: &Path, found: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => files(&path, found),
                false => found.push((path.display().to_string(), fs::read_to_string(&path).unwrap())),
            }
        }
    }
    let mut found = Vec::new();
    for folder in ["crates/lamprey-compat/src", "apps/swerve/src"] {
        files(&crate::outside::root().join(folder), &mut found);
    }
    for (file, text) in found {
        // What a method of the crate `tracing` returns; no type holds it.
        let text = text.replace("fn downcast_raw(&self, id: TypeId) -> Option<*const ()>", "");
        for word in ["unsafe impl", "NonNull<", "*mut ", "*const ", "AtomicPtr<"] {
            assert!(!text.contains(word), "{file} has `{word}`: its types belong into rejected/variance.txt");
        }
    }
}
