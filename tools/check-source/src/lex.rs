//! A lexer for as much of Rust's lexical grammar as is needed to tell code from comments and literals.

/// A word or a single punctuation mark of the code. A string literal is the token `""`, without its text.
#[derive(Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub text: &'a str,
    /// Counted from 1.
    pub line: usize,
}

/// The tokens and comments of a source file.
#[derive(Debug)]
pub struct Lexed<'a> {
    pub tokens: Vec<Token<'a>>,
    /// For each line (index 0 is unused) the text of its comments, and whether it has code as well.
    pub lines: Vec<Line>,
}

/// The content of a line besides tokens.
#[derive(Debug, Default, Clone)]
pub struct Line {
    pub comment: String,
    pub code: bool,
}

/// Splits `text` into tokens and comments. Never fails: text that is not Rust gives odd tokens, which rustc
/// reports.
pub fn lex(text: &str) -> Lexed<'_> {
    let mut lexed = Lexed { tokens: Vec::new(), lines: vec![Line::default(); text.lines().count() + 2] };
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let (length, kind) = next(rest, first);
        let piece = &rest[..length];
        match kind {
            Kind::Blank => {}
            Kind::Comment => {
                for (i, text) in piece.split('\n').enumerate() {
                    lexed.lines[line + i].comment.push_str(text);
                }
            }
            Kind::Code | Kind::Literal => {
                lexed.tokens.push(Token { text: if kind == Kind::Code { piece } else { "\"\"" }, line });
                for i in 0..=piece.matches('\n').count() {
                    lexed.lines[line + i].code = true;
                }
            }
        }
        line += piece.matches('\n').count();
        rest = &rest[length..];
    }
    lexed
}

#[derive(PartialEq, Eq)]
enum Kind {
    Blank,
    Comment,
    Code,
    Literal,
}

/// The length in bytes and the kind of the token or comment at the start of `rest`.
fn next(rest: &str, first: char) -> (usize, Kind) {
    if first.is_whitespace() {
        (first.len_utf8(), Kind::Blank)
    } else if rest.starts_with("//") {
        (rest.find('\n').unwrap_or(rest.len()), Kind::Comment)
    } else if rest.starts_with("/*") {
        (block_comment(rest), Kind::Comment)
    } else if let Some(length) = string(rest) {
        (length, Kind::Literal)
    } else if first == '\'' {
        character_or_lifetime(rest)
    } else if is_word(first) {
        (rest.find(|c| !is_word(c)).unwrap_or(rest.len()), Kind::Code)
    } else {
        (first.len_utf8(), Kind::Code)
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of the block comment at the start of `rest`; block comments nest.
fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        let step = match &rest.as_bytes()[at..] {
            [b'/', b'*', ..] => {
                depth += 1;
                2
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                2
            }
            _ => 1,
        };
        at += step;
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of the string literal at the start of `rest`, with its prefix.
fn string(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "b", "c", "r"].into_iter().find(|&p| rest.starts_with(p)).unwrap_or("");
    let body = &rest[prefix.len()..];
    if prefix.ends_with('r') {
        let hashes = body.len() - body.trim_start_matches('#').len();
        let open = &body[hashes..];
        let end = format!("\"{}", "#".repeat(hashes));
        return open.strip_prefix('"').map(|inside| {
            let inside = inside.find(&end).map_or(inside.len(), |at| at + end.len());
            prefix.len() + hashes + 1 + inside
        });
    }
    body.starts_with('"').then(|| prefix.len() + quoted(body, b'"'))
}

/// The length of the text between `quote` and the next one that is not escaped.
fn quoted(body: &str, quote: u8) -> usize {
    let mut at = 1;
    while let Some(&byte) = body.as_bytes().get(at) {
        at += 1 + usize::from(byte == b'\\');
        if byte == quote {
            break;
        }
    }
    at.min(body.len())
}

/// `'a'` and `'\n'` are literals; `'a` is a lifetime.
fn character_or_lifetime(rest: &str) -> (usize, Kind) {
    let mut chars = rest.chars().skip(1);
    let (first, second) = (chars.next(), chars.next());
    if first == Some('\\') || second == Some('\'') {
        (quoted(rest, b'\''), Kind::Literal)
    } else {
        (1 + rest[1..].find(|c| !is_word(c)).unwrap_or(rest.len() - 1), Kind::Code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        lex(text).tokens.iter().map(|token| token.text).collect()
    }

    #[test]
    fn literals_and_comments_are_not_code() {
        assert_eq!(words(r#"let s = "unsafe { \" }"; // unsafe"#), ["let", "s", "=", "\"\"", ";"]);
        assert_eq!(words("r##\"a \"# unsafe\"## b\"x\\\"\" c\"y\" br#\"z\"#"), ["\"\""; 4]);
        assert_eq!(words("/* a /* b */ unsafe */ x"), ["x"]);
        assert_eq!(
            words("'{' '\\'' '\\u{7d}' b'}' &'a str 'x: loop"),
            ["\"\"", "\"\"", "\"\"", "b", "\"\"", "&", "'a", "str", "'x", ":", "loop"]
        );
        assert_eq!(words("r#fn 0x1f_u8 1.5 ümlaut"), ["r", "#", "fn", "0x1f_u8", "1", ".", "5", "ümlaut"]);
    }

    #[test]
    fn lines_are_counted_across_strings_and_comments() {
        let lexed = lex("\"a\nb\"\n/* c\nd */ e // f\ng");
        let at: Vec<_> = lexed.tokens.iter().map(|token| (token.text, token.line)).collect();
        assert_eq!(at, [("\"\"", 1), ("e", 4), ("g", 5)]);
        assert_eq!(lexed.lines[3].comment, "/* c");
        assert_eq!(lexed.lines[4].comment, "d */// f");
        let code: Vec<_> = lexed.lines.iter().map(|line| line.code).collect();
        assert_eq!(code, [false, true, true, false, true, true, false]);
    }

    #[test]
    fn unfinished_input_ends_the_file() {
        for text in ["\"abc", "r#\"abc", "/* abc", "'\\", "'", "b\"\\"] {
            let _ = lex(text);
        }
    }
}
