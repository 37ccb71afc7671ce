//! A real browser that looks at the live page of a running program.

mod browser;
pub mod hostile;
mod page;
mod program;

pub use browser::Browser;
pub use page::Page;
pub use program::Program;
