//! Errors for the arms of a `select!`: each stands at the token that is wrong, and names the form that is right.

use crate::error::Error;
use proc_macro::{Delimiter, TokenStream, TokenTree};

const KINDS: [&str; 7] = ["recv", "send", "event", "future", "recv_any", "any", "default"];
const CONDITION: &str =
    "a condition stands behind the pattern and a comma: `recv(rx) -> message, if condition => code`";

/// The error in `arms`, of which the first one could not be read.
pub(crate) fn error(arms: TokenStream) -> TokenStream {
    let arms: Vec<TokenTree> = arms.into_iter().collect();
    let (at, text) = find(&arms);
    let span = arms.get(at).or(arms.last()).map_or_else(proc_macro::Span::call_site, TokenTree::span);
    Error::new(span, text).tokens()
}

fn is(arms: &[TokenTree], at: usize, text: &str) -> bool {
    let mut shown = arms.iter().skip(at).map(ToString::to_string);
    text.split(' ').all(|part| shown.next().as_deref() == Some(part))
}

fn is_group(token: Option<&TokenTree>, delimiter: Delimiter) -> bool {
    matches!(token, Some(TokenTree::Group(group)) if group.delimiter() == delimiter)
}

fn is_kind(token: Option<&TokenTree>) -> bool {
    token.is_some_and(|token| KINDS.contains(&token.to_string().as_str()))
}

/// The first place from `from` on where `text` stands.
fn place(arms: &[TokenTree], from: usize, text: &str) -> Option<usize> {
    (from..arms.len()).find(|&at| is(arms, at, text))
}

/// The place of the wrong token, and what is right.
fn find(arms: &[TokenTree]) -> (usize, &'static str) {
    let first = arms.first().map(ToString::to_string).unwrap_or_default();
    let end = place(arms, 0, "= >").unwrap_or(arms.len());
    match first.as_str() {
        "," => return (0, "one comma is enough between two arms, and a block needs none"),
        "case" => {
            return (
                0,
                "Go's `case value := <-rx:` is `recv(rx) -> value => code` here, and `case tx <- value:` is \
                              `send(tx, value) => code`",
            );
        }
        "_" if end == 1 => {
            return (0, "the arm for when nothing else can happen at once is `default => code`");
        }
        "else" => {
            return (
                0,
                "tokio's `else` is not there: `default => code` is for when nothing else can happen at once",
            );
        }
        _ if !is_kind(arms.first()) => {
            return match place(arms, 0, "=").filter(|&at| at < end) {
                Some(_) => (
                    0,
                    "tokio's `pattern = future => code` is `future(future) -> pattern => code` here, and for a \
                                channel `recv(rx) -> pattern => code`",
                ),
                None => (
                    0,
                    "an arm begins with `recv(rx)`, `send(tx, value)`, `event(event)`, `future(future)`, \
                             `recv_any(receivers)`, `any(events)` or `default`",
                ),
            };
        }
        _ => {}
    }
    let has_arguments = is_group(arms.get(1), Delimiter::Parenthesis);
    if first != "default" && !has_arguments {
        return (1, "what an arm waits for stands in parentheses: `recv(rx) -> message => code`");
    }
    if arms.len() == 2 && has_arguments {
        return (
            1,
            "these arguments do not fit: `recv(rx)`, `send(tx, value)`, `event(event)`, `future(future)`, `recv_any(receivers)`, `any(events)`",
        );
    }
    let next = 1 + usize::from(has_arguments);
    if is(arms, next, "if") {
        return (next, CONDITION);
    }
    if is(arms, next, ", if") {
        return if first == "default" {
            (next + 1, "the arm `default` has no condition")
        } else if place(arms, next, "- >").is_some_and(|arrow| arrow < end) {
            (next + 1, CONDITION)
        } else {
            of_code(arms, next)
        };
    }
    if is(arms, next, "- >") {
        if first == "default" {
            return (next, "the arm `default` has no result: `default => code`");
        }
        if let Some(at) = (next + 2..end).find(|&at| is(arms, at, "if") && !is(arms, at - 1, ",")) {
            return (at, CONDITION);
        }
        if let Some(at) = place(arms, next + 2, "- >").filter(|&at| at < end) {
            return (at, "the code stands behind `=>`: `recv(rx) -> message => code`");
        }
        return of_code(arms, next + 2);
    }
    of_code(arms, next)
}

/// The error in an arm that is right up to `from`.
fn of_code(arms: &[TokenTree], from: usize) -> (usize, &'static str) {
    const MISSING: &str = "`=>` is missing in front of the arm's code: `recv(rx) -> message => code`";
    let Some(arrow) = place(arms, from, "= >") else {
        let block = (from..arms.len()).find(|&at| is_group(arms.get(at), Delimiter::Brace));
        return (block.unwrap_or(arms.len().saturating_sub(1).min(from)), MISSING);
    };
    if let Some(at) =
        (from..arrow).find(|&at| is_group(arms.get(at), Delimiter::Brace) && is_kind(arms.get(at + 1)))
    {
        return (at, MISSING);
    }
    if arrow + 2 >= arms.len() || is(arms, arrow + 2, ",") {
        return (arrow, "there is no code behind `=>`; for none write `{}`");
    }
    // The beginning of an arm that no comma stands before.
    let begins = |&at: &usize| {
        is_kind(arms.get(at))
            && !is(arms, at - 1, ",")
            && !is(arms, at - 1, ".")
            && (is_group(arms.get(at + 1), Delimiter::Parenthesis)
                && (is(arms, at + 2, "- >") || is(arms, at + 2, "= >") || is(arms, at + 2, ", if"))
                || is(arms, at + 1, "= >"))
    };
    if let Some(at) = (arrow + 3..arms.len()).find(begins) {
        return (at, "a comma is missing in front of this arm");
    }
    if place(arms, arrow + 2, "- >").is_some() {
        return (
            arrow,
            "the pattern stands behind `->` and the code behind `=>`: `recv(rx) -> message => code`; here it is the other way round",
        );
    }
    (
        0,
        "an arm is `recv(rx) -> message, if condition => code`, of which pattern and condition may be left out",
    )
}
