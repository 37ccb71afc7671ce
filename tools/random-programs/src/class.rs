//! The classes of things that programs may contain, each of which can be left out.

use std::fmt;

macro_rules! classes {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:literal $on:literal,)+) => {
        /// Something that a program may contain.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Class {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Class {
            /// Each class with its name and what it is.
            pub const ALL: &[(Self, &str, &str)] = &[$((Self::$variant, $name, concat!($($doc),+)),)+];
        }

        impl Default for Classes {
            fn default() -> Self {
                let mut all = Self(0);
                $(if $on { all.set(Class::$variant, true); })+
                all
            }
        }
    };
}

/// A set of classes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Classes(u32);

impl Classes {
    /// Whether programs may contain it.
    pub fn has(self, class: Class) -> bool {
        self.0 & (1 << class as u32) != 0
    }

    /// Lets programs contain it, or not.
    pub fn set(&mut self, class: Class, on: bool) {
        let bit = 1 << class as u32;
        self.0 = if on { self.0 | bit } else { self.0 & !bit };
    }

    /// Turns a class on or off by its name; `all` stands for all classes. False if there is no class of that
    /// name.
    pub fn set_named(&mut self, name: &str, on: bool) -> bool {
        let mut found = false;
        for &(class, its_name, _) in Class::ALL {
            if name == its_name || name == "all" {
                self.set(class, on);
                found = true;
            }
        }
        found
    }

    /// Those that stand for `--simulated`: without what a simulation does not have, or what its one kernel thread could
    /// never end, such as waits for others in an unwind.
    pub fn simulated() -> Self {
        let mut classes = Self::default();
        for class in [
            Class::OsThreads,
            Class::UnwindingWaits,
            Class::Policies,
            Class::Sources,
            Class::Notifiers,
            Class::Runtimes,
            Class::Sockets,
        ] {
            classes.set(class, false);
        }
        classes
    }

    /// The set as arguments of the command, which stands for `standard` without them.
    pub fn arguments(self, standard: Self) -> Vec<String> {
        let changed = Class::ALL.iter().filter(|(class, ..)| self.has(*class) != standard.has(*class));
        changed
            .flat_map(|&(class, name, _)| {
                [if self.has(class) { "--with" } else { "--without" }.to_owned(), name.to_owned()]
            })
            .collect()
    }
}

impl fmt::Debug for Classes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(Class::ALL.iter().filter(|(c, ..)| self.has(*c)).map(|(_, name, _)| name))
            .finish()
    }
}

classes! {
    /// destructors of values call the API
    Destructors "destructors" true,
    /// destructors, clones and the like may panic or be cancelled
    PanickingDestructors "panicking-destructors" true,
    /// a value that a choice or a reified parasite may drop has a destructor that calls the API
    ChoiceDestructors "choice-destructors" true,
    /// what a choice that was cancelled did not send must not have been received
    ChoiceCommits "choice-commits" true,
    /// wakers of the program's own, which call the API without blocking
    Wakers "wakers" true,
    /// reified parasites whose value's destructor calls the API
    ReifyDestructors "reify-destructors" true,
    /// blocking calls in the poll of a stackless parasite
    BlockingPolls "blocking-polls" true,
    /// futures are waited for in a destructor while its thread unwinds
    UnwindingWaits "unwinding-waits" true,
    /// generators
    Generators "generators" true,
    /// generators that one host begins and another goes on with
    GeneratorsAcross "generators-across" false,
    /// payloads of panics whose destructors call the API
    Payloads "payloads" true,
    /// policies of the program's own
    Policies "policies" true,
    /// policies that call the API: they end the process, as documented, if they wake or start a host of their own worker
    BusyPolicies "busy-policies" false,
    /// sources of the program's own
    Sources "sources" true,
    /// notifiers that call the API
    Notifiers "notifiers" true,
    /// runtimes inside of runtimes
    Runtimes "runtimes" true,
    /// kernel threads of the program's own
    OsThreads "os-threads" true,
    /// sockets
    Sockets "sockets" true,
    /// destructors of thread-locals call the API
    ThreadLocals "thread-locals" false,
    /// runtimes that are ended with a short limit of time, so that threads may survive them, with their values, on a loaded machine
    Survivors "survivors" false,
}
