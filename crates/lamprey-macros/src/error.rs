//! What does not compile, and where.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// A message of the compiler at a place in the program.
pub(crate) struct Error {
    pub(crate) at: Span,
    pub(crate) text: String,
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(at: Span, text: impl Into<String>) -> Self {
        Self { at, text: text.into() }
    }

    /// `::core::compile_error! { "text" }`, all of it at the place.
    pub(crate) fn tokens(&self) -> TokenStream {
        let punct = |c, spacing| TokenTree::Punct(Punct::new(c, spacing));
        let colons = [punct(':', Spacing::Joint), punct(':', Spacing::Alone)];
        let ident = |name| TokenTree::Ident(Ident::new(name, self.at));
        let text = TokenTree::Literal(Literal::string(&self.text));
        let text = TokenTree::Group(Group::new(Delimiter::Brace, with_span(text, self.at).into()));
        let tokens = colons.clone().into_iter().chain([ident("core")]).chain(colons);
        tokens
            .chain([ident("compile_error"), punct('!', Spacing::Alone), text])
            .map(|token| with_span(token, self.at))
            .collect()
    }
}

fn with_span(mut token: TokenTree, at: Span) -> TokenTree {
    token.set_span(at);
    token
}
