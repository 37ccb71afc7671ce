//! The papers' semantics as an executable machine, and as an oracle for Lamprey: random programs run on both, and each
//! outcome on Lamprey must be one that the machine has. How to read the machine beside the figures: `README.md`.
#![forbid(unsafe_code)]

pub mod check;
pub mod explore;
pub mod generate;
pub mod machine;
pub mod names;
pub mod outcome;
mod print;
pub mod run;
pub mod safety;
pub mod syntax;
