//! Extracts programs from Markdown by the rules of rustdoc: lines that begin with `# ` are part of the
//! program only, and code without `main` is put into one.

/// A program to run.
pub struct Program {
    /// The name of its file, and its line there.
    pub name: String,
    pub text: String,
    /// It does not end by itself.
    pub is_endless: bool,
}

impl Program {
    /// A file that is a program.
    pub fn whole(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), text: text.to_owned(), is_endless: false }
    }
}

/// All Rust programs of a page.
pub fn programs(page: &str, text: &str) -> Vec<Program> {
    let mut found = Vec::new();
    let mut open: Option<(usize, &str, Vec<&str>)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        match (line.trim_start().strip_prefix("```"), &mut open) {
            (Some(info), None) => open = Some((number, info, Vec::new())),
            (Some(_), Some(_)) => {
                let Some((begun, info, lines)) = open.take() else { continue };
                found.extend(program(&format!("{page}_line_{begun}"), info, &lines));
            }
            (None, Some((_, _, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    found
}

/// `None` for code that is not a program, or must not compile.
fn program(name: &str, info: &str, lines: &[&str]) -> Option<Program> {
    let mut marks = info.split(',').map(str::trim);
    let is_rust = marks.next() == Some("rust");
    let has = |mark: &str| info.split(',').any(|found| found.trim().starts_with(mark));
    if !is_rust || has("compile_fail") {
        return None;
    }
    assert!(!has("ignore"), "{name}: a program that nobody tries is no program");
    let code: Vec<_> = lines.iter().map(|line| shown(line)).collect();
    Some(Program { name: name.to_owned(), text: with_main(&code), is_endless: has("no_run") })
}

/// A line without the mark that hides it.
fn shown(line: &str) -> &str {
    let rest = line.trim_start();
    match rest.strip_prefix('#') {
        Some("") => "",
        Some(hidden) if hidden.starts_with([' ', '#']) => hidden.strip_prefix(' ').unwrap_or(hidden),
        _ => line,
    }
}

fn with_main(code: &[&str]) -> String {
    if code.iter().any(|line| line.contains("fn main()")) {
        return code.join("\n") + "\n";
    }
    let body = code.join("\n");
    // rustdoc's convention: a final `Ok::<(), E>(())` gives the error type of `?`.
    let last = code.iter().rev().find(|line| !line.trim().is_empty()).copied().unwrap_or_default();
    if last.contains("Ok(())") || last.contains("Ok::<") {
        let result = "Result<(), impl std::fmt::Debug>";
        format!("fn main() {{\n    fn inner() -> {result} {{\n{body}\n    }}\n    inner().unwrap();\n}}\n")
    } else {
        format!("fn main() {{\n{body}\n}}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_taken_apart() {
        let page = "text\n```sh\nls\n```\n```rust\nlet a = 1;\n# assert_eq!(a, 1);\n#[derive(Debug)]\nstruct B;\n```\n\
                    ```rust,no_run\nfn main() { loop {} }\n```\n```rust,compile_fail\nnonsense\n```\n\
                    ```rust\nlet x: u8 = \"1\".parse()?;\n# Ok::<(), std::num::ParseIntError>(())\n```\n";
        let found = programs("page", page);
        let names: Vec<_> = found.iter().map(|program| &*program.name).collect();
        assert_eq!(names, ["page_line_5", "page_line_11", "page_line_17"]);
        assert_eq!(
            found[0].text,
            "fn main() {\nlet a = 1;\nassert_eq!(a, 1);\n#[derive(Debug)]\nstruct B;\n}\n"
        );
        assert_eq!(found[1].text, "fn main() { loop {} }\n");
        assert!(found[1].is_endless && !found[0].is_endless);
        assert!(found[2].text.contains("inner().unwrap()"), "{}", found[2].text);
    }
}
