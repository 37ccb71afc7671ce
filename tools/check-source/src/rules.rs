//! The rules, applied to one file at a time; `main.rs` describes them.

use crate::circles::Circles;
use crate::lex::{Lexed, lex};
use crate::reader::Docs;
use crate::rooms::{self, Rooms};
use std::collections::BTreeSet;
use std::fmt;

const FILE_LISTED: usize = 200;
const FILE_CAP: usize = 500;
const FUNCTION_LISTED: usize = 60;
const FUNCTION_CAP: usize = 100;
/// The maximum number of lines between an ordering's comment and its statement; 0 for `unsafe`.
const ORDERING_REACH: usize = 3;
/// The files that take atomics from the shim, and the shim itself.
const SHIMMED: &str = "crates/lamprey/src/";
/// The models of the checker, which are no part of the runtime.
const MODELS: &str = "crates/lamprey/src/model/";
const SHIMS: [&str; 2] = ["/sync_shim.rs", "/sync_shim/watched.rs"];
const ATOMIC: &str =
    "atomics of the standard library, which the model checker cannot see: take them from `sync_shim`";
const MUTEX: &str = "a mutex of the standard library, of which nobody sees that a thread gives way with it: take it from `sync_shim::watched`";
/// The table of the statics that a child made by `fork` has from its parent.
pub const FORKS: &str = "crates/lamprey/src/kernel/fork.rs";
/// What a static may be locked by, or lead to.
const SHARED: [&str; 7] = ["Mutex", "RwLock", "Condvar", "Once", "OnceLock", "LazyLock", "Arc"];
const ORDERINGS: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];

/// Counts of what was checked, and the errors found.
#[derive(Debug, Default)]
pub struct Report {
    pub files: usize,
    pub functions: usize,
    test_files: usize,
    /// Files that are prose.
    pub pages: usize,
    lines: usize,
    unsafe_blocks: usize,
    unsafe_impls: usize,
    unsafe_contracts: usize,
    orderings: usize,
    seq_cst: usize,
    long_files: Vec<String>,
    long_functions: Vec<String>,
    /// `file:line: message`
    pub errors: Vec<String>,
    pub rooms: Rooms,
    pub circles: Circles,
    pub docs: Docs,
    /// The names in code in [`FORKS`].
    pub survivors: BTreeSet<String>,
}

/// Applies every rule to one file; `test` if it is a file of tests.
pub fn file(name: &str, text: &str, test: bool, report: &mut Report) {
    let lexed = lex(text);
    let mut file = File { name, report, outline: outline(&lexed), lexed: &lexed };
    file.report.files += 1;
    file.report.test_files += usize::from(test);
    file.report.lines += text.lines().count();
    if !test {
        file.size();
        file.rooms();
        file.docs(text);
    }
    for token in 0..lexed.tokens.len() {
        match lexed.tokens[token].text {
            "unsafe" => file.unsafety(token, file.is_test(token, test)),
            "fn" if !file.is_test(token, test) => {
                file.function(token);
                file.cancellation(token);
            }
            "static" if !file.is_test(token, test) => file.fork(token),
            "atomic" if !file.is_test(token, test) => file.shim(token, ATOMIC),
            "Mutex" | "MutexGuard" if !file.is_test(token, test) => file.shim(token, MUTEX),
            _ if !file.is_test(token, test) => file.ordering(token),
            _ => {}
        }
    }
}

/// The structure of a file, by token.
struct Outline {
    /// The first line of the token's statement.
    start: Vec<usize>,
    /// For an opening bracket: the token that closes it; for other tokens, the token itself.
    close: Vec<usize>,
    /// The token is in an item under `#[cfg(test)]`.
    test: Vec<bool>,
    /// The number of lines of such items.
    test_lines: usize,
    /// The token's statement is an import.
    import: Vec<bool>,
}

fn outline(lexed: &Lexed) -> Outline {
    let count = lexed.tokens.len();
    let mut outline = Outline {
        start: vec![0; count],
        close: (0..count).collect(),
        test: vec![false; count],
        test_lines: 0,
        import: vec![false; count],
    };
    // The open brackets, each with the statement that it is part of; statements are (first line, is an
    // import).
    let mut open: Vec<(usize, Option<(usize, bool)>)> = Vec::new();
    let mut statement = None;
    for (i, token) in lexed.tokens.iter().enumerate() {
        let (line, import) = *statement.get_or_insert((token.line, false));
        // `use<'a>` is part of a type.
        let next = lexed.tokens.get(i + 1).map_or("", |next| next.text);
        let import = import || token.text == "use" && next != "<";
        statement = Some((line, import));
        (outline.start[i], outline.import[i]) = (line, import);
        match token.text {
            "(" | "[" => open.push((i, statement)),
            "{" => {
                open.push((i, statement));
                statement = statement.filter(|&(_, import)| import);
            }
            ")" | "]" | "}" => {
                let Some((opening, outer)) = open.pop() else { continue };
                outline.close[opening] = i;
                let inner_attribute = token.text == "]"
                    && opening >= 2
                    && lexed.tokens[opening - 1].text == "!"
                    && lexed.tokens[opening - 2].text == "#";
                let ends = token.text == "}" && !outer.is_some_and(|(_, import)| import) || inner_attribute;
                statement = if ends { None } else { outer };
            }
            ";" | ","
                if open.last().is_none_or(|&(opening, _)| lexed.tokens[opening].text == "{")
                    && !(import && token.text == ",") =>
            {
                statement = None;
            }
            _ => {}
        }
    }
    mark_tests(lexed, &mut outline);
    outline
}

/// Marks the items after `#[cfg(test)]`, `#[cfg(all(test, ..))]` and the like, up to their ends.
fn mark_tests(lexed: &Lexed, outline: &mut Outline) {
    let text = |i: usize| lexed.tokens.get(i).map_or("", |token| token.text);
    for i in 0..lexed.tokens.len() {
        if text(i) != "#" || text(i + 1) != "[" || text(i + 2) != "cfg" {
            continue;
        }
        let end = outline.close[i + 1];
        let words: Vec<_> = (i..end).map(text).collect();
        if !words.contains(&"test") || words.windows(3).any(|three| three == ["not", "(", "test"]) {
            continue;
        }
        let mut last = end + 1;
        while last < lexed.tokens.len() && !matches!(text(last), ";" | "{") {
            last = outline.close[last] + 1;
        }
        let last = outline.close.get(last).copied().unwrap_or(lexed.tokens.len() - 1);
        if !outline.test[i] {
            outline.test_lines += lexed.tokens[last].line - lexed.tokens[i].line + 1;
        }
        outline.test[i..=last].fill(true);
    }
}

/// A file, and what the rules need to know of it.
struct File<'a> {
    name: &'a str,
    lexed: &'a Lexed<'a>,
    outline: Outline,
    report: &'a mut Report,
}

impl File<'_> {
    fn text(&self, token: usize) -> &str {
        self.lexed.tokens.get(token).map_or("", |token| token.text)
    }

    fn is_test(&self, token: usize, file_is_test: bool) -> bool {
        file_is_test || self.outline.test[token]
    }

    fn error(&mut self, line: usize, message: &str) {
        self.report.errors.push(format!("{}:{line}: {message}", self.name));
    }

    /// The comments that count for a token: those on its statement's lines up to the token's own, and the
    /// block that ends at most `reach` lines above.
    fn comments(&self, token: usize, reach: usize) -> String {
        let lines = &self.lexed.lines;
        let (start, end) = (self.outline.start[token], self.lexed.tokens[token].line);
        let lone = |line: usize| !lines[line].comment.is_empty() && !lines[line].code;
        let mut first = start.saturating_sub(reach).max(1);
        while first > 1 && lone(first) && lone(first - 1) {
            first -= 1;
        }
        // Above the statement only comments on lines of their own count: the others belong to the code beside
        // them.
        (first..=end)
            .filter(|&line| line >= start || lone(line))
            .map(|line| lines[line].comment.clone() + "\n")
            .collect()
    }

    fn size(&mut self) {
        let lines = self.lexed.lines.len() - 2 - self.outline.test_lines;
        if lines > FILE_CAP {
            self.error(
                1,
                &format!("{lines} lines without the tests, more than {FILE_CAP}: give it one concept less"),
            );
        } else if lines > FILE_LISTED {
            self.report.long_files.push(format!("{lines:5} {}", self.name));
        }
    }

    fn function(&mut self, token: usize) {
        if self.text(token + 1) == "(" {
            return; // the type of a function pointer
        }
        self.report.functions += 1;
        let mut body = token;
        while !matches!(self.text(body), "{" | ";" | "") {
            body = self.outline.close[body] + 1;
        }
        let Some(end) = self.outline.close.get(body) else { return };
        let line = self.lexed.tokens[token].line;
        let length = self.lexed.tokens[*end].line - line + 1;
        let name = self.text(token + 1).to_owned();
        if length > FUNCTION_CAP {
            self.error(
                line,
                &format!("`{name}` has {length} lines, more than {FUNCTION_CAP}: take it apart"),
            );
        } else if length > FUNCTION_LISTED {
            self.report.long_functions.push(format!("{length:5} {}:{line} {name}", self.name));
        }
    }

    /// Functions that block can be cancelled, and must document that, except `pub(crate)` functions.
    fn cancellation(&mut self, token: usize) {
        let docs = self.comments(token, 1);
        let Some((_, blocking)) = docs.split_once("# Blocking\n") else { return };
        let is_inner = token > 0 && self.text(token - 1) == ")"; // pub(crate)
        let never = blocking.trim_start_matches(['/', ' ', '\n']).starts_with("Never");
        if !never && !is_inner && !docs.contains("# Cancellation\n") {
            let name = self.text(token + 1).to_owned();
            self.error(
                self.lexed.tokens[token].line,
                &format!("`{name}` blocks: no `# Cancellation` section says when it has happened, and what is left if not"),
            );
        }
    }

    fn ordering(&mut self, token: usize) {
        let ordering = self.lexed.tokens[token].text;
        let line = self.lexed.tokens[token].line;
        if ordering == "Ordering" && self.text(token + 1) == "as" {
            return self.error(line, "`Ordering` under another name cannot be checked");
        }
        let qualified = token >= 3 && self.text(token - 1) == ":" && self.text(token - 2) == ":";
        let foreign = qualified && self.text(token - 3) != "Ordering";
        if self.outline.import[token] || foreign || !ORDERINGS.contains(&ordering) {
            return;
        }
        self.report.orderings += 1;
        let comments = self.comments(token, ORDERING_REACH);
        if ordering == "SeqCst" {
            self.report.seq_cst += 1;
            if !comments.contains("StoreLoad") {
                self.error(line, "SeqCst: no comment names the StoreLoad race it is there for");
            }
        } else if !comments.contains(ordering) && !comments.contains("pair") {
            self.error(line, &format!("{ordering}: no comment says what it pairs with, or why it is enough"));
        }
    }

    /// The runtime's atomics and mutexes come from its shim, so that the model checker and the builds with debug assertions
    /// check them.
    fn shim(&mut self, token: usize, why: &str) {
        if !self.name.starts_with(SHIMMED) || SHIMS.iter().any(|shim| self.name.ends_with(shim)) {
            return;
        }
        let mut root = token;
        while root >= 3 && self.text(root - 1) == ":" && self.text(root - 2) == ":" {
            root -= 3;
        }
        // In `use std::sync::{atomic::..}` the root is before the brace.
        let is_nested = self.outline.import[token] && matches!(self.text(root.saturating_sub(1)), "{" | ",");
        while is_nested && root > 0 && self.text(root - 1) != "use" {
            root -= 1;
        }
        if matches!(self.text(root), "std" | "core") {
            let line = self.lexed.tokens[token].line;
            self.error(line, why);
        }
    }

    /// What a child made by `fork` might find locked, or with a kernel thread that it does not have, begins anew there, or is in
    /// the table of what does not.
    fn fork(&mut self, token: usize) {
        let is_runtime = self.name.starts_with(SHIMMED) && !self.name.starts_with(MODELS);
        if !is_runtime || self.text(token + 2) != ":" {
            return;
        }
        let name = self.text(token + 1);
        let count = self.lexed.tokens.len();
        let kind: Vec<_> =
            (token + 3..count).map(|at| self.text(at)).take_while(|text| *text != "=").collect();
        let is_anew = kind.contains(&"PerProcess");
        if is_anew || !kind.iter().any(|text| SHARED.contains(text)) || self.report.survivors.contains(name) {
            return;
        }
        let line = self.lexed.tokens[token].line;
        self.error(line, &format!("`{name}`: a child made by `fork` has it as it was: take a `PerProcess`, or say why not in the table of {FORKS}"));
    }

    fn rooms(&mut self) {
        if self.report.rooms.len() == 0 {
            return;
        }
        let errors = self.report.rooms.file(self.name, self.lexed, |token| self.outline.test[token]);
        errors.iter().for_each(|(line, message)| self.error(*line, message));
        let path = self.name.strip_prefix(rooms::SOURCES).and_then(|rest| rest.strip_prefix('/'));
        if let Some(path) = path.filter(|path| !rooms::is_no_room(path)) {
            self.report.circles.file(path, self.lexed, |token| self.outline.test[token]);
        }
    }

    fn docs(&mut self, text: &str) {
        let test = &self.outline.test;
        self.report.docs.file(self.name, text, self.lexed, |token| test[token]);
    }

    fn unsafety(&mut self, token: usize, test: bool) {
        let line = self.lexed.tokens[token].line;
        let mut next = token + 1;
        if self.text(next) == "extern" {
            next += 1 + usize::from(self.text(next + 1) == "\"\"");
        }
        let (what, contract) = match self.text(next) {
            "fn" if self.text(next + 1) == "(" => return, // a type
            "(" => return,                                // `#[unsafe(..)]`: its assertion is for the linker
            "fn" => ("fn", true),
            "trait" => ("trait", true),
            "impl" => ("impl", false),
            _ => ("block", false),
        };
        match what {
            "impl" => self.report.unsafe_impls += 1,
            "block" => self.report.unsafe_blocks += 1,
            _ => self.report.unsafe_contracts += 1,
        }
        let comments = self.comments(token, 1);
        let justified = comments.contains("SAFETY:") || contract && comments.contains("# Safety");
        if !(justified || contract && test) {
            let wanted = if contract { "`# Safety` section" } else { "`SAFETY:` comment" };
            self.error(line, &format!("unsafe {what} without a {wanted} directly above"));
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, what: &str, entries: &[String]| {
            writeln!(f, "{what}: {}", entries.len())?;
            entries.iter().try_for_each(|entry| writeln!(f, "  {entry}"))
        };
        list(f, &format!("files over {FILE_LISTED} lines"), &self.long_files)?;
        list(f, &format!("functions over {FUNCTION_LISTED} lines"), &self.long_functions)?;
        list(f, "errors", &self.errors)?;
        let (files_of_sched, uses_of_each_other) = self.circles.size();
        writeln!(
            f,
            "check-source: {} files ({} of tests) and {} pages, {} lines, {} functions; {} unsafe blocks, {} unsafe impls, \
             {} unsafe contracts; {} orderings, {} of them SeqCst; {} rooms, {} paths between them; \
             {} files of `sched`, {} uses of each other",
            self.files,
            self.test_files,
            self.pages,
            self.lines,
            self.functions,
            self.unsafe_blocks,
            self.unsafe_impls,
            self.unsafe_contracts,
            self.orderings,
            self.seq_cst,
            self.rooms.len(),
            self.rooms.uses,
            files_of_sched,
            uses_of_each_other
        )
    }
}

#[cfg(test)]
mod tests;
