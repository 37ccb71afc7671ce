//! Operations of `tokio::sync`, which need no runtime: ten that are ready, and rounds of ten that wait for another task.

use std::sync::Arc;
use tokio::sync::{Mutex, Notify, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};

/// What the ten operations are done with.
pub struct Ten {
    numbers: (mpsc::Sender<u64>, mpsc::Receiver<u64>),
    news: (broadcast::Sender<u64>, broadcast::Receiver<u64>),
    state: (watch::Sender<u64>, watch::Receiver<u64>),
    mutex: Mutex<u64>,
    lock: RwLock<u64>,
    semaphore: Semaphore,
    notify: Notify,
}

impl Ten {
    /// Everything is free, and every channel empty.
    pub fn new() -> Self {
        Self {
            numbers: mpsc::channel(1),
            news: broadcast::channel(1),
            state: watch::channel(0),
            mutex: Mutex::new(0),
            lock: RwLock::new(0),
            semaphore: Semaphore::new(1),
            notify: Notify::new(),
        }
    }

    /// Does ten operations, none of which has to wait. Returns a number that depends on all of them.
    pub async fn ready(&mut self, n: u64) -> u64 {
        self.numbers.0.send(n).await.expect("there is a receiver");
        let mut sum = self.numbers.1.recv().await.expect("it was sent");
        let (once, answer) = oneshot::channel();
        once.send(n).expect("there is a receiver");
        sum += answer.await.expect("it was sent");
        self.state.0.send(n).expect("there is a receiver");
        self.state.1.changed().await.expect("there is a sender");
        sum += *self.state.1.borrow_and_update();
        self.news.0.send(n).expect("there is a receiver");
        sum += self.news.1.recv().await.expect("it was sent");
        self.notify.notify_one();
        self.notify.notified().await;
        let _permit = self.semaphore.acquire().await.expect("it is open");
        sum += *self.lock.read().await;
        *self.lock.write().await = 1;
        let mut total = self.mutex.lock().await;
        *total += 1;
        sum + *total
    }
}

/// How often a round waits: five times on each side.
pub const WAITS: u64 = 10;

/// One side's ends of what two tasks wait for each other with.
pub struct Side {
    to: mpsc::Sender<oneshot::Sender<u64>>,
    from: mpsc::Receiver<oneshot::Sender<u64>>,
    state: watch::Sender<u64>,
    others_state: watch::Receiver<u64>,
    news: broadcast::Sender<u64>,
    others_news: broadcast::Receiver<u64>,
    mine: Arc<Bells>,
    others: Arc<Bells>,
}

/// What one side waits on, and the other rings.
struct Bells {
    notify: Notify,
    permits: Semaphore,
}

/// Both sides.
pub fn sides() -> (Side, Side) {
    let bells = || Arc::new(Bells { notify: Notify::new(), permits: Semaphore::new(0) });
    let (mine, others) = (bells(), bells());
    let ((to, their_from), (their_to, from)) = (mpsc::channel(1), mpsc::channel(1));
    let ((state, their_view), (their_state, others_state)) = (watch::channel(0), watch::channel(0));
    let ((news, their_reader), (their_news, others_news)) = (broadcast::channel(1), broadcast::channel(1));
    let first =
        Side { to, from, state, others_state, news, others_news, mine: mine.clone(), others: others.clone() };
    let second = Side {
        to: their_to,
        from: their_from,
        state: their_state,
        others_state: their_view,
        news: their_news,
        others_news: their_reader,
        mine: others,
        others: mine,
    };
    (first, second)
}

impl Side {
    /// The side that begins each exchange.
    pub async fn ask(mut self, rounds: u64) -> u64 {
        let mut sum = 0;
        for n in 0..rounds {
            let (answer, asked) = oneshot::channel();
            self.to.send(answer).await.expect("the other side is there");
            sum += asked.await.expect("the other side is there");
            self.others.notify.notify_one();
            self.mine.notify.notified().await;
            self.others.permits.add_permits(1);
            self.mine.permits.acquire().await.expect("it is open").forget();
            self.state.send(n).expect("the other side is there");
            self.others_state.changed().await.expect("the other side is there");
            self.news.send(n).expect("the other side is there");
            sum += self.others_news.recv().await.expect("the other side is there");
        }
        sum
    }

    /// The side that answers.
    pub async fn answer(mut self, rounds: u64) {
        for n in 0..rounds {
            let asked = self.from.recv().await.expect("the other side is there");
            asked.send(n).expect("the other side waits");
            self.mine.notify.notified().await;
            self.others.notify.notify_one();
            self.mine.permits.acquire().await.expect("it is open").forget();
            self.others.permits.add_permits(1);
            self.others_state.changed().await.expect("the other side is there");
            self.state.send(n).expect("the other side is there");
            let news = self.others_news.recv().await.expect("the other side is there");
            self.news.send(news).expect("the other side waits");
        }
    }
}
