//! The function that an attribute stands on, in parts that are passed on as they are.

use crate::error::{Error, Result};
use proc_macro::{Delimiter, Ident, Span, TokenStream, TokenTree};
use std::iter::Peekable;

/// `#[attributes] pub async fn name() -> output { body }`
pub(crate) struct Function {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: TokenStream,
    pub(crate) is_async: bool,
    pub(crate) name: Ident,
    /// Everything after the arguments: output, conditions, body.
    pub(crate) rest: TokenStream,
    /// It returns something else than `()`.
    pub(crate) has_output: bool,
}

/// `#[content]`
pub(crate) struct Attribute {
    pub(crate) tokens: TokenStream,
    pub(crate) at: Span,
    /// Its first word, or path without spaces.
    pub(crate) path: String,
    /// All of it, as text.
    pub(crate) text: String,
}

type Tokens = Peekable<proc_macro::token_stream::IntoIter>;

impl Function {
    /// Takes a function apart. `attribute` is what the program calls the attribute, for messages.
    pub(crate) fn read(tokens: TokenStream, attribute: &str) -> Result<Self> {
        let mut tokens = tokens.into_iter().peekable();
        let attributes = attributes(&mut tokens);
        let mut visibility = TokenStream::new();
        let mut is_async = false;
        loop {
            let Some(token) = tokens.next() else {
                return Err(Error::new(Span::call_site(), format!("`{attribute}` is for functions")));
            };
            match token.to_string().as_str() {
                "fn" => break,
                "async" => is_async = true,
                word @ ("const" | "unsafe" | "extern" | "safe") => {
                    let text = format!(
                        "`{attribute}` is for ordinary functions and for async ones, not for `{word} fn`"
                    );
                    return Err(Error::new(token.span(), text));
                }
                // `pub`, and what is behind it in parentheses, or what a macro was given for a visibility.
                _ if is_async => {
                    return Err(Error::new(token.span(), format!("`{attribute}` is for functions")));
                }
                "struct" | "enum" | "mod" | "impl" | "trait" | "static" | "type" | "use" | "macro_rules" => {
                    return Err(Error::new(token.span(), format!("`{attribute}` is for functions")));
                }
                _ => visibility.extend([token]),
            }
        }
        let name = match tokens.next() {
            Some(TokenTree::Ident(name)) => name,
            _ => {
                return Err(Error::new(
                    Span::call_site(),
                    format!("`{attribute}` is for functions with names"),
                ));
            }
        };
        match tokens.next() {
            Some(TokenTree::Group(list)) if list.delimiter() == Delimiter::Parenthesis => {
                if !list.stream().is_empty() {
                    let text = format!("a function with `{attribute}` takes no arguments");
                    return Err(Error::new(list.span(), text));
                }
            }
            other => {
                let at = other.map_or_else(|| name.span(), |token| token.span());
                return Err(Error::new(
                    at,
                    format!("a function with `{attribute}` has no generic parameters"),
                ));
            }
        }
        let rest: Vec<TokenTree> = tokens.collect();
        let has_output = has_output(&rest);
        Ok(Self { attributes, visibility, is_async, name, rest: rest.into_iter().collect(), has_output })
    }
}

fn attributes(tokens: &mut Tokens) -> Vec<Attribute> {
    let mut attributes = Vec::new();
    while matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == '#') {
        let hash = tokens.next();
        let Some(TokenTree::Group(content)) = tokens.next() else { break };
        let at = content.span();
        let text = content.stream().to_string();
        let path = content.stream().into_iter().take_while(|token| match token {
            TokenTree::Ident(_) => true,
            TokenTree::Punct(punct) => punct.as_char() == ':',
            _ => false,
        });
        let path = path.map(|token| token.to_string()).collect();
        attributes.push(Attribute {
            tokens: hash.into_iter().chain([TokenTree::Group(content)]).collect(),
            at,
            path,
            text,
        });
    }
    attributes
}

/// True for `-> something`, unless that is `()`.
fn has_output(rest: &[TokenTree]) -> bool {
    let [TokenTree::Punct(minus), TokenTree::Punct(more), output @ ..] = rest else { return false };
    let is_arrow = minus.as_char() == '-' && more.as_char() == '>';
    let is_unit = match output {
        [TokenTree::Group(list), _body] => {
            list.delimiter() == Delimiter::Parenthesis && list.stream().is_empty()
        }
        _ => false,
    };
    is_arrow && !is_unit
}
