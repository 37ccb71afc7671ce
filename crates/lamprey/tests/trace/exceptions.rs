use crate::{Log, run};
use lamprey::trace::{Call, Trace, catch, nbio, throw, yield_};

#[test]
fn the_innermost_handler_has_it_after_the_destructors() {
    let log = Log::default();
    let theirs = log.clone();
    let thrown = run(async move {
        let outer = catch(
            async {
                let inner = catch(
                    async {
                        let _guard = theirs.at_drop("guard");
                        yield_().await;
                        throw("boom").await
                    },
                    |exception| {
                        theirs.say(&exception);
                        async { 5 }
                    },
                );
                inner.await + 1
            },
            |_| async { unreachable!("the inner one has it") },
        );
        theirs.say(outer.await);
    });
    assert_eq!((log.said().as_str(), thrown.len()), ("guard boom 6", 0));
}

#[test]
fn a_handler_throws_to_the_next() {
    let log = Log::default();
    let theirs = log.clone();
    run(async move {
        let inner =
            catch(async { throw("one").await }, |one| async move { throw(format!("{one} two")).await });
        let outer = catch(inner, |both| async move { both.to_string() });
        theirs.say(outer.await);
    });
    assert_eq!(log.said(), "one two");
}

#[test]
fn without_a_handler_the_thread_ends() {
    let log = Log::default();
    let theirs = log.clone();
    let thrown = run(async move {
        let _guard = theirs.at_drop("guard");
        throw::<()>("boom").await;
        theirs.say("never");
    });
    assert_eq!((log.said().as_str(), thrown), ("guard", vec!["boom".to_string()]));
}

#[test]
fn a_handler_beside_the_place_is_none() {
    let log = Log::default();
    let theirs = log.clone();
    let thrown = run(async move {
        let other = catch(
            async {
                for _ in 0..10 {
                    yield_().await;
                }
            },
            |_| async { unreachable!("nothing is thrown here") },
        );
        let thrower = catch(
            async {
                nbio(|| ()).await;
                throw("boom").await
            },
            |exception| {
                theirs.say(exception);
                async {}
            },
        );
        futures::join!(other, thrower);
        theirs.say("joined");
    });
    assert_eq!((log.said().as_str(), thrown.len()), ("boom joined", 0));
}

#[test]
fn a_scheduler_may_end_the_thread_instead() {
    let log = Log::default();
    let theirs = log.clone();
    let trace = Trace::new(async move {
        let _guard = theirs.at_drop("guard");
        catch(async { throw("boom").await }, |_| async { unreachable!("nobody raises it") }).await
    });
    let Call::Catch(trace) = trace.step() else { panic!("another call") };
    let Call::Throw(throw) = trace.step() else { panic!("another call") };
    assert_eq!(throw.exception().to_string(), "boom");
    drop(throw);
    assert_eq!(log.said(), "guard");
}
