//! Runs the cases of `tests/data/*.toml` and `grammars/texts/*.toml`; Python runs the same files.
//!
//! The format is described in `tests/data/README.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use earmark::frontend::json_schema::{self, Escapes, Options, PropertyOrder, Whitespace};
use earmark::{
    CompileOptions, Engine, EngineOptions, GrammarError, GrammarErrorKind, Matcher, Vocabulary,
    compile, frontend,
};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    gbnf: Option<String>,
    lark: Option<String>,
    regex: Option<String>,
    json_schema: Option<String>,
    #[serde(default)]
    options: SchemaOptions,
    file: Option<String>,
    start: Option<String>,
    #[serde(default)]
    imports: bool,
    #[serde(default)]
    accept: Vec<String>,
    #[serde(default)]
    reject: Vec<String>,
    #[serde(default)]
    dead: Vec<String>,
    error: Option<String>,
    says: Option<String>,
    line: Option<usize>,
    pointer: Option<String>,
    tokens: Option<Vec<Token>>,
    #[serde(default)]
    eos: Vec<u32>,
    #[serde(default)]
    special: Vec<u32>,
    width: Option<usize>,
    #[serde(default)]
    masks: Vec<MaskCase>,
}

/// The keyword arguments of `Grammar.from_json_schema`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SchemaOptions {
    whitespace: Option<String>,
    separators: Option<(String, String)>,
    indent: Option<u32>,
    property_order: Option<String>,
    additional_properties: Option<bool>,
    escapes: Option<String>,
    max_number_digits: Option<u32>,
    integer_fractions: Option<bool>,
    formats: Option<bool>,
    unsupported: Option<String>,
    #[serde(default)]
    resources: BTreeMap<String, String>,
}

impl SchemaOptions {
    fn build(&self) -> Options {
        let mut options = Options::default();
        match self.whitespace.as_deref() {
            Some("any") => options.whitespace = Whitespace::Any,
            Some("compact") => {
                let (item, key) = (",".to_owned(), ":".to_owned());
                options.whitespace = Whitespace::Fixed { item, key, indent: None };
            }
            _ => {}
        }
        if self.separators.is_some() || self.indent.is_some() {
            let standard = || (",".to_owned(), ": ".to_owned());
            let (item, key) = self.separators.clone().unwrap_or_else(standard);
            options.whitespace = Whitespace::Fixed { item, key, indent: self.indent };
        }
        if self.property_order.as_deref() == Some("any") {
            options.property_order = PropertyOrder::Any;
        }
        if self.escapes.as_deref() == Some("all") {
            options.escapes = Escapes::All;
        }
        if let Some(digits) = self.max_number_digits {
            options.max_number_digits = Some(digits);
        }
        options.additional_properties = self.additional_properties.unwrap_or(true);
        options.integer_fractions = self.integer_fractions.unwrap_or(true);
        options.formats = self.formats.unwrap_or(true);
        options.reject_unsupported = self.unsupported.as_deref() != Some("ignore");
        options.resources = self.resources.clone().into_iter().collect();
        options
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Token {
    Text(String),
    Bytes(Vec<u8>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MaskCase {
    after: Vec<u32>,
    allow: BTreeSet<u32>,
}

#[test]
fn cases_hold() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut failures = vec![];
    let mut count = 0;
    for folder in ["tests/data", "grammars/texts"] {
        let mut files: Vec<PathBuf> =
            fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for path in files.iter().filter(|path| path.extension().is_some_and(|e| e == "toml")) {
            let text = fs::read_to_string(path).unwrap();
            let file: File =
                toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            // Imports read the grammars that the lark package ships; only Python has them.
            for case in file.case.iter().filter(|case| !case.imports) {
                count += 1;
                if let Err(error) = run(case, root) {
                    let file = path.file_name().unwrap().to_string_lossy();
                    failures.push(format!("{file}: {}: {error}", case.name));
                }
            }
        }
    }
    assert!(count >= 60, "only {count} cases were found");
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
}

fn run(case: &Case, root: &Path) -> Result<(), String> {
    let vocabulary = Arc::new(vocabulary(case)?);
    let engine = match (engine(case, root, Arc::clone(&vocabulary)), &case.error) {
        (Ok(engine), None) => engine,
        (Ok(_), Some(kind)) => return Err(format!("no error, expected {kind}")),
        (Err(error), None) => return Err(format!("refused: {error}")),
        (Err(error), Some(kind)) => return check_error(case, kind, &error),
    };
    for text in &case.accept {
        let mut matcher = Matcher::new(Arc::clone(&engine));
        feed(case, &mut matcher, text).map_err(|error| format!("{text:?} is a text: {error}"))?;
        if !matcher.is_accepting() {
            return Err(format!("{text:?} is a text, but only its beginning was accepted"));
        }
        let mut whole = Matcher::new(Arc::clone(&engine));
        whole.accept_bytes(text.as_bytes()).map_err(|error| error.to_string())?;
    }
    for text in &case.reject {
        let mut matcher = Matcher::new(Arc::clone(&engine));
        if feed(case, &mut matcher, text).is_ok() && matcher.is_accepting() {
            return Err(format!("{text:?} was accepted"));
        }
    }
    for text in &case.dead {
        let mut matcher = Matcher::new(Arc::clone(&engine));
        if feed(case, &mut matcher, text).is_ok() {
            return Err(format!("{text:?} was accepted as the beginning of a text"));
        }
    }
    for MaskCase { after, allow } in &case.masks {
        let mut matcher = Matcher::new(Arc::clone(&engine));
        for &id in after {
            matcher.accept(id).map_err(|error| format!("after {after:?}: {id}: {error}"))?;
        }
        let found = mask(&mut matcher);
        if found != *allow {
            return Err(format!("after {after:?}: mask {found:?}, expected {allow:?}"));
        }
    }
    Ok(())
}

/// The case's own vocabulary, or one token a byte and an end of sequence.
fn vocabulary(case: &Case) -> Result<Vocabulary, String> {
    let Some(tokens) = &case.tokens else {
        let mut bytes: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
        bytes.push(vec![]);
        return Vocabulary::new(&bytes, &[256], &[], None).map_err(|error| error.to_string());
    };
    let bytes: Vec<Vec<u8>> = tokens
        .iter()
        .map(|token| match token {
            Token::Text(text) => text.clone().into_bytes(),
            Token::Bytes(bytes) => bytes.clone(),
        })
        .collect();
    Vocabulary::new(&bytes, &case.eos, &case.special, case.width).map_err(|error| error.to_string())
}

fn engine(
    case: &Case,
    root: &Path,
    vocabulary: Arc<Vocabulary>,
) -> Result<Arc<Engine>, GrammarError> {
    if let Some(schema) = &case.json_schema {
        let options = case.options.build();
        let compiled =
            json_schema::parse(schema, &options)?.compile().map_err(|error| {
                match error.kind() {
                    GrammarErrorKind::Empty => json_schema::why_empty(schema, &options),
                    _ => error,
                }
            })?;
        return Engine::new(Arc::new(compiled), vocabulary, EngineOptions::default()).map(Arc::new);
    }
    let (text, language) = match (&case.file, &case.gbnf, &case.lark, &case.regex) {
        (Some(file), None, None, None) => {
            let text = fs::read_to_string(root.join("grammars").join(file)).unwrap();
            (text, file.rsplit('.').next().unwrap())
        }
        (None, Some(text), None, None) => (text.clone(), "gbnf"),
        (None, None, Some(text), None) => (text.clone(), "lark"),
        (None, None, None, Some(text)) => (text.clone(), "regex"),
        _ => panic!("{}: give exactly one of file, gbnf, lark, regex", case.name),
    };
    let start = case.start.as_deref();
    let grammar = match language {
        "gbnf" => frontend::gbnf::parse(&text, start.unwrap_or("root"))?,
        "lark" => frontend::lark::parse(&text, start.unwrap_or("start"), &|_| None)?,
        _ => frontend::regex::parse(&text)?,
    };
    let compiled = compile(&Arc::new(grammar), &CompileOptions::default())?;
    Engine::new(Arc::new(compiled), vocabulary, EngineOptions::default()).map(Arc::new)
}

fn check_error(case: &Case, kind: &str, error: &GrammarError) -> Result<(), String> {
    let found = format!("{:?}", error.kind()).to_lowercase();
    if found != kind {
        return Err(format!("the error's kind is {found}, expected {kind}: {error}"));
    }
    if let Some(says) = &case.says
        && !error.to_string().contains(says.as_str())
    {
        return Err(format!("the error does not say {says:?}: {error}"));
    }
    if case.pointer.is_some() && error.pointer() != case.pointer.as_deref() {
        return Err(format!("the error is not at {:?}: {error}", case.pointer));
    }
    match case.line {
        Some(line) if error.line_and_column().map(|(line, _)| line) != Some(line) => {
            Err(format!("the error is not at line {line}: {error}"))
        }
        _ => Ok(()),
    }
}

/// Byte by byte; with the vocabulary of bytes as tokens, whose bits must be set.
fn feed(case: &Case, matcher: &mut Matcher, text: &str) -> Result<(), String> {
    for byte in text.bytes() {
        if case.tokens.is_some() {
            matcher.accept_bytes(&[byte]).map_err(|error| error.to_string())?;
            continue;
        }
        let allowed = mask(matcher).contains(&u32::from(byte));
        match matcher.accept(byte.into()) {
            Ok(()) if !allowed => return Err(format!("byte {byte} accepted without its bit")),
            Err(error) if allowed => return Err(format!("bit of byte {byte} set, but: {error}")),
            outcome => outcome.map_err(|error| error.to_string())?,
        }
    }
    Ok(())
}

fn mask(matcher: &mut Matcher) -> BTreeSet<u32> {
    let mut words = vec![0; matcher.width().div_ceil(32)];
    matcher.fill_mask(&mut words);
    (0..matcher.width() as u32)
        .filter(|id| words[*id as usize / 32] >> (id % 32) & 1 == 1)
        .collect()
}
