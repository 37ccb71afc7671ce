//! What is on the screen: what the user has chosen, and what the endpoint has answered last.

use super::data::{Content, Group, Page, Query, Summary, Thread};
use super::feed::Answer;
use std::time::Instant;

/// A page of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum View {
    Groups,
    Reasons,
    Sites,
    /// Threads of this group, or all.
    Threads(Option<GroupName>),
    Thread {
        id: String,
        runtime: u64,
        name: String,
    },
    Stuck,
    Help,
}

/// A group, and what is common to its threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupName {
    pub key: String,
    pub kind: String,
    pub doing: String,
}

/// By what groups are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Count,
    Age,
    Reason,
    Site,
}

impl Order {
    pub fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Age => "age",
            Self::Reason => "reason",
            Self::Site => "site",
        }
    }

    pub fn next(self) -> Self {
        match self {
            Self::Count => Self::Age,
            Self::Age => Self::Reason,
            Self::Reason => Self::Site,
            Self::Site => Self::Count,
        }
    }
}

/// A view, and where the user is in it.
#[derive(Debug, Clone)]
pub struct Place {
    pub view: View,
    pub selected: usize,
    /// What has to be in a line of it.
    pub search: String,
}

impl Place {
    fn at(view: View) -> Self {
        Self { view, selected: 0, search: String::new() }
    }
}

pub struct App {
    pub address: String,
    /// The views that were opened one from the other: never empty.
    pub places: Vec<Place>,
    pub order: Order,
    /// The search is being typed.
    pub is_typing: bool,
    pub is_paused: bool,
    pub is_over: bool,
    pub summary: Summary,
    /// Counts for a second, since the last summary.
    pub rates: Vec<(String, f64)>,
    last: Option<Instant>,
    pub groups: Vec<Group>,
    pub missing: Vec<String>,
    pub page: Page,
    pub lines: Vec<String>,
    /// Why there is nothing new.
    pub error: Option<String>,
    /// There is a keyboard.
    pub has_keys: bool,
    /// The number of lines of the list on the screen.
    pub height: usize,
}

impl App {
    pub fn new(address: String) -> Self {
        Self {
            address,
            places: vec![Place::at(View::Groups)],
            order: Order::Count,
            is_typing: false,
            is_paused: false,
            is_over: false,
            summary: Summary::default(),
            rates: Vec::new(),
            last: None,
            groups: Vec::new(),
            missing: Vec::new(),
            page: Page::default(),
            lines: Vec::new(),
            error: None,
            has_keys: true,
            height: 10,
        }
    }

    pub fn place(&self) -> &Place {
        self.places.last().expect("there is one")
    }

    pub fn place_mut(&mut self) -> &mut Place {
        self.places.last_mut().expect("there is one")
    }

    /// What is to be asked for.
    pub fn query(&self) -> Query {
        match &self.place().view {
            View::Groups | View::Reasons | View::Sites | View::Help => Query::Groups,
            View::Threads(group) => Query::Threads {
                group: group.as_ref().map(|group| group.key.clone()),
                search: self.place().search.clone(),
                // Hundreds at a time, with a hundred before.
                offset: (self.place().selected / 100).saturating_sub(1) * 100,
            },
            View::Thread { id, runtime, .. } => Query::Thread { id: id.clone(), runtime: *runtime },
            View::Stuck => Query::Stuck,
        }
    }

    pub fn update(&mut self, answer: Answer) {
        let Answer { at, summary, query, content } = answer;
        self.rates =
            self.last.map_or_else(Vec::new, |last| rates(&self.summary, &summary, (at - last).as_secs_f64()));
        (self.last, self.summary) = (Some(at), summary);
        self.error = None;
        match content {
            Ok(Content::Groups { groups, missing }) => {
                (self.groups, self.missing) = (groups, missing);
                self.sort();
            }
            // Of a query that the user has left: its lines are not those of the view.
            Ok(_) if query != self.query() => {}
            Ok(Content::Threads(page)) => self.page = page,
            Ok(Content::Text(lines)) => self.lines = lines,
            Err(error) => self.error = Some(error),
        }
        self.keep_selected();
    }

    pub fn fail(&mut self, error: String) {
        self.error = Some(error);
    }

    pub fn open(&mut self, view: View) {
        if matches!(view, View::Thread { .. } | View::Stuck) {
            self.lines = vec!["...".to_owned()];
        }
        if matches!(view, View::Threads(_)) {
            self.page = Page::default();
        }
        self.places.push(Place::at(view));
    }

    /// Back to the view before, if there is one.
    pub fn back(&mut self) {
        if self.places.len() > 1 {
            self.places.pop();
            self.page = Page::default();
        }
    }

    /// Begins anew at a view.
    pub fn go(&mut self, view: View) {
        self.places.clear();
        self.open(view);
    }

    pub fn end(&mut self) {
        self.is_over = true;
    }

    pub fn sort(&mut self) {
        match self.order {
            Order::Count => self.groups.sort_by_key(|group| std::cmp::Reverse(group.count)),
            Order::Age => self.groups.sort_by_key(|group| std::cmp::Reverse(group.oldest)),
            Order::Reason => self.groups.sort_by(|a, b| a.doing().cmp(b.doing())),
            Order::Site => self.groups.sort_by(|a, b| a.site.cmp(&b.site)),
        }
    }

    /// The groups that have what is searched for.
    pub fn groups(&self) -> Vec<&Group> {
        let search = self.place().search.to_lowercase();
        self.groups.iter().filter(|group| search.is_empty() || group.has(&search)).collect()
    }

    /// The groups of each reason, or of each spawn site, together: the largest number of threads first.
    pub fn sums(&self) -> Vec<Sum> {
        let mut sums: Vec<Sum> = Vec::new();
        for group in self.groups() {
            let name = if self.place().view == View::Sites { &group.site } else { group.doing() };
            match sums.iter_mut().find(|sum| sum.name == *name) {
                Some(sum) => {
                    sum.count += group.count;
                    sum.oldest = sum.oldest.max(group.oldest);
                }
                None => sums.push(Sum { name: name.to_owned(), count: group.count, oldest: group.oldest }),
            }
        }
        sums.sort_by_key(|sum| std::cmp::Reverse(sum.count));
        sums
    }

    /// How many lines the list of the view has.
    pub fn length(&self) -> usize {
        match &self.place().view {
            View::Groups => self.groups().len(),
            View::Reasons | View::Sites => self.sums().len(),
            View::Threads(_) => self.page.total,
            View::Thread { .. } | View::Stuck => self.lines.len().saturating_sub(self.height) + 1,
            View::Help => 1,
        }
    }

    fn keep_selected(&mut self) {
        let last = self.length().saturating_sub(1);
        let place = self.place_mut();
        place.selected = place.selected.min(last);
    }

    /// Moves the selection by so many lines.
    pub fn step(&mut self, by: isize) {
        let place = self.place_mut();
        place.selected = place.selected.saturating_add_signed(by);
        self.keep_selected();
    }

    /// The thread at a place of the list, if it is there yet.
    pub fn thread(&self, at: usize) -> Option<&Thread> {
        self.page.threads.get(at.checked_sub(self.page.offset)?)
    }

    /// Opens what is selected.
    pub fn enter(&mut self) {
        let at = self.place().selected;
        let (view, search) = match &self.place().view {
            View::Groups => {
                let groups = self.groups();
                let Some(group) = groups.get(at) else { return };
                let doing = group.doing().to_owned();
                let name = GroupName { key: group.key.clone(), kind: group.kind.clone(), doing };
                (View::Threads(Some(name)), String::new())
            }
            View::Reasons | View::Sites => match self.sums().into_iter().nth(at) {
                Some(sum) => (View::Groups, sum.name),
                None => return,
            },
            View::Threads(_) => match self.thread(at) {
                Some(Thread { id, runtime, name, .. }) => {
                    (View::Thread { id: id.clone(), runtime: *runtime, name: name.clone() }, String::new())
                }
                None => return,
            },
            View::Thread { .. } | View::Stuck | View::Help => return,
        };
        self.open(view);
        self.place_mut().search = search;
    }
}

/// Groups that have something in common.
pub struct Sum {
    /// What that is.
    pub name: String,
    pub count: u64,
    pub oldest: Option<u64>,
}

fn rates(before: &Summary, now: &Summary, seconds: f64) -> Vec<(String, f64)> {
    let before = |name: &str| before.counts.iter().find(|(known, _)| known == name).map(|(_, count)| *count);
    let rate = |(name, count): &(String, u64)| {
        let since = count.checked_sub(before(name)?)?;
        Some((name.clone(), since as f64 / seconds.max(0.001)))
    };
    now.counts.iter().filter_map(rate).collect()
}
