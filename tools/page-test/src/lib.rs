//! A real browser that looks at the live page of a running program.

mod browser;
pub mod hostile;
mod jvm;
mod page;
mod program;

pub use browser::Browser;
pub use jvm::Jvm;
pub use page::Page;
pub use program::Program;
