//! The texts a grammar is made of: the user's own and the libraries it imports from.
//!
//! A library is read and parsed when the first name is looked up in it; what of it gets lowered is
//! the lowering's business. Names are looked up in the text they stand in, so an imported rule
//! finds its own library's names and nothing can clash. `%ignore` of a library doesn't apply.

use std::borrow::Cow;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::ast::{Ast, Definition, Import};
use super::fault::Fault;
use super::parser;
use crate::error::{GrammarError, GrammarErrorKind};
use crate::frontend::suggest::closest;
use crate::span::{Span, line_and_column};

/// A definition of one of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Target {
    pub(super) file: u32,
    pub(super) definition: u32,
}

/// The file of the user's own text.
pub(super) const MAIN: u32 = 0;

/// A parsed text and the names in it.
pub(super) struct File<'t> {
    pub(super) text: Cow<'t, str>,
    /// The library's name and the place of the import in the user's text; none for that text.
    library: Option<(String, Span)>,
    pub(super) ast: Ast,
    names: FxHashMap<Box<str>, Entry>,
}

/// What a name stands for: positions in the [`Ast`].
#[derive(Clone, Copy, Debug)]
enum Entry {
    Definition(u32),
    Import(u32),
    Declared,
}

impl File<'_> {
    /// The text at a place.
    pub(super) fn slice(&self, span: Span) -> &str {
        &self.text[span.start..span.end]
    }

    /// A definition of this file.
    pub(super) fn definition(&self, index: u32) -> &Definition {
        &self.ast.definitions[index as usize]
    }

    /// The library's name; empty for the user's own text.
    pub(super) fn library_name(&self) -> &str {
        self.library.as_ref().map_or("", |(name, _)| name)
    }

    /// The names that rules can use here.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(AsRef::as_ref)
    }
}

/// All texts that were read so far.
pub(super) struct Files<'t, 'l> {
    read: Vec<Rc<File<'t>>>,
    library: &'l dyn Fn(&str) -> Option<String>,
    libraries: FxHashMap<String, u32>,
}

impl<'t, 'l> Files<'t, 'l> {
    /// Reads the user's text.
    pub(super) fn new(
        text: &'t str,
        library: &'l dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, GrammarError> {
        let main = read(Cow::Borrowed(text), None).map_err(|fault| fault.in_text(text))?;
        if let Some(&span) = main.ast.declared.first() {
            let message = format!("`%declare {}` is not supported", main.slice(span));
            return Err(Fault::unsupported(span, message)
                .with_hint("give the name a definition: there is no lexer of your own here")
                .in_text(text));
        }
        Ok(Self { read: vec![Rc::new(main)], library, libraries: FxHashMap::default() })
    }

    /// A file.
    pub(super) fn file(&self, index: u32) -> Rc<File<'t>> {
        Rc::clone(&self.read[index as usize])
    }

    /// The error of a fault in a file.
    pub(super) fn error(&self, file: u32, fault: Fault) -> GrammarError {
        let main = &self.read[MAIN as usize].text;
        let file = &self.read[file as usize];
        match &file.library {
            None => fault.in_text(main),
            Some((name, import)) => in_library(fault, name, &file.text, *import).in_text(main),
        }
    }

    /// What the name at a place of a file stands for.
    pub(super) fn resolve(&mut self, file: u32, span: Span) -> Result<Target, GrammarError> {
        let here = self.file(file);
        match here.names.get(here.slice(span)) {
            Some(&Entry::Definition(definition)) => Ok(Target { file, definition }),
            Some(&Entry::Import(import)) => self.imported(file, import),
            Some(Entry::Declared) => Err(self.error(file, declared(here.slice(span), span))),
            None => Err(self.error(file, undefined(&here, span))),
        }
    }

    /// What an import brings in.
    pub(super) fn imported(&mut self, file: u32, import: u32) -> Result<Target, GrammarError> {
        let (mut file, mut import) = (file, import);
        // Each step goes to another library; more steps than libraries go in circles.
        for _ in 0..64 {
            let here = self.file(file);
            let wanted = here.ast.imports[import as usize];
            let source = self.load(file, wanted)?;
            let library = self.file(source);
            let name = here.slice(wanted.name);
            match library.names.get(name) {
                Some(&Entry::Definition(definition)) => {
                    return Ok(Target { file: source, definition });
                }
                Some(&Entry::Import(next)) => (file, import) = (source, next),
                Some(Entry::Declared) => {
                    return Err(self.error(file, declared(name, wanted.name)));
                }
                None => {
                    let from = here.slice(wanted.library);
                    let message = format!("the library `{from}` has no `{name}`");
                    let fault = Fault::undefined(wanted.name, message);
                    let fault = match closest(name, library.names()) {
                        Some(near) => fault.with_hint(format!("did you mean `{near}`?")),
                        None => fault.with_hint(some_names(&library)),
                    };
                    return Err(self.error(file, fault));
                }
            }
        }
        let wanted = self.file(file).ast.imports[import as usize];
        let fault = Fault::syntax(wanted.name, "the imports of the libraries go in circles");
        Err(self.error(file, fault))
    }

    /// The definition that has a name in the user's text, if there is one.
    pub(super) fn start(&mut self, name: &str) -> Result<Option<Target>, GrammarError> {
        match self.file(MAIN).names.get(name) {
            Some(&Entry::Definition(definition)) => Ok(Some(Target { file: MAIN, definition })),
            Some(&Entry::Import(import)) => self.imported(MAIN, import).map(Some),
            _ => Ok(None),
        }
    }

    /// The file of the library that is imported from.
    fn load(&mut self, file: u32, import: Import) -> Result<u32, GrammarError> {
        let here = self.file(file);
        let name = here.slice(import.library);
        if let Some(&known) = self.libraries.get(name) {
            return Ok(known);
        }
        let Some(text) = (self.library)(name) else {
            let fault = Fault::undefined(import.library, format!("unknown library `{name}`"))
                .with_hint("the usual one is `common`: `%import common.INT`");
            return Err(self.error(file, fault));
        };
        let place = match &here.library {
            None => Span::new(import.library.start, import.name.end.max(import.alias.end)),
            Some((_, place)) => *place,
        };
        let loaded = match read(Cow::Owned(text), Some((name.to_owned(), place))) {
            Ok(loaded) => loaded,
            // The text is lost by now, and a broken library is not the user's to mend.
            Err(fault) => {
                let message = format!("the library `{name}` can't be read: {}", fault.message);
                let main = &self.read[MAIN as usize].text;
                return Err(Fault { span: place, message, ..fault }.in_text(main));
            }
        };
        let index = self.read.len() as u32;
        self.libraries.insert(name.to_owned(), index);
        self.read.push(Rc::new(loaded));
        Ok(index)
    }
}

/// Parses a text and collects its names.
fn read(text: Cow<'_, str>, library: Option<(String, Span)>) -> Result<File<'_>, Fault> {
    if u32::try_from(text.len()).is_err() {
        let message = format!("the grammar has {} bytes", text.len());
        return Err(Fault::limit(Span::default(), message).with_hint("the limit is 4 GiB"));
    }
    let ast = parser::parse(&text)?;
    let mut names = FxHashMap::default();
    names.reserve(ast.definitions.len() + ast.imports.len());
    for (index, import) in ast.imports.iter().enumerate() {
        let name = &text[import.alias.start..import.alias.end];
        if let Some(Entry::Import(before)) = names.insert(name.into(), Entry::Import(index as u32))
        {
            let before = ast.imports[before as usize];
            let source = |import: Import| {
                let library = &text[import.library.start..import.library.end];
                (library, &text[import.name.start..import.name.end])
            };
            if source(before) != source(*import) {
                return Err(duplicate(&text, before.alias, import.alias));
            }
        }
    }
    for &span in &ast.declared {
        names.insert(text[span.start..span.end].into(), Entry::Declared);
    }
    for (index, definition) in ast.definitions.iter().enumerate() {
        let span = definition.name;
        let entry = Entry::Definition(index as u32);
        let before = match names.insert(text[span.start..span.end].into(), entry) {
            None | Some(Entry::Declared) => continue,
            Some(Entry::Definition(before)) => ast.definitions[before as usize].name,
            Some(Entry::Import(before)) => ast.imports[before as usize].alias,
        };
        return Err(duplicate(&text, before, span));
    }
    Ok(File { text, library, ast, names })
}

/// Words a fault of a library for the user, whose import it is shown at.
fn in_library(fault: Fault, library: &str, text: &str, import: Span) -> Fault {
    let (line, column) = line_and_column(text, fault.span.start);
    let message =
        format!("in the library `{library}`, line {line}, column {column}: {}", fault.message);
    Fault { span: import, message, ..fault }
}

fn duplicate(text: &str, before: Span, again: Span) -> Fault {
    // An import can stand below the definition.
    let (before, again) =
        if before.start < again.start { (before, again) } else { (again, before) };
    let name = &text[again.start..again.end];
    let (line, _) = line_and_column(text, before.start);
    let (now, _) = line_and_column(text, again.start);
    let message = format!("`{name}` is defined twice, in line {line} and in line {now}");
    Fault::new(GrammarErrorKind::Duplicate, again, message)
        .with_hint("rename one of them, or join them with `|`")
}

fn declared(name: &str, span: Span) -> Fault {
    let message = format!("`{name}` is only declared (`%declare`), so it stands for no text");
    Fault::unsupported(span, message).with_hint("define it in your own grammar")
}

fn undefined(file: &File<'_>, span: Span) -> Fault {
    let name = file.slice(span);
    let what = if parser::is_terminal(name) { "terminal" } else { "rule" };
    let fault = Fault::undefined(span, format!("the {what} `{name}` is not defined"));
    let before = file.text[..span.start].bytes().next_back();
    let glued = match before {
        Some(b'/') => Some("/…/"),
        Some(b'"') => Some("\"…\""),
        Some(_) if file.text[..span.start].ends_with("\"i") => Some("\"…\"i"),
        Some(flag) if super::lexer::REGEXP_FLAGS.contains(&flag) => Some("/…/"),
        _ => None,
    };
    if let Some(near) = closest(name, file.names()) {
        return fault.with_hint(format!("did you mean `{near}`?"));
    }
    match glued {
        Some(literal) => fault.with_hint(format!(
            "if `{name}` was to be flags of {literal}: strings have `i`, regexps i, m, s, u and x"
        )),
        None if what == "terminal" => {
            fault.with_hint(format!("define it, or import it: `%import common.{name}`"))
        }
        None => fault.with_hint(format!("define it: `{name}: …`")),
    }
}

/// Some of a file's names, for a hint.
pub(super) fn some_names(file: &File<'_>) -> String {
    let mut names: Vec<&str> = file.names().collect();
    names.sort_unstable();
    let more = if names.len() > 12 { ", …" } else { "" };
    names.truncate(12);
    format!("its names are {}{more}", names.join(", "))
}
