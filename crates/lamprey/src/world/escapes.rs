//! What a simulated program uses that is not simulated: its runs may differ for that.

use std::cell::RefCell;

#[derive(Default)]
pub(super) struct Escapes(RefCell<Vec<&'static str>>);

impl Escapes {
    /// True the first time.
    pub(super) fn add(&self, what: &'static str) -> bool {
        let mut all = self.0.borrow_mut();
        let is_new = !all.contains(&what);
        if is_new {
            all.push(what);
        }
        is_new
    }

    pub(super) fn all(&self) -> Vec<&'static str> {
        self.0.borrow().clone()
    }
}
