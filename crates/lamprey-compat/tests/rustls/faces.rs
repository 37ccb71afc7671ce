//! The traits of other libraries.
