//! The arguments of an attribute: `name`, or `name = value`, with commas between them.
//!
//! A value is any expression, and its type is the compiler's business. Literals are looked at here, because what can be said
//! of them at their place is clearer than what the compiler says of the code that they become a part of.

use crate::error::{Error, Result};
use proc_macro::{Ident, Span, TokenStream, TokenTree};

/// What an argument may be.
#[derive(Clone, Copy)]
pub(crate) enum Form {
    /// A number in this range.
    Number(u64, u64),
    /// `true` or `false`, or nothing, which is `true`.
    Switch,
    /// A text or a number.
    Time,
    /// A path.
    Path,
}

/// An argument that an attribute has.
pub(crate) type Known = (&'static str, Form, &'static str);

/// The arguments that were given.
pub(crate) struct Args(Vec<Arg>);

struct Arg {
    name: Ident,
    value: Vec<TokenTree>,
}

impl Args {
    /// Reads arguments of `attribute`, each of which must be `known`, and be there once.
    pub(crate) fn read(tokens: TokenStream, attribute: &str, known: &[Known]) -> Result<Self> {
        let mut args: Vec<Arg> = Vec::new();
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            let there = || known.iter().map(|(name, _, example)| format!("`{}`", as_written(name, example)));
            let there = || there().collect::<Vec<_>>().join(", ");
            let TokenTree::Ident(name) = token else {
                let text = format!("expected an argument of `{attribute}`; there are {}", there());
                return Err(Error::new(token.span(), text));
            };
            let text = name.to_string();
            let Some(&(_, form, example)) = known.iter().find(|(known, ..)| *known == text) else {
                let text = format!("`{attribute}` has no argument `{text}`; there are {}", there());
                return Err(Error::new(name.span(), text));
            };
            if args.iter().any(|arg| arg.name.to_string() == text) {
                return Err(Error::new(name.span(), format!("`{text}` is given twice")));
            }
            let mut value: Vec<TokenTree> = Vec::new();
            let mut has_value = false;
            match tokens.next() {
                None => {}
                Some(TokenTree::Punct(punct)) if punct.as_char() == ',' => {}
                Some(TokenTree::Punct(punct)) if punct.as_char() == '=' => {
                    has_value = true;
                    value.extend(tokens.by_ref().take_while(|token| !is_comma(token)));
                }
                Some(other) => {
                    let text = format!("expected `{}`", as_written(&text, example));
                    return Err(Error::new(other.span(), text));
                }
            }
            let arg = Arg { name, value };
            arg.check(has_value, form, &as_written(&text, example))?;
            args.push(arg);
        }
        Ok(Self(args))
    }

    /// The place of an argument, if it was given.
    pub(crate) fn at(&self, name: &str) -> Option<Span> {
        self.find(name).map(|arg| arg.name.span())
    }

    /// The value of an argument, if it was given.
    pub(crate) fn value(&self, name: &str) -> Option<TokenStream> {
        self.find(name).map(|arg| arg.value.iter().cloned().collect())
    }

    /// A [switch](Form::Switch), if it was given.
    pub(crate) fn switch(&self, name: &str) -> Option<bool> {
        let arg = self.find(name)?;
        Some(!matches!(arg.value.as_slice(), [value] if value.to_string() == "false"))
    }

    fn find(&self, name: &str) -> Option<&Arg> {
        self.0.iter().find(|arg| arg.name.to_string() == name)
    }
}

impl Arg {
    fn check(&self, has_value: bool, form: Form, written: &str) -> Result<()> {
        let at = self.value.first().map_or_else(|| self.name.span(), TokenTree::span);
        let wrong =
            |what: &str| Err(Error::new(at, format!("`{}` must be {what}, as in `{written}`", self.name)));
        let literal = match self.value.as_slice() {
            [TokenTree::Literal(literal)] => Some(literal.to_string()),
            _ => None,
        };
        let is_text = literal.as_ref().is_some_and(|text| !text.starts_with(|c: char| c.is_ascii_digit()));
        match form {
            Form::Switch if !has_value => Ok(()),
            Form::Switch => match self.value.as_slice() {
                [value] if ["true", "false"].contains(&value.to_string().as_str()) => Ok(()),
                _ => wrong("`true` or `false`"),
            },
            _ if self.value.is_empty() => wrong("given a value"),
            Form::Number(..) if is_text => wrong("a number"),
            Form::Number(least, most) => {
                let number = literal.and_then(|text| text.replace('_', "").parse().ok());
                match number.filter(|number| !(least..=most).contains(number)) {
                    Some(_) if most == u64::MAX => wrong(&format!("at least {least}")),
                    Some(_) => wrong(&format!("{least} to {most}")),
                    None => Ok(()),
                }
            }
            Form::Path if literal.is_some() => wrong("a path"),
            Form::Time | Form::Path => Ok(()),
        }
    }
}

/// `name = example`, or `name` alone where it needs no value.
fn as_written(name: &str, example: &str) -> String {
    if example.is_empty() { name.to_owned() } else { format!("{name} = {example}") }
}

fn is_comma(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',')
}
