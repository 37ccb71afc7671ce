//! What a choice costs the compiler: seconds and bytes of a program of twenty.

use crate::harness::{Bench, Code, Runner, Sample, Size, Variant};
use crate::work::compile::{Library, Project, profile};
use anyhow::Result;

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "compile",
    about: "a crate of 20 functions, each with a choice of two receives and a time limit, all of different types of values; seconds \
            to build it for release beside its built dependencies, with cargo's own profile, and KB (of 1000 bytes) beyond those of a program that \
            starts the runtime and does nothing. `itself`: seconds to build lamprey beside its built dependencies, for release and \
            for dev. The folder `compile` beside this program keeps what is built (tiny: one choice, and only a check)",
    workers: &[2],
    size: Size::Exactly { full: 20, quick: 20, tiny: 1 },
    runs: 5,
    variants: &[
        Variant { name: "lamprey", rival: false, code: Code::Around("cargo", lamprey), io: None },
        Variant { name: "itself", rival: false, code: Code::Around("cargo", itself), io: None },
        Variant::rival_around("tokio", "cargo", tokio),
        Variant::rival_around("crossbeam", "cargo", crossbeam),
    ],
};

const LAMPREY: Library = Library {
    name: "lamprey",
    dependency: concat!("lamprey = { path = \"", env!("CARGO_MANIFEST_DIR"), "/../crates/lamprey\" }"),
    uses: "use lamprey::Receiver;\nuse lamprey::event::{Event, choose, timeout};",
    choice: "fn choice_#(one: &Receiver<One#>, other: &Receiver<Other#>) -> Option<u64> {
    choose((
        one.recv_evt().wrap(|got| got.ok().map(|value| value.0[0])),
        other.recv_evt().wrap(|got| got.ok().map(|value| value.1)),
        timeout(Duration::from_millis(#)).wrap(|()| None),
    ))
    .sync()
}",
    call: "{
            let ((one, from_one), (other, from_other)) = (lamprey::channel(), lamprey::channel());
            sum += choice_#(&from_one, &from_other).unwrap_or(#);
            drop((one, other));
        }",
    main: "fn main() {\n    lamprey::run(|| {\n        #\n    });\n}",
};

const TOKIO: Library = Library {
    name: "tokio",
    dependency: "tokio = { version = \"1\", features = [\"macros\", \"rt\", \"sync\", \"time\"] }",
    uses: "use tokio::sync::mpsc::{Receiver, channel};",
    choice: "async fn choice_#(one: &mut Receiver<One#>, other: &mut Receiver<Other#>) -> Option<u64> {
    tokio::select! {
        got = one.recv() => got.map(|value| value.0[0]),
        got = other.recv() => got.map(|value| value.1),
        () = tokio::time::sleep(Duration::from_millis(#)) => None,
    }
}",
    call: "{
            let ((one, mut from_one), (other, mut from_other)) = (channel(1), channel(1));
            sum += choice_#(&mut from_one, &mut from_other).await.unwrap_or(#);
            drop((one, other));
        }",
    main: "fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {\n        #\n    });\n}",
};

const CROSSBEAM: Library = Library {
    name: "crossbeam",
    dependency: "crossbeam-channel = \"0.5\"",
    uses: "use crossbeam_channel::{Receiver, bounded, select};",
    choice: "fn choice_#(one: &Receiver<One#>, other: &Receiver<Other#>) -> Option<u64> {
    select! {
        recv(one) -> got => got.ok().map(|value| value.0[0]),
        recv(other) -> got => got.ok().map(|value| value.1),
        default(Duration::from_millis(#)) => None,
    }
}",
    call: "{
            let ((one, from_one), (other, from_other)) = (bounded(0), bounded(0));
            sum += choice_#(&from_one, &from_other).unwrap_or(#);
            drop((one, other));
        }",
    main: "fn main() {\n    drop(crossbeam_channel::bounded::<u8>(0));\n    #\n}",
};

fn lamprey(_: usize) -> Result<Runner> {
    choices(&LAMPREY)
}

fn tokio(_: usize) -> Result<Runner> {
    choices(&TOKIO)
}

fn crossbeam(_: usize) -> Result<Runner> {
    choices(&CROSSBEAM)
}

fn choices(library: &'static Library) -> Result<Runner> {
    Ok(Box::new(|n| {
        let project = Project::write(library, n)?;
        let profile = profile(n);
        project.build(profile, "nothing")?;
        let took = project.build(profile, "choices")?;
        let bytes = project.bytes(profile, "choices")?.saturating_sub(project.bytes(profile, "nothing")?);
        Ok(vec![
            Sample::new("build", "s", took.as_secs_f64()),
            Sample::new("size", "KB", bytes as f64 / 1000.0),
        ])
    }))
}

fn itself(_: usize) -> Result<Runner> {
    Ok(Box::new(|n| {
        let project = Project::write(&LAMPREY, n)?;
        let profiles: &[_] = if n == 1 { &[profile(n)] } else { &["--release", "--profile=dev"] };
        let mut samples = Vec::new();
        for (metric, profile) in ["release", "dev"].into_iter().zip(profiles.iter().copied()) {
            project.build(profile, "lamprey")?;
            project.forget(profile, "lamprey")?;
            samples.push(Sample::new(metric, "s", project.build(profile, "lamprey")?.as_secs_f64()));
        }
        Ok(samples)
    }))
}
