//! [`TVar`]: a handle of a variable.

use super::StmResult;
use super::transaction::Transaction;
use super::var::Var;
use super::{life, value};
use crate::sched::coop;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;

/// A variable that transactions read and write. Clones are the same variable.
///
/// Small types of the language (integers, floats, `bool`, `char`, `()`) are kept in place: a transaction on
/// them allocates nothing. Others are kept in an `Arc`, and a write allocates one.
///
/// # Examples
/// ```
/// use lamprey::stm::{TVar, atomically};
/// let (mine, yours) = (TVar::new(100), TVar::new(0));
/// let paid = atomically(|tx| {
///     let sum = mine.get(tx)?.min(30);
///     mine.modify(tx, |n| n - sum)?;
///     yours.modify(tx, |n| n + sum)?;
///     Ok(sum)
/// });
/// assert_eq!((paid, mine.get_now(), yours.get_now()), (30, 70, 30));
/// ```
/// A variable has one type, not its supertypes too: through these, a value of less could be written.
/// ```compile_fail,E0308
/// # use lamprey::stm::TVar;
/// let general: TVar<for<'a> fn(&'a str)> = TVar::new(|_| ());
/// let special: TVar<fn(&'static str)> = general.clone();
/// ```
#[doc(alias = "STM")]
#[doc(alias = "Ref")]
pub struct TVar<T> {
    var: NonNull<Var>,
    /// Not covariant: what one handle writes, the others read.
    _value: PhantomData<fn(T) -> T>,
}

// SAFETY: values are moved to other threads, and shared by them (`Arc`), so `T` is both; the handle is counted.
unsafe impl<T: Send + Sync> Send for TVar<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for TVar<T> {}

// A value is replaced as a whole, so a panic leaves none half changed.
impl<T> std::panic::UnwindSafe for TVar<T> {}
impl<T> std::panic::RefUnwindSafe for TVar<T> {}

impl<T: Send + Sync + 'static> TVar<T> {
    /// A variable with `value` in it.
    ///
    /// # Examples
    /// See [`TVar`].
    #[track_caller]
    pub fn new(value: T) -> Self {
        let word = value::into_word(value);
        let var = life::unused();
        // SAFETY: unused, so the caller's alone; memory of variables is never freed.
        unsafe { var.as_ref() }.begin(word, value::drop_of::<T>());
        Self { var, _value: PhantomData }
    }

    /// The value.
    ///
    /// # Examples
    /// See [`TVar`].
    ///
    /// # Errors
    /// If the transaction has to run again; hand it on by `?`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn get(&self, tx: &mut Transaction) -> StmResult<T>
    where
        T: Clone,
    {
        tx.read(self.var, T::clone)
    }

    /// What `f` makes of the value, which is not cloned.
    ///
    /// # Examples
    /// ```
    /// # use lamprey::stm::{TVar, atomically};
    /// let names = TVar::new(vec!["a", "b"]);
    /// assert_eq!(atomically(|tx| names.with(tx, Vec::len)), 2);
    /// ```
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn with<R>(&self, tx: &mut Transaction, f: impl FnOnce(&T) -> R) -> StmResult<R> {
        tx.read(self.var, f)
    }

    /// Replaces the value.
    ///
    /// # Examples
    /// ```
    /// # use lamprey::stm::{TVar, atomically};
    /// let name = TVar::new(String::from("a"));
    /// atomically(|tx| name.set(tx, "b".into()));
    /// assert_eq!(name.get_now(), "b");
    /// ```
    ///
    /// # Errors
    /// None today; hand it on by `?` all the same.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[doc(alias = "write")]
    pub fn set(&self, tx: &mut Transaction, value: T) -> StmResult<()> {
        tx.write::<T>(self.var, value::into_word(value));
        Ok(())
    }

    /// Replaces the value, and returns what was there.
    ///
    /// # Examples
    /// ```
    /// # use lamprey::stm::{TVar, atomically};
    /// let state = TVar::new(1);
    /// assert_eq!(atomically(|tx| state.replace(tx, 2)), 1);
    /// ```
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[doc(alias = "swap")]
    pub fn replace(&self, tx: &mut Transaction, value: T) -> StmResult<T>
    where
        T: Clone,
    {
        // A clone may panic, and `value` must not be dropped within the transaction.
        match catch_unwind(AssertUnwindSafe(|| self.get(tx))) {
            Ok(Ok(before)) => self.set(tx, value).map(|()| before),
            Ok(Err(abort)) => {
                tx.discard(value);
                Err(abort)
            }
            Err(payload) => {
                tx.discard(value);
                resume_unwind(payload)
            }
        }
    }

    /// Replaces the value by what `f` makes of it.
    ///
    /// # Examples
    /// See [`TVar`].
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[doc(alias = "update")]
    pub fn modify(&self, tx: &mut Transaction, f: impl FnOnce(T) -> T) -> StmResult<()>
    where
        T: Clone,
    {
        let value = self.get(tx)?;
        self.set(tx, f(value))
    }

    /// The value that was committed last, without a transaction: cheaper than one that only reads this
    /// variable. In a transaction it is not a part of that, and does not see what that has written.
    ///
    /// # Examples
    /// See [`TVar`].
    ///
    /// # Blocking
    /// Never.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[doc(alias = "readTVarIO")]
    pub fn get_now(&self) -> T
    where
        T: Clone,
    {
        coop::look();
        // SAFETY: this handle keeps the variable alive.
        let var = unsafe { self.var.as_ref() };
        if value::is_word::<T>() {
            // SAFETY: a word of a `T`.
            return unsafe { value::with_word::<T, T>(var.read().0, T::clone) };
        }
        // SAFETY: the variable owns the word, and PEEKED is set.
        let (shared, _) = var.read_shared(|word| unsafe { value::share::<T>(word) });
        T::clone(&life::Share::new(shared))
    }

    /// True if both are the same variable.
    ///
    /// # Examples
    /// ```
    /// # use lamprey::stm::TVar;
    /// let a = TVar::new(1);
    /// assert!(a.is_same(&a.clone()) && !a.is_same(&TVar::new(1)));
    /// ```
    pub fn is_same(&self, other: &Self) -> bool {
        self.var == other.var
    }
}

impl<T> Clone for TVar<T> {
    fn clone(&self) -> Self {
        // SAFETY: this handle keeps the variable alive.
        unsafe { self.var.as_ref() }.add_ref();
        Self { var: self.var, _value: PhantomData }
    }
}

impl<T> Drop for TVar<T> {
    fn drop(&mut self) {
        life::release(self.var);
    }
}

impl<T: Default + Send + Sync + 'static> Default for TVar<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: Send + Sync + 'static> From<T> for TVar<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Clone + fmt::Debug + Send + Sync + 'static> fmt::Debug for TVar<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TVar").field(&self.get_now()).finish()
    }
}

#[cfg(loom)]
impl<T: 'static> TVar<T> {
    /// If this is the last handle, the memory becomes another variable.
    pub(crate) fn begin_anew(&self, value: T, stamp: super::stamp::Stamp) -> Option<Self> {
        // SAFETY: this handle keeps the variable alive.
        let var = unsafe { self.var.as_ref() };
        var.release_ref().then(|| {
            var.retire(stamp);
            var.begin(value::into_word(value), value::drop_of::<T>());
            Self { var: self.var, _value: PhantomData }
        })
    }

    /// True if a node is queued.
    pub(crate) fn has_waiters(&self) -> bool {
        // SAFETY: this handle keeps the variable alive.
        unsafe { self.var.as_ref() }.word() & super::stamp::WAITED != 0
    }
}
