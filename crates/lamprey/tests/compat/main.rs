//! Libraries that know nothing of Lamprey: their futures, wakers and runtimes.

#[path = "../common/mod.rs"]
mod common;

mod libraries;
mod nested;
mod outside;
mod wakers;
