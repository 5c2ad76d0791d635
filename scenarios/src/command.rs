//! The command line.

mod arguments;
mod manual;
#[cfg(feature = "run")]
mod run_arguments;
#[cfg(feature = "run")]
mod sweeps;

use crate::bad_input::did_you_mean;
use crate::ensemble::EnsembleArguments;
use crate::interrupt::Interrupt;
use crate::output::{paint, print, show};
use crate::progress::Progress;
use crate::trial_list::Trials;
use crate::{Answer, BadInput, check, list};
#[cfg(feature = "run")]
use arguments::ScenarioKind;
use arguments::{Arguments, CheckArguments, CheckKind, CheckOutputs, Command};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use zk_harness::trial::Trial;
use zk_model::CheckConfig;
use zk_model::ensemble::EnsembleConfig;
use zk_reports::{SCHEMAS, count, prepare_report_dir, to_json};

/// The exit status for a bad command line, file or environment.
const BAD_INPUT: u8 = 2;

/// Does what a command line asks for.
pub(crate) fn main(catalogue: &Trials, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let done = parse(arguments).and_then(|parsed| match parsed {
        Some(arguments) => run(catalogue, arguments.command),
        None => Ok(Answer::Held),
    });
    match done {
        Ok(answer) => ExitCode::from(answer.exit_status()),
        Err(bad) => {
            // Nobody to tell: the exit status still says it.
            let _ = writeln!(std::io::stderr(), "zoocheck: {bad}");
            ExitCode::from(BAD_INPUT)
        }
    }
}

/// `None` if help or the version was asked for, and given.
fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Arguments>, BadInput> {
    let error = match Arguments::try_parse_from(arguments) {
        Ok(parsed) => return Ok(Some(parsed)),
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let text = error.render();
            let coloured = paint() == zk_reports::Paint::COLOURS;
            print(&if coloured { text.ansi().to_string() } else { text.to_string() })?;
            Ok(None)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Err(bad!("no command given; 'zoocheck --help' lists them"))
        }
        ErrorKind::InvalidSubcommand => {
            let typed = match error.get(ContextKind::InvalidSubcommand) {
                Some(ContextValue::String(typed)) => typed.as_str(),
                _ => "",
            };
            let names: Vec<String> =
                Arguments::command().get_subcommands().map(|it| it.get_name().to_string()).collect();
            let hint = did_you_mean(typed, names.iter().map(String::as_str));
            Err(bad!("no command '{typed}'; there are {}{hint}", names.join(", ")))
        }
        _ => {
            let text = error.render().to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text);
            // What stands behind a recipe is no command.
            if let Some(typed) =
                text.strip_prefix("the subcommand '").and_then(|rest| rest.split('\'').next())
            {
                return Err(bad!("unexpected argument '{typed}'"));
            }
            let said = text.lines().take_while(|line| !line.starts_with("Usage:"));
            // Nobody who mistypes an option wants it to be a value.
            let is_told =
                |line: &str| !line.starts_with("For more information") && !line.contains("as a value, use");
            let said = said.filter(|line| is_told(line));
            let said: Vec<String> =
                said.map(|line| line.trim_start().replacen("tip: ", "- tip: ", 1)).collect();
            Err(BadInput::new(said.join("\n")))
        }
    }
}

fn run(catalogue: &Trials, command: Command) -> Result<Answer, BadInput> {
    match command {
        Command::List { what, format } => {
            let only = what.map(|what| named(catalogue, &what, &[])).transpose()?;
            list::list(catalogue, only.as_ref(), format)
        }
        Command::Explain { defect } => crate::explain::explain(catalogue, &defect),
        Command::New(arguments) => crate::new::new(catalogue, &arguments),
        #[cfg(feature = "run")]
        Command::Run(arguments) => sweeps::run(catalogue, &arguments),
        #[cfg(feature = "run")]
        Command::Report(arguments) => sweeps::report(&arguments),
        #[cfg(feature = "run")]
        Command::Replay(arguments) => chaos::replay(catalogue, &arguments),
        #[cfg(feature = "run")]
        Command::Shrink(arguments) => chaos::shrink(catalogue, &arguments),
        #[cfg(feature = "run")]
        Command::Fuzz(arguments) => crate::fuzz::fuzz(&arguments),
        #[cfg(feature = "run")]
        Command::Judge(arguments) => chaos::judge(catalogue, &arguments),
        #[cfg(feature = "run")]
        Command::Compare(arguments) => chaos::compare(catalogue, &arguments),
        #[cfg(feature = "run")]
        Command::Mutate(arguments) => chaos::mutate(catalogue, &arguments),
        #[cfg(feature = "run")]
        Command::Mutants(arguments) => chaos::mutants(catalogue, &arguments),
        Command::Check { kind: Some(CheckKind::Ensemble(arguments)), .. } => ensemble(&arguments),
        Command::Check { kind: None, check: Some(check), outputs } => checked(catalogue, &check, &outputs),
        Command::Completions { shell } => completions(shell),
        Command::Manual { command } => manual::manual(&command),
        #[cfg(feature = "run")]
        Command::Scenario { what: ScenarioKind::Explain(arguments) } => {
            crate::scenario_keys::explain(&arguments)
        }
        Command::Schema { report } => {
            let found = SCHEMAS.into_iter().find(|(name, _)| *name == report);
            let (name, schema) = found.expect("the parser lets no other name pass");
            print(&to_json(&schema(name)))?;
            Ok(Answer::Held)
        }
        Command::Check { kind: None, check: None, .. } => {
            Err(bad!("check: say what: a recipe, a variant, a scenario file, or ensemble"))
        }
        Command::Explore { check, listen } => {
            let (trial, config) = configured(catalogue, &check)?;
            check::explore(&trial, &config, listen)?;
            Ok(Answer::Held)
        }
        #[cfg(feature = "serve")]
        Command::Serve(arguments) => crate::serve::serve(&arguments),
        #[cfg(all(feature = "serve", feature = "live"))]
        Command::Drive(arguments) => crate::drive::drive(arguments),
        #[cfg(feature = "conform")]
        Command::Conform(arguments) => crate::conform::conform(&arguments),
    }
}

/// What was typed, to be typed again: but for where its report goes.
fn typed() -> String {
    let mut words = vec!["zoocheck".to_string()];
    // What is no text is told as well as it can be.
    let mut arguments = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    while let Some(word) = arguments.next() {
        match word.as_str() {
            "--report" => drop(arguments.next()),
            word if word.starts_with("--report=") => {}
            word => words.push(crate::shell::shell_word(word)),
        }
    }
    words.join(" ")
}

/// What a shell is to read.
fn completions(shell: clap_complete::Shell) -> Result<Answer, BadInput> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "zoocheck", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Answer::Held)
}

fn checked(
    catalogue: &Trials,
    arguments: &CheckArguments,
    outputs: &CheckOutputs,
) -> Result<Answer, BadInput> {
    let (trial, mut config) = configured(catalogue, arguments)?;
    // Whoever interrupts it is told what it has come to.
    config.stop = Some(Interrupt::watch()?.flag());
    let dir = outputs.report.as_deref();
    dir.map(prepare_report_dir).transpose()?;
    #[cfg(feature = "run")]
    if let Some(file) = outputs.export.as_deref() {
        if trial.programs().is_some() {
            let what = &arguments.what;
            return Err(bad!("--export: {what} is a program, which takes no single steps"));
        }
        crate::run::new_scenario_file(file)?;
    }
    let mut progress = Progress::new(outputs.format, None);
    let (mut report, found) =
        check::explored(&arguments.what, &trial, &config, &mut |now| tell(&mut progress, now));
    drop(progress);
    if let Some(fault) = trial.programs().and_then(|programs| programs.fault()) {
        return Err(BadInput::new(fault));
    }
    report.next = report.next.map(|next| next.replacen("zoocheck", &crate::shell::program(), 1));
    if let (Some(next), false) = (&mut report.next, arguments.promises.is_empty()) {
        next.push_str(&format!(" --promises {}", arguments.promises.join(",")));
    }
    report.command = Some(typed());
    if dir.is_some() {
        report.pictures = check::drawn(&found, config.bounds.clients);
    }
    show(&report, &outputs.format.of(&report), dir)?;
    #[cfg(feature = "run")]
    if let Some(file) = &outputs.export {
        chaos::export((&trial, &config), &found, &typed(), file)?;
    }
    Ok(report.verdict.answer())
}

fn ensemble(arguments: &EnsembleArguments) -> Result<Answer, BadInput> {
    let config = EnsembleConfig { stop: Some(Interrupt::watch()?.flag()), ..arguments.config()? };
    arguments.report.as_deref().map(prepare_report_dir).transpose()?;
    let mut progress = Progress::new(arguments.format, None);
    let mut report =
        crate::ensemble::check(&config, arguments.whole_servers, &mut |now| tell(&mut progress, now));
    drop(progress);
    report.command = Some(typed());
    report.pictures = crate::draw::servers::drawn(&report);
    show(&report, &arguments.format.of(&report), arguments.report.as_deref())?;
    Ok(report.verdict.answer())
}

/// How far a search is.
fn tell(progress: &mut Progress, now: zk_model::Progress) {
    let note =
        format!("{} states, {} to explore, depth {}", count(now.states), count(now.frontier), now.depth);
    progress.at(now.states, || note.clone(), || note.clone());
}

/// The trial that is meant, and what is to be explored of it.
fn configured(catalogue: &Trials, arguments: &CheckArguments) -> Result<(Arc<Trial>, CheckConfig), BadInput> {
    let trial = named(catalogue, &arguments.what, &arguments.promises)?;
    let promises = trial.held_to();
    let names: Vec<&str> = promises.iter().map(|promise| promise.name()).collect();
    let config = arguments.config(check::default_config(&trial.about), &names)?;
    let config = CheckConfig { inevitable_within: Some(check::CONTINUATIONS), ..config };
    Ok((trial, config))
}

/// A scenario file stands for the recipe in it: its sizes and faults are chaos's, not the model's.
fn named(catalogue: &Trials, what: &str, promises: &[String]) -> Result<Arc<Trial>, BadInput> {
    #[cfg(feature = "run")]
    if crate::trial_list::is_file(what) || crate::run::is_program(what) || !promises.is_empty() {
        let asked = crate::run::Asked { promises: promises.to_vec(), ..crate::run::Asked::default() };
        return crate::run::Target::asked(catalogue, what, asked).map(|target| target.trial);
    }
    #[cfg(not(feature = "run"))]
    if crate::trial_list::is_file(what) || !promises.is_empty() {
        let able = "reads no scenario files and hosts no programs";
        return Err(bad!("{what}: this build {able}; name the recipe instead"));
    }
    catalogue.find(what)
}

#[cfg(feature = "run")]
mod chaos {
    use super::run_arguments::{ReplayArguments, ReplayFormat, ShrinkArguments};
    use super::{Answer, BadInput, Progress, Trials, paint, print, show};
    use crate::compare::CompareArguments;
    use crate::judge::{Contenders, JudgeArguments, JudgeFormat};
    use crate::mutants::MutantsArguments;
    use crate::mutate::MutateArguments;
    use crate::output::Format;
    use crate::run::{self, Target};
    use std::io::Write as _;
    use std::path::Path;
    use std::sync::Arc;
    use zk_harness::trial::Trial;
    use zk_model::{Check, CheckConfig, Verdict};
    use zk_reports::{
        Lines, count, judge_by_promises, mermaid, prepare_report_dir, replay_text, to_json, write_whole,
    };
    use zk_simulator::RunOptions;
    use zk_simulator::order::Order;

    /// Judges trials, and tells where engines and catalogue agree.
    pub(super) fn judge(catalogue: &Trials, arguments: &JudgeArguments) -> Result<Answer, BadInput> {
        if let Some(contenders) = &arguments.herd {
            return herd(catalogue, arguments, contenders);
        }
        let total = crate::judge::trials(catalogue, &arguments.what)?.len() as u64;
        arguments.report.as_deref().map(prepare_report_dir).transpose()?;
        let mut progress = Progress::without_answer(arguments.format.progress(), Some(total))?;
        let report = crate::judge::judge(catalogue, &arguments.what, &arguments.effort(), &mut |done| {
            progress.at(done, String::new, || format!("{done} of {total} trials"));
        })?;
        drop(progress);
        let shown = match arguments.format {
            JudgeFormat::Human if arguments.promises => judge_by_promises(&report, paint()),
            format => format.of(&report),
        };
        show(&report, &shown, arguments.report.as_deref())?;
        Ok(report.answer)
    }

    /// Compares recipes.
    pub(super) fn compare(catalogue: &Trials, arguments: &CompareArguments) -> Result<Answer, BadInput> {
        arguments.report.as_deref().map(prepare_report_dir).transpose()?;
        let mut progress = Progress::without_answer(arguments.format.progress(), None)?;
        let report = crate::compare::compare(catalogue, arguments, &mut |done| {
            progress.at(done, String::new, || format!("{done} recipes"));
        })?;
        drop(progress);
        show(&report, &arguments.format.of(&report), arguments.report.as_deref())?;
        Ok(report.answer)
    }

    /// Tells how many clients a release wakes.
    fn herd(
        catalogue: &Trials,
        arguments: &JudgeArguments,
        contenders: &Contenders,
    ) -> Result<Answer, BadInput> {
        let mut progress = Progress::without_answer(arguments.format.progress(), None)?;
        let report = crate::judge::herd(catalogue, arguments, contenders, &mut |done, total| {
            progress.at(done, String::new, || format!("{done} of {total} runs"));
        })?;
        drop(progress);
        show(&report, &arguments.format.of(&report), None)?;
        Ok(report.answer)
    }

    /// Lets recipes go wrong, and tells what notices.
    pub(super) fn mutate(catalogue: &Trials, arguments: &MutateArguments) -> Result<Answer, BadInput> {
        let mut progress = Progress::without_answer(arguments.format.progress(), None)?;
        let report = crate::mutate::mutate(catalogue, arguments, &mut |name, done| {
            progress.at(done, || name.to_owned(), || format!("{name}: {done} mutations"));
        })?;
        drop(progress);
        show(&report, &arguments.format.of(&report), None)?;
        Ok(report.answer)
    }

    /// Plants bugs into the servers, and tells what finds them.
    pub(super) fn mutants(catalogue: &Trials, arguments: &MutantsArguments) -> Result<Answer, BadInput> {
        let total = arguments.mutants()?.len() as u64;
        arguments.report.as_deref().map(prepare_report_dir).transpose()?;
        let mut progress = Progress::without_answer(arguments.format, Some(total))?;
        let mut report = crate::mutants::mutants(catalogue, arguments, &mut |done| {
            progress.at(done, String::new, || format!("{done} of {total} mutants"));
        })?;
        drop(progress);
        report.command = Some(super::typed());
        show(&report, &arguments.format.of(&report), arguments.report.as_deref())?;
        Ok(report.answer)
    }

    /// Makes a failing run smaller. The answer is that of the small one: broken.
    pub(super) fn shrink(catalogue: &Trials, arguments: &ShrinkArguments) -> Result<Answer, BadInput> {
        let target = arguments.asks.target(catalogue)?;
        let seed = target.seed(arguments.seed)?;
        let promise = arguments.promise.as_deref();
        let file = match &arguments.output {
            Some(file) => file.clone(),
            None => run::new_case(&target, seed, promise)?,
        };
        let shrunk = shrunk(&target, seed, &file, arguments);
        if arguments.keep && shrunk.is_err() {
            run::no_case(&file);
        }
        print(&run::shrunk_text(&shrunk?, &target, &file.to_string_lossy()))?;
        Ok(Answer::Broken)
    }

    fn shrunk(
        target: &Target,
        seed: u64,
        file: &Path,
        arguments: &ShrinkArguments,
    ) -> Result<run::Shrunk, BadInput> {
        run::new_scenario_file(file)?;
        let stop = crate::interrupt::Interrupt::watch()?.flag();
        let effort = run::ShrinkEffort { tries: arguments.tries, time_limit: arguments.time_limit, stop };
        let mut progress = Progress::new(Format::Human, None);
        let mut tell = |tried, best: &_| {
            let size = || run::size(best);
            progress.at(tried, size, || format!("{} runs tried: {}", count(tried), size()));
        };
        let promise = arguments.promise.as_deref();
        let shrunk = run::caught(seed, || run::shrink(target, seed, promise, effort, &mut tell))??;
        drop(progress);
        let name = file.to_string_lossy();
        let made_by = target.words("zoocheck", "shrink", seed);
        let again = run::replay_of(&name, target.promises());
        write_whole(file, run::to_file(&shrunk.scenario, &made_by, &again).as_bytes())?;
        Ok(shrunk)
    }

    /// Writes a check's counterexample as a scenario file, once the simulator has shown that it breaks the same there.
    pub(super) fn export(
        (trial, config): (&Arc<Trial>, &CheckConfig),
        check: &Check,
        made_by: &str,
        file: &Path,
    ) -> Result<(), BadInput> {
        let name = file.to_string_lossy();
        let broken = match &check.verdict {
            Verdict::Violated { promise, .. } => check.promises.iter().find(|result| result.name == promise),
            Verdict::Holds | Verdict::Undecided { .. } | Verdict::NotDetermined { .. } => None,
        };
        let example = broken.and_then(|result| Some((result.name, result.broken.as_ref()?)));
        let Some((promise, example)) = example else {
            return tell(&format!("{name} is not written: nothing was broken"));
        };
        match run::export(trial, config, promise, example) {
            Err(why) => tell(&format!("{name} is not written: {why}")),
            Ok((scenario, _)) => {
                let again = run::replay_of(&name, &[]);
                write_whole(file, run::to_file(&scenario, made_by, &again).as_bytes())?;
                tell(&format!(
                    "{name} is written; the simulator takes the same steps, and {promise} breaks: {again}"
                ))
            }
        }
    }

    /// Beside the result, which stands whatever comes of this.
    fn tell(line: &str) -> Result<(), BadInput> {
        let _ = writeln!(std::io::stderr(), "{line}");
        Ok(())
    }

    /// Runs one seed again.
    pub(super) fn replay(catalogue: &Trials, arguments: &ReplayArguments) -> Result<Answer, BadInput> {
        let target = arguments.asks.target(catalogue)?;
        let log = run::logs(arguments.log.as_deref())?;
        let seed = target.seed(arguments.seed)?;
        let order = match (arguments.at, arguments.exhaust) {
            (None, _) => None,
            (Some(at_ns), Some(steps)) => return exhaust(&target, seed, at_ns, steps, arguments),
            (Some(_), None) if arguments.order.is_empty() => {
                return Err(bad!("--at: say what is to happen there: --exhaust K, or --order N,…"));
            }
            (Some(from_ns), None) => {
                let steps = u32::try_from(arguments.order.len()).unwrap_or(u32::MAX);
                Some(Order { from_ns, steps, picks: arguments.order.clone() })
            }
        };
        let options = RunOptions { log, order, ..RunOptions::default() };
        let redraws = redraws(&target, arguments)?;
        let (whole, promise) = (arguments.trace, arguments.promise.as_deref());
        if arguments.format == ReplayFormat::Mermaid {
            let (answer, diagram) = run::replay_drawn(&target, seed, promise, redraws, options)?;
            print(&mermaid(&diagram))?;
            return Ok(answer);
        }
        let report = run::replay(&target, seed, whole, promise, redraws, options)?;
        print(&match arguments.format {
            ReplayFormat::Human => {
                replay_text(&report, paint(), if whole { Lines::Trace } else { arguments.lines })
            }
            ReplayFormat::Json | ReplayFormat::Mermaid => to_json(&report),
        })?;
        Ok(report.answer)
    }

    /// How often what follows is to be left to another chance.
    fn redraws(target: &Target, arguments: &ReplayArguments) -> Result<Option<run::Redraws>, BadInput> {
        if arguments.trace || arguments.at.is_some() {
            return Ok(None);
        }
        let has_script = target.scenario.run.as_ref().is_some_and(|one| one.script.is_some());
        if has_script && arguments.redraws.is_some_and(|many| many > 0) {
            let what = &target.what;
            return Err(bad!("--redraws: {what} gives every step; nothing is left to chance"));
        }
        let jobs = arguments.jobs.map_or_else(run::default_jobs, usize::from);
        Ok(run::Redraws::of(target, arguments.redraws, jobs))
    }

    /// Takes some events of a run in every order.
    fn exhaust(
        target: &Target,
        seed: u64,
        at_ns: u64,
        steps: u32,
        arguments: &ReplayArguments,
    ) -> Result<Answer, BadInput> {
        if arguments.format == ReplayFormat::Mermaid {
            return Err(bad!("--format mermaid: one order is drawn, and not all of --exhaust"));
        }
        let jobs = arguments.jobs.map_or_else(run::default_jobs, usize::from);
        let what = run::Exhaust { at_ns, steps, most: arguments.max_orders, jobs };
        let mut progress = Progress::without_answer(arguments.format.progress(), None)?;
        let report = run::exhaust(target, seed, &what, &mut |done, waiting, broken| {
            let note = || {
                format!("{} orders, {} wait, {} broken", count(done), count(waiting as u64), count(broken))
            };
            progress.at(done, note, note);
        })?;
        drop(progress);
        show(&report, &arguments.format.progress().of(&report), None)?;
        Ok(report.answer)
    }
}
