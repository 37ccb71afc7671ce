//! The names of the rules, and how often each has fired.

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// A rule of the machine.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Rule { $($(#[doc = $doc])+ $name,)+ }

        impl Rule {
            /// Each rule, with where it comes from.
            pub const ALL: &[(Self, &str)] = &[$((Self::$name, concat!($($doc),+)),)+];
        }
    };
}

rules! {
    /// 2011 Figure 7, control
    Constant,
    /// 2011 Figure 7, control
    Variable,
    /// 2011 Figure 7, control
    Closure,
    /// 2011 Figure 7, control
    Application,
    /// 2011 Figure 7, control
    Send,
    /// 2011 Figure 7, control
    Receive,
    /// 2011 Figure 7, control
    SpawnParasite,
    /// 2011 Figure 7, return
    ThreadHalt,
    /// 2011 Figure 7, return
    ParasiteHalt,
    /// 2011 Figure 7, return
    Argument,
    /// 2011 Figure 7, return
    Function,
    /// 2011 Figure 7, return
    SendValue,
    /// 2011 Figure 7, return
    SendBlock,
    /// 2011 Figure 7, return
    ReceiveBlock,
    /// 2011 Figure 7, return
    LocalCommunication,
    /// 2011 Figure 8
    LocalEvaluation,
    /// 2011 Figure 8
    Channel,
    /// 2011 Figure 8
    Spawn,
    /// 2011 Figure 8
    MigrateLeft,
    /// 2011 Figure 8
    MigrateRight,
    /// 2011 Figure 8
    Inflate,
    /// 2010 Figure 4
    Communication,
    /// ours, as (Send): the operands from left to right
    Operands,
    /// 2011 2.3, reify
    Reify,
    /// 2011 2.3, prepare
    Prepare,
    /// 2011 2.3, attach
    Attach,
    /// 2011 2.3.1, asynchronous inflation
    SpawnReady,
    /// CML: guard, withNack
    Guard,
    /// CML: sync offers all its branches
    Offer,
    /// CML: a branch that needs no other thread
    CommitAlone,
    /// CML: two offers of one channel, of different synchronisations
    Commit,
    /// 2011 Figure 5, lines 7 to 27
    ChooseAll,
    /// 2011 Figure 5, lines 9 to 20
    Finish,
    /// ACML: aSync, on an implicit parasite
    ASync,
}

/// How often each rule has fired; and which one the machine does not have, in tests that prove that one is needed.
#[derive(Clone, Debug)]
pub struct Tally {
    fired: [u64; Rule::ALL.len()],
    left_out: Option<Rule>,
}

impl Default for Tally {
    fn default() -> Self {
        Self { fired: [0; Rule::ALL.len()], left_out: None }
    }
}

impl Tally {
    /// The tally of a machine without this rule: one of Attach, Finish and Inflate, whose absence tests look for.
    pub fn without(rule: Rule) -> Self {
        Self { left_out: Some(rule), ..Self::default() }
    }

    /// True if the machine has the rule.
    pub fn has(&self, rule: Rule) -> bool {
        self.left_out != Some(rule)
    }

    /// The rule fires.
    pub fn fire(&mut self, rule: Rule) {
        self.fired[rule as usize] += 1;
    }

    /// How often it has fired.
    pub fn count(&self, rule: Rule) -> u64 {
        self.fired[rule as usize]
    }

    /// Adds what another machine has done.
    pub fn add(&mut self, other: &Self) {
        self.fired.iter_mut().zip(other.fired).for_each(|(mine, theirs)| *mine += theirs);
    }
}
