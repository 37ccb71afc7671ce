//! What is written in the function's place.
//!
//! The function goes on to exist, within one that has its name: so the compiler speaks of what the program wrote. The outer
//! one starts a runtime, has the inner one called there, and returns how it ended; an output that is an error is printed
//! where it was made, so it need not be `Send`.

use crate::args::{Args, Form, Known};
use crate::error::{Error, Result};
use crate::item::{Attribute, Function};
use proc_macro::{Group, Span, TokenStream, TokenTree};

const WORKERS: Known = ("workers", Form::Number(1, 1024), "4");
const STACK_SIZE: Known = ("stack_size", Form::Number(1, 1 << 30), "256 << 10");
const FROM_ENV: Known = ("from_env", Form::Switch, "false");
const CRATE: Known = ("crate", Form::Path, "::lamprey");
const TIMEOUT: Known = ("timeout", Form::Time, "\"5s\"");
const SIMULATED: Known = ("simulated", Form::Switch, "");
const SEED: Known = ("seed", Form::Number(0, u64::MAX), "7");
const RUNS: Known = ("runs", Form::Number(1, u64::MAX), "1000");

/// Expands an attribute. Where it does not compile, the function is left as it is, so that there are no further errors of
/// its not being there.
pub(crate) fn attribute(
    args: TokenStream,
    function: TokenStream,
    expand: fn(TokenStream, TokenStream) -> Result<TokenStream>,
) -> TokenStream {
    expand(args, function.clone())
        .unwrap_or_else(|error| error.tokens().into_iter().chain(function).collect())
}

pub(crate) fn main(args: TokenStream, function: TokenStream) -> Result<TokenStream> {
    const NAME: &str = "#[lamprey::main]";
    let args = Args::read(args, NAME, &[WORKERS, STACK_SIZE, FROM_ENV, CRATE])?;
    let function = Function::read(function, NAME)?;
    if function.name.to_string() != "main" {
        let text = "`#[lamprey::main]` is for `fn main`; `lamprey::run` runs any function";
        return Err(Error::new(function.name.span(), text));
    }
    let template = "
        __attributes __visibility fn __name() -> ::std::process::ExitCode {
            __async fn __name() __rest
            __crate::__start::main(__crate::Runtime::builder() __settings, __call)
        }";
    Ok(fill(template, &holes(&args, &function)))
}

pub(crate) fn test(args: TokenStream, function: TokenStream) -> Result<TokenStream> {
    const NAME: &str = "#[lamprey::test]";
    let known = [WORKERS, STACK_SIZE, FROM_ENV, TIMEOUT, SIMULATED, SEED, RUNS, CRATE];
    let args = Args::read(args, NAME, &known)?;
    let function = Function::read(function, NAME)?;
    let is_test = |path: &str| path == "test" || path.ends_with("::test");
    if let Some(second) = function.attributes.iter().find(|attribute| is_test(&attribute.path)) {
        return Err(Error::new(
            second.at,
            "the function is a test already: leave one of the two attributes out",
        ));
    }
    let is_simulated =
        args.switch("simulated").unwrap_or_else(|| args.at("seed").or(args.at("runs")).is_some());
    check_simulation(&args, is_simulated)?;
    let should_panic = function.attributes.iter().any(is_should_panic);
    let mut holes = holes(&args, &function);
    holes.push(("__limit", limit(&args)));
    holes.push(("__should_panic", literal(if should_panic { "true" } else { "false" })));
    holes.push((
        "__seed",
        args.value("seed").map_or_else(|| literal("None"), |seed| fill("Some(__seed)", &[("__seed", seed)])),
    ));
    holes.push((
        "__runs",
        args.value("runs").map_or_else(|| literal("None"), |runs| fill("Some(__runs)", &[("__runs", runs)])),
    ));
    let run = match is_simulated {
        false => "run(__crate::__start::builder() __settings, __call)",
        true => "simulate(
            __crate::__start::Simulations { seed: ::core::option::Option::__seed, runs: ::core::option::Option::__runs, set: |sim| sim __settings },
            __call
        )",
    };
    let (output, begin, end) =
        if function.has_output { ("-> ::std::process::ExitCode", "", "") } else { ("", "let _ =", ";") };
    let template = format!(
        "const _: ::core::time::Duration = __limit;
        #[::core::prelude::v1::test]
        __attributes __visibility fn __name() {output} {{
            __async fn __name() __rest
            {begin} __crate::__start::Test {{
                name: ::core::concat!(::core::module_path!(), \"::\", ::core::stringify!(__name)),
                limit: __limit,
                should_panic: __should_panic,
            }}.{run} {end}
        }}"
    );
    Ok(fill(&template, &holes))
}

fn check_simulation(args: &Args, is_simulated: bool) -> Result<()> {
    let only_with = |name: &str| args.at(name).filter(|_| !is_simulated);
    if let Some(at) = only_with("seed").or(only_with("runs")) {
        return Err(Error::new(at, "this is for simulations: it goes with `simulated`"));
    }
    if let (Some(_), Some(at)) = (args.at("seed"), args.at("runs")) {
        return Err(Error::new(at, "`seed` is for one run, `runs` for those by the seeds from 0 on"));
    }
    match args.at("from_env").filter(|_| is_simulated) {
        Some(at) => Err(Error::new(at, "a simulation takes no settings from the environment")),
        None => Ok(()),
    }
}

/// A length of time. It is written as a constant too, so that a wrong one does not compile, not even where tests are left out.
fn limit(args: &Args) -> TokenStream {
    let value = args.value("timeout").unwrap_or_else(|| literal("60"));
    let is_text = value.to_string().starts_with('"');
    let template = match is_text {
        true => "const { __crate::__start::limit(__value) }",
        false => "::core::time::Duration::from_secs(__value)",
    };
    fill(template, &[("__value", value), ("__crate", krate(args))])
}

/// What both attributes write.
fn holes(args: &Args, function: &Function) -> Vec<(&'static str, TokenStream)> {
    let is_simulated = args.at("simulated").or(args.at("seed")).or(args.at("runs")).is_some();
    let mut settings = TokenStream::new();
    for name in ["workers", "stack_size"] {
        if let Some(value) = args.value(name) {
            settings.extend(fill(&format!(".{name}(__value)"), &[("__value", value)]));
        }
    }
    // Last: whoever starts the program decides.
    if args.switch("from_env").unwrap_or(!is_simulated) {
        settings.extend(literal(".from_env()"));
    }
    let name: TokenStream = TokenTree::Ident(function.name.clone()).into();
    let call = if function.is_async { "|| __crate::wait(__name())" } else { "__name" };
    let call = fill(call, &[("__crate", krate(args)), ("__name", name.clone())]);
    vec![
        ("__attributes", function.attributes.iter().map(|attribute| attribute.tokens.clone()).collect()),
        ("__visibility", function.visibility.clone()),
        ("__async", literal(if function.is_async { "async" } else { "" })),
        ("__name", name),
        ("__rest", function.rest.clone()),
        ("__settings", settings),
        ("__call", call),
        ("__crate", krate(args)),
    ]
}

/// The path of the crate `lamprey`.
fn krate(args: &Args) -> TokenStream {
    args.value("crate").unwrap_or_else(|| literal("::lamprey"))
}

/// Tokens of this crate's own text.
fn literal(text: &str) -> TokenStream {
    text.parse().unwrap_or_else(|error| panic!("lamprey-macros: a bug, please report it: {error} in {text}"))
}

/// The tokens of a template, with each word that is the name of a hole replaced.
fn fill(template: &str, holes: &[(&str, TokenStream)]) -> TokenStream {
    fill_tokens(literal(template), holes)
}

fn fill_tokens(template: TokenStream, holes: &[(&str, TokenStream)]) -> TokenStream {
    let mut filled = TokenStream::new();
    for token in template {
        match token {
            TokenTree::Group(group) => {
                let mut copy = Group::new(group.delimiter(), fill_tokens(group.stream(), holes));
                copy.set_span(Span::call_site());
                filled.extend([TokenTree::Group(copy)]);
            }
            TokenTree::Ident(word) => {
                let text = word.to_string();
                match holes.iter().find(|(name, _)| *name == text) {
                    Some((_, tokens)) => filled.extend(tokens.clone()),
                    None => filled.extend([TokenTree::Ident(word)]),
                }
            }
            other => filled.extend([other]),
        }
    }
    filled
}

/// Also of an attribute that is there only sometimes: a late test then ends the process, which is right in both cases.
fn is_should_panic(attribute: &Attribute) -> bool {
    match attribute.path.as_str() {
        "should_panic" => true,
        "cfg_attr" => attribute.text.contains("should_panic"),
        _ => false,
    }
}
