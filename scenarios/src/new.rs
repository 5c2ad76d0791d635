//! `zoocheck new`: a crate of one's own to begin with, from `templates`. Those of a lock are links to the files of
//! `examples/own-recipe`, which is a crate of its own and so no part of what cargo packages.

use crate::output::print;
use crate::trial_list::Trials;
use crate::{Answer, BadInput};
use clap::{Args, ValueEnum};
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) const ABOUT: &str = "\
Creates a starter crate for a recipe of your own

It has a trial with its promises, a test, the flags and the profile that zoocheck needs, and a
workflow for GitHub. It runs at once; then change the recipe, its znodes and its promises.";

/// What every such crate has, by its place.
const FILES: [(&str, &str); 4] = [
    (".cargo/config.toml", include_str!("../templates/config.toml")),
    (".github/workflows/recipe.yml", include_str!("../templates/recipe.yml")),
    (".gitignore", "/target\n/out\n"),
    ("Cargo.toml", include_str!("../templates/manifest.toml")),
];

/// Where the sources of zoocheck were as it was built.
const BUILT_FROM: &str = env!("CARGO_MANIFEST_DIR");

#[derive(Args, Debug)]
pub(crate) struct NewArguments {
    /// The name of the crate, of its directory and of its recipe, such as my-lock
    name: String,
    /// What kind of recipe
    #[arg(long, value_enum, default_value_t)]
    kind: Kind,
    /// Where the sources of zoocheck are [default: where this one was built]
    #[arg(long, value_name = "DIR")]
    zoocheck: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
enum Kind {
    // One znode; wrong, as a look at its counterexample shows.
    #[default]
    Lock,
    // With a promise written from nothing.
    Queue,
    // With a promise written from nothing.
    Barrier,
    // Who leads watches nobody.
    Election,
}

impl Kind {
    /// The kind's name in its files.
    fn files(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Kind::Lock => &[
                ("src/main.rs", include_str!("../templates/lock.rs")),
                ("src/tests.rs", include_str!("../templates/tests.rs")),
            ],
            Kind::Queue => &[("src/main.rs", include_str!("../templates/queue.rs"))],
            Kind::Barrier => &[("src/main.rs", include_str!("../templates/barrier.rs"))],
            Kind::Election => &[("src/main.rs", include_str!("../templates/election.rs"))],
        }
    }
}

/// Writes the crate, and says what to do with it.
pub(crate) fn new(catalogue: &Trials, arguments: &NewArguments) -> Result<Answer, BadInput> {
    let NewArguments { name, kind, zoocheck } = arguments;
    check_name(catalogue, name)?;
    let sources = sources(zoocheck.as_deref())?;
    let dir = Path::new(name);
    fs::create_dir(dir).map_err(|error| bad!("{name}: cannot make this directory: {error}"))?;
    for (place, text) in FILES.iter().chain(kind.files()) {
        let file = dir.join(place);
        let written = fs::create_dir_all(file.parent().unwrap_or(dir));
        let written = written.and_then(|()| fs::write(&file, filled(text, name, *kind, &sources)));
        written.map_err(|error| bad!("{}: cannot write it: {error}", file.display()))?;
    }
    let kind: &str = kind.into();
    let article = if kind.starts_with('e') { "an" } else { "a" };
    print(&format!(
        "{name}/ has a recipe of your own, to begin with: {article} {kind}, in {name}/src/main.rs\n\n  cd {name}\n  \
         cargo run -- check {name}     is it right, in every run of a small model?\n  \
         cargo run -- run {name}       does it bear faults?\n  \
         cargo test{:width$}both, as a test\n",
        "",
        width = name.len() + 14,
    ))?;
    Ok(Answer::Held)
}

/// A template with the names that were asked for.
fn filled(text: &str, name: &str, kind: Kind, sources: &Path) -> String {
    let capital = |word: &str| word[..1].to_ascii_uppercase() + &word[1..];
    let camel: String = name.split('-').map(capital).collect();
    // Of the kind's own name, as it is in the files.
    let kind: &str = kind.into();
    let [dashed, snake] = ["my-", "my_"].map(|my| format!("{my}{kind}"));
    let type_name = format!("My{}", capital(kind));
    text.replace("own-recipe", name)
        .replace("path = \"../..\"", &format!("path = {:?}", sources.display().to_string()))
        .replace("run my-lock", &format!("run {name}"))
        .replace(&dashed, name)
        .replace(&snake, &name.replace('-', "_"))
        .replace(&type_name, &camel)
}

fn check_name(catalogue: &Trials, name: &str) -> Result<(), BadInput> {
    let is_word =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
    if !begins || !name.split('-').all(is_word) || !name.contains('-') {
        return Err(bad!(
            "'{name}' cannot be its name: expected at least two words of lower-case letters and digits, joined by '-', \
             such as my-lock"
        ));
    }
    match catalogue.find(name) {
        Ok(_) => Err(bad!("'{name}' is a recipe of zoocheck's; take another name")),
        Err(_) => Ok(()),
    }
}

/// The directory of zoocheck's crate.
fn sources(typed: Option<&Path>) -> Result<PathBuf, BadInput> {
    let dir = typed.unwrap_or(Path::new(BUILT_FROM));
    let found = [dir.join("scenarios"), dir.to_path_buf()].into_iter().find(|dir| {
        let manifest = fs::read_to_string(dir.join("Cargo.toml")).unwrap_or_default();
        manifest.contains("name = \"zoocheck\"")
    });
    let found = found.and_then(|dir| dir.canonicalize().ok());
    found.ok_or_else(|| not_in(typed))
}

/// The machine that built a release means nothing to whoever has it.
fn not_in(typed: Option<&Path>) -> BadInput {
    let place = typed.map_or("where this one was built".into(), |dir| format!("in {}", dir.display()));
    bad!("--zoocheck: the sources of zoocheck are not {place}; say where")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_template_is_left_under_another_name() {
        for kind in [Kind::Lock, Kind::Queue, Kind::Barrier, Kind::Election] {
            for (place, text) in FILES.iter().chain(kind.files()) {
                let filled = filled(text, "three-gates", kind, Path::new("/src/zoocheck"));
                let left = ["own-recipe", "my-", "my_", "My", "../.."].map(|word| filled.contains(word));
                assert_eq!(left, [false; 5], "{place} of {}:\n{filled}", <&str>::from(kind));
            }
            let main = filled(kind.files()[0].1, "three-gates", kind, Path::new("/src/zoocheck"));
            assert!(main.contains("fn three_gates()") && main.contains("\"/three-gates"), "{main}");
        }
    }

    #[test]
    fn whoever_has_no_sources_is_not_told_a_path_of_another_machine() {
        let expected = "--zoocheck: the sources of zoocheck are not where this one was built; say where";
        assert_eq!(not_in(None).to_string(), expected);
        assert!(not_in(Some(Path::new("src"))).to_string().contains("are not in src; say where"));
    }

    #[test]
    fn a_name_is_that_of_a_crate_and_not_taken() {
        let catalogue = Trials::built_in();
        for name in ["my-lock", "lock-2b", "a-b"] {
            assert_eq!(check_name(&catalogue, name).err().map(|bad| bad.to_string()), None);
        }
        for name in ["", "-", "my-", "My-lock", "my_lock", "lock", "2-locks", "../my-lock", "try-lock"] {
            check_name(&catalogue, name).expect_err(name);
        }
    }
}
