//! The attributes `#[lamprey::main]` and `#[lamprey::test]`; use them by these names, from the crate `lamprey`, which also
//! has their documentation.
//!
//! There is no parser of Rust here, and no dependency: an attribute on a function without arguments needs to know where
//! its parts begin, and passes them on as they are. Every program that uses Lamprey builds this crate.

// | file | content |
// |---|---|
// | `item` | the function: what stands before its body |
// | `args` | the arguments of the attribute |
// | `expand` | what is written in the function's place |
// | `select` | what is wrong with the arms of a `select!` |
// | `error` | what does not compile, and where |

mod args;
mod error;
mod expand;
mod item;
mod select;

use proc_macro::TokenStream;

/// (Of the crate `lamprey-macros`.)
#[proc_macro_attribute]
pub fn main(args: TokenStream, function: TokenStream) -> TokenStream {
    expand::attribute(args, function, expand::main)
}

/// (Of the crate `lamprey-macros`.)
#[proc_macro_attribute]
pub fn test(args: TokenStream, function: TokenStream) -> TokenStream {
    expand::attribute(args, function, expand::test)
}

/// The error of a `select!` with these arms, of which the first one could not be read.
#[doc(hidden)]
#[proc_macro]
pub fn select_error(arms: TokenStream) -> TokenStream {
    select::error(arms)
}
