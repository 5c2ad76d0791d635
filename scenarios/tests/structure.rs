//! How the files of each crate lean on each other: never in a circle; and where the methods of a type stand.
//!
//! A file leans on another if it names something that the other defines, by whatever path; `pub use` is followed. Tests
//! do not count, nor do the calls of methods.

use crate::tidy::{ARROWS, root, rust_files};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};

type Path = Vec<String>;

/// A module: what it defines and what it names.
#[derive(Default)]
struct Module {
    file: PathBuf,
    defines: BTreeSet<String>,
    /// What `use` binds: the name, and the path that it is bound to.
    binds: Vec<(String, Path)>,
    /// The modules of which all is used.
    globs: Vec<Path>,
    /// All paths in its code, those of `use` among them.
    names: BTreeSet<Path>,
    /// The types with methods here, as they are named here.
    methods: BTreeSet<Path>,
}

/// The modules of a crate, by their paths from its root.
type Crate = BTreeMap<Path, Module>;

fn parsed(dir: &str) -> Crate {
    let src = root().join(dir).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    let mut modules = Crate::new();
    for file in files {
        let inside = file.strip_prefix(&src).expect("it is below").with_extension("");
        let mut path: Path = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if path.iter().any(|part| part == "tests") {
            continue;
        }
        if path.last().is_some_and(|last| last == "mod" || last == "lib") {
            path.pop();
        }
        let text = fs::read_to_string(&file).expect("UTF-8");
        let parsed = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        if !is_test(&parsed.attrs) {
            add(&mut modules, path, &file, &parsed.items);
        }
    }
    modules
}

fn add(modules: &mut Crate, path: Path, file: &PathBuf, items: &[Item]) {
    let mut module = Module { file: file.clone(), ..Module::default() };
    for item in items {
        match item {
            Item::Mod(inner) if is_test(&inner.attrs) => {}
            Item::Mod(inner) => {
                if let Some((_, items)) = &inner.content {
                    let path = [&path[..], &[inner.ident.to_string()]].concat();
                    add(modules, path, file, items);
                }
            }
            item => module.visit_item(item),
        }
    }
    modules.insert(path, module);
}

/// Whether something is there in tests alone.
fn is_test(attributes: &[Attribute]) -> bool {
    let says_test = |tokens: TokenStream| tokens.into_iter().any(|token| token.to_string() == "test");
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return attribute.path().is_ident("test") };
        list.path.is_ident("cfg")
            && (list.tokens.to_string().starts_with("all") || list.tokens.to_string() == "test")
            && says_test(list.tokens.clone())
    })
}

fn segments(path: &syn::Path) -> Path {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

impl Module {
    fn uses(&mut self, tree: &UseTree, before: &mut Path) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.uses(&path.tree, before);
                before.pop();
            }
            UseTree::Name(name) if name.ident == "self" => {
                self.bind(before.last().cloned().unwrap_or_default(), before.clone());
            }
            UseTree::Name(name) => {
                let name = name.ident.to_string();
                self.bind(name.clone(), [&before[..], &[name]].concat());
            }
            UseTree::Rename(as_) => {
                self.bind(as_.rename.to_string(), [&before[..], &[as_.ident.to_string()]].concat());
            }
            UseTree::Glob(_) => self.globs.push(before.clone()),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.uses(tree, before)),
        }
    }

    fn bind(&mut self, name: String, path: Path) {
        self.names.insert(path.clone());
        self.binds.push((name, path));
    }

    /// The paths in what a macro is given.
    fn tokens(&mut self, tokens: TokenStream) {
        let (mut path, mut colons) = (Path::new(), 0);
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.names.insert(std::mem::take(&mut path));
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(colon) if colon.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {
                    self.names.insert(std::mem::take(&mut path));
                    colons = 0;
                }
            }
        }
        self.names.insert(path);
    }
}

impl Visit<'_> for Module {
    fn visit_item(&mut self, item: &Item) {
        let (attributes, name) = match item {
            Item::Const(item) => (&item.attrs, Some(&item.ident)),
            Item::Enum(item) => (&item.attrs, Some(&item.ident)),
            Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
            Item::Static(item) => (&item.attrs, Some(&item.ident)),
            Item::Struct(item) => (&item.attrs, Some(&item.ident)),
            Item::Trait(item) => (&item.attrs, Some(&item.ident)),
            Item::Type(item) => (&item.attrs, Some(&item.ident)),
            Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
            Item::Impl(item) => (&item.attrs, None),
            Item::Use(item) => (&item.attrs, None),
            _ => return,
        };
        if is_test(attributes) {
            return;
        }
        self.defines.extend(name.map(ToString::to_string));
        if let Item::Impl(item) = item
            && item.trait_.is_none()
            && let syn::Type::Path(of) = &*item.self_ty
        {
            self.methods.insert(segments(&of.path));
        }
        visit::visit_item(self, item);
    }

    fn visit_item_use(&mut self, item: &syn::ItemUse) {
        self.uses(&item.tree, &mut Path::new());
    }

    fn visit_impl_item_fn(&mut self, function: &syn::ImplItemFn) {
        if !is_test(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_path(&mut self, path: &syn::Path) {
        self.names.insert(segments(path));
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &syn::Macro) {
        self.names.insert(segments(&called.path));
        self.tokens(called.tokens.clone());
    }
}

/// The module that defines what a path says in a module, and its name there; `None` if no module of the crate does.
fn definer(
    modules: &Crate,
    at: &Path,
    path: &[String],
    asked: &mut BTreeSet<(Path, Path)>,
) -> Option<(Path, String)> {
    if path.is_empty() || !asked.insert((at.clone(), path.to_vec())) {
        return None;
    }
    let (first, rest) = (&path[0], &path[1..]);
    match first.as_str() {
        "crate" => return definer(modules, &Path::new(), rest, asked),
        "self" => return definer(modules, at, rest, asked),
        "super" => return definer(modules, &at[..at.len().checked_sub(1)?].to_vec(), rest, asked),
        _ => {}
    }
    let inner = [&at[..], std::slice::from_ref(first)].concat();
    if modules.contains_key(&inner) && !rest.is_empty() {
        return definer(modules, &inner, rest, asked);
    }
    let module = modules.get(at)?;
    if module.defines.contains(first) {
        return Some((at.clone(), first.clone()));
    }
    let bound = module.binds.iter().filter(|(name, to)| name == first && to[..] != path[..1]);
    let bound = bound.map(|(_, to)| [to, rest].concat());
    let globs = module.globs.iter().map(|glob| [&glob[..], path].concat());
    let all: Vec<Path> = bound.chain(globs).collect();
    all.iter().find_map(|path| definer(modules, at, path, asked))
}

/// Which files lean on which.
type Edges = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

fn edges(modules: &Crate) -> Edges {
    let mut edges = Edges::new();
    for (at, module) in modules {
        let to = edges.entry(module.file.clone()).or_default();
        for path in &module.names {
            if let Some((definer, _)) = definer(modules, at, path, &mut BTreeSet::new()) {
                to.insert(modules[&definer].file.clone());
            }
        }
        to.remove(&module.file);
    }
    edges
}

/// All files that one leans on, by way of others too.
fn reach<'a>(edges: &'a Edges, from: &'a PathBuf) -> BTreeSet<&'a PathBuf> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(at) = open.pop() {
        open.extend(edges[at].iter().filter(|to| reached.insert(*to)));
    }
    reached
}

/// The files that lean on themselves, in groups of those that lean on each other.
fn circles(edges: &Edges) -> BTreeSet<BTreeSet<PathBuf>> {
    let reached: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
        edges.keys().map(|file| (file, reach(edges, file))).collect();
    let group = |file: &PathBuf| {
        let mutual = reached[file].iter().filter(|other| reached[**other].contains(file));
        mutual.map(|other| (*other).clone()).collect::<BTreeSet<_>>()
    };
    edges.keys().map(group).filter(|group| !group.is_empty()).collect()
}

/// Types with methods in several files, and in how many.
fn spread(modules: &Crate) -> BTreeMap<String, usize> {
    let mut files: BTreeMap<(Path, String), BTreeSet<&PathBuf>> = BTreeMap::new();
    for (at, module) in modules {
        for path in &module.methods {
            if let Some(of) = definer(modules, at, path, &mut BTreeSet::new()) {
                files.entry(of).or_default().insert(&module.file);
            }
        }
    }
    let several = files.into_iter().filter(|(_, files)| files.len() > 1);
    several.map(|((at, name), files)| ([&at[..], &[name]].concat().join("::"), files.len())).collect()
}

#[test]
fn no_file_leans_on_itself_by_way_of_others() {
    for (dir, _, _) in ARROWS {
        let circles = circles(&edges(&parsed(dir)));
        assert!(circles.is_empty(), "files of {dir} lean on each other: {circles:#?}");
    }
}

#[test]
fn the_methods_of_a_type_stand_in_one_file() {
    for (dir, _, _) in ARROWS {
        let several = spread(&parsed(dir));
        assert!(several.is_empty(), "types of {dir} with methods in several files: {several:#?}");
    }
}

/// A crate of two modules, of which these are the texts.
fn of_two(root: &str, one: &str, two: &str) -> Crate {
    let mut modules = Crate::new();
    for (path, file, text) in [(vec![], "lib", root), (vec!["one"], "one", one), (vec!["two"], "two", two)] {
        let path = path.into_iter().map(String::from).collect();
        add(&mut modules, path, &file.into(), &syn::parse_file(text).expect("it is Rust").items);
    }
    modules
}

#[test]
fn every_way_to_name_something_is_seen_and_tests_are_not() {
    let one = "pub struct One(super::two::Two);";
    let ways = [
        "use crate::one::One; pub struct Two;",
        "use crate::One; pub struct Two;",
        "use super::*; pub struct Two; fn f(_: One) {}",
        "use crate::one; pub struct Two; fn f(_: one::One) {}",
        "pub struct Two; fn f() { format!(\"{}\", crate::one::One) }",
        "pub struct Two; fn f() { use crate::{self as all, one::{One as Other}}; }",
    ];
    for two in ways {
        let circles = circles(&edges(&of_two("mod one; mod two; pub use one::One;", one, two)));
        assert_eq!(circles, [["one".into(), "two".into()].into()].into(), "{two}");
    }
    let kept = [
        "pub struct Two; #[cfg(test)] mod tests { use crate::one::One; }",
        "pub struct Two; #[cfg(test)] use crate::one::One;",
        "pub struct Two; /// See [`One`](crate::one::One).\nfn f(one: u8) -> u8 { one }",
    ];
    for two in kept {
        assert!(
            circles(&edges(&of_two("mod one; mod two; pub use one::One;", one, two))).is_empty(),
            "{two}"
        );
    }
    let by_root =
        of_two("mod one; mod two; pub struct Root(one::One);", "pub struct One; fn f(_: crate::Root) {}", "");
    assert_eq!(circles(&edges(&by_root)), [["lib".into(), "one".into()].into()].into());
}

#[test]
fn methods_are_those_of_the_type_that_is_meant() {
    let one = "pub struct Same; impl Same { fn f() {} }";
    let two = "use crate::one::Same; impl Same { fn g() {} }";
    assert_eq!(spread(&of_two("mod one; mod two;", one, two)), [("one::Same".to_owned(), 2)].into());
    let own = "pub struct Same; impl Same { fn g() {} } impl Clone for crate::one::Same {}";
    assert!(spread(&of_two("mod one; mod two;", one, own)).is_empty());
}
