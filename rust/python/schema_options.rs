//! The options of `Grammar.from_json_schema`: Python's ↔ the front end's.
//!
//! Both ways, so that a grammar can be pickled, shown and told from others by its options. Each
//! is checked here, and the message names what is allowed.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyMapping, PyString, PyTuple};

use super::arguments::{count, grammar_text, type_name};
use super::schema::schema_text;
use crate::frontend::json_schema::{Escapes, Limit, Limits, Options, PropertyOrder, Whitespace};
use crate::frontend::suggest::closest;

/// All of them, in the order of the signature.
const NAMES: [&str; 12] = [
    "whitespace",
    "separators",
    "indent",
    "property_order",
    "additional_properties",
    "escapes",
    "max_number_digits",
    "integer_fractions",
    "formats",
    "unsupported",
    "resources",
    "limits",
];

/// Blanks a level; no one reads deeper ones.
const MAX_INDENT: usize = 64;

const COMPACT: (&str, &str) = (",", ":");

/// Keyword arguments → options.
pub(super) fn options(given: Option<&Bound<'_, PyDict>>) -> PyResult<Options> {
    let mut options = Options::default();
    let Some(given) = given else { return Ok(options) };
    let mut layout = LayoutArguments::default();
    if let Some(value) = given.get_item("limits")? {
        options.limits = limits(&value)?;
    }
    for (name, value) in given {
        let name = name.cast_into::<PyString>()?;
        match name.to_str()? {
            "whitespace" => layout.whitespace = Some(whitespace(&value)?),
            "separators" => layout.separators = separators(&value)?,
            "indent" => layout.indent = indent(&value)?,
            "property_order" => {
                let orders = [("schema", PropertyOrder::Schema), ("any", PropertyOrder::Any)];
                options.property_order = choice("property_order", &value, &orders)?;
            }
            "additional_properties" => {
                options.additional_properties = flag("additional_properties", &value)?;
            }
            "escapes" => {
                let escapes = [("minimal", Escapes::Minimal), ("all", Escapes::All)];
                options.escapes = choice("escapes", &value, &escapes)?;
            }
            "max_number_digits" => options.max_number_digits = digits(&value)?,
            "integer_fractions" => options.integer_fractions = flag("integer_fractions", &value)?,
            "formats" => options.formats = flag("formats", &value)?,
            "unsupported" => {
                let ways = [("reject", true), ("ignore", false)];
                options.reject_unsupported = choice("unsupported", &value, &ways)?;
            }
            "resources" => options.resources = resources(&value, &options.limits)?,
            // Read above: the limits hold for resources as well.
            "limits" => {}
            other => return Err(unknown(other)),
        }
    }
    options.whitespace = layout.whitespace()?;
    Ok(options)
}

/// Options → the keyword arguments that give them, one way for each meaning.
pub(super) fn keywords<'py>(py: Python<'py>, options: &Options) -> PyResult<Bound<'py, PyDict>> {
    let keywords = PyDict::new(py);
    match &options.whitespace {
        Whitespace::Flexible => keywords.set_item("whitespace", "flexible")?,
        Whitespace::Any => keywords.set_item("whitespace", "any")?,
        Whitespace::Fixed { item, key, indent: None } if (&**item, &**key) == COMPACT => {
            keywords.set_item("whitespace", "compact")?;
        }
        Whitespace::Fixed { item, key, indent } => {
            keywords.set_item("separators", (item, key))?;
            keywords.set_item("indent", indent)?;
        }
    }
    let order = match options.property_order {
        PropertyOrder::Schema => "schema",
        PropertyOrder::Any => "any",
    };
    keywords.set_item("property_order", order)?;
    keywords.set_item("additional_properties", options.additional_properties)?;
    let escapes = match options.escapes {
        Escapes::Minimal => "minimal",
        Escapes::All => "all",
    };
    keywords.set_item("escapes", escapes)?;
    keywords.set_item("max_number_digits", options.max_number_digits)?;
    keywords.set_item("integer_fractions", options.integer_fractions)?;
    keywords.set_item("formats", options.formats)?;
    let unsupported = if options.reject_unsupported { "reject" } else { "ignore" };
    keywords.set_item("unsupported", unsupported)?;
    let resources = PyDict::new(py);
    for (uri, text) in &options.resources {
        resources.set_item(uri, text)?;
    }
    keywords.set_item("resources", resources)?;
    let (usual, limits) = (Limits::default(), PyDict::new(py));
    for &limit in Limit::ALL {
        if options.limits.get(limit) != usual.get(limit) {
            limits.set_item(limit.name(), options.limits.get(limit))?;
        }
    }
    keywords.set_item("limits", limits)?;
    Ok(keywords)
}

/// The three arguments that say together what white space there is.
#[derive(Default)]
struct LayoutArguments {
    whitespace: Option<Whitespace>,
    separators: Option<(String, String)>,
    indent: Option<u32>,
}

impl LayoutArguments {
    fn whitespace(self) -> PyResult<Whitespace> {
        if self.separators.is_none() && self.indent.is_none() {
            return Ok(self.whitespace.unwrap_or(Whitespace::Flexible));
        }
        if self.whitespace.is_some() {
            return Err(PyValueError::new_err(
                "separators and indent say themselves what white space there is: \
                 leave whitespace out, or them",
            ));
        }
        // The defaults of `json.dumps`.
        let item = if self.indent.is_some() { "," } else { ", " };
        let (item, key) = self.separators.unwrap_or_else(|| (item.to_owned(), ": ".to_owned()));
        Ok(Whitespace::Fixed { item, key, indent: self.indent })
    }
}

fn whitespace(value: &Bound<'_, PyAny>) -> PyResult<Whitespace> {
    let (item, key) = COMPACT;
    let compact = Whitespace::Fixed { item: item.to_owned(), key: key.to_owned(), indent: None };
    let kinds =
        [("flexible", Whitespace::Flexible), ("compact", compact), ("any", Whitespace::Any)];
    choice("whitespace", value, &kinds)
}

fn separators(value: &Bound<'_, PyAny>) -> PyResult<Option<(String, String)>> {
    if value.is_none() {
        return Ok(None);
    }
    let given = value.extract::<Vec<String>>().ok();
    let Some(given) = given.filter(|_| !value.is_instance_of::<PyString>()) else {
        return Err(PyTypeError::new_err(format!(
            "separators are two str, such as (\",\", \": \"), not {}",
            value.repr()?
        )));
    };
    let Ok([item, key]) = <[String; 2]>::try_from(given) else {
        return Err(PyValueError::new_err(format!(
            "separators are two, one between items and one behind names, such as \
             (\",\", \": \"), not {}",
            value.repr()?
        )));
    };
    for (text, mark) in [(&item, ","), (&key, ":")] {
        // White space as JSON has it.
        if text.trim_matches([' ', '\t', '\n', '\r']) != mark {
            return Err(PyValueError::new_err(format!(
                "a separator is {mark:?} with white space around it, not {text:?}"
            )));
        }
    }
    Ok(Some((item, key)))
}

fn indent(value: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
    if value.is_none() {
        return Ok(None);
    }
    match count("indent", value)? {
        Some(blanks @ 0..=MAX_INDENT) => Ok(Some(blanks as u32)),
        _ => Err(PyValueError::new_err(format!(
            "indent is None or 0 to {MAX_INDENT} blanks, not {value}"
        ))),
    }
}

fn digits(value: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
    if value.is_none() {
        return Ok(None);
    }
    let digits = count("max_number_digits", value)?.and_then(|digits| digits.try_into().ok());
    match digits {
        Some(digits @ 1..) => Ok(Some(digits)),
        _ => Err(PyValueError::new_err(format!(
            "max_number_digits is None or 1 to {}, not {value}",
            u32::MAX
        ))),
    }
}

fn resources(value: &Bound<'_, PyAny>, limits: &Limits) -> PyResult<Vec<(String, String)>> {
    if value.is_none() {
        return Ok(Vec::new());
    }
    let Ok(mapping) = value.cast::<PyMapping>() else {
        return Err(PyTypeError::new_err(format!(
            "resources map URIs to schemas, which {} does not",
            type_name(value)
        )));
    };
    let mut resources = Vec::new();
    for entry in mapping.items()? {
        let (uri, schema) =
            entry.cast_into::<PyTuple>()?.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        let uri = grammar_text("a URI of resources", &uri)?;
        let text = schema_text(&schema, limits)?;
        resources.push((uri, text));
    }
    Ok(resources)
}

/// Limits by name; those that are not named are as usual.
fn limits(value: &Bound<'_, PyAny>) -> PyResult<Limits> {
    let mut limits = Limits::default();
    if value.is_none() {
        return Ok(limits);
    }
    let Ok(mapping) = value.cast::<PyMapping>() else {
        return Err(PyTypeError::new_err(format!(
            "limits map names to numbers, which {} does not",
            type_name(value)
        )));
    };
    for entry in mapping.items()? {
        let (name, value) =
            entry.cast_into::<PyTuple>()?.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        let name = grammar_text("the name of a limit", &name)?;
        let known = || Limit::ALL.iter().map(|limit| limit.name());
        let Some(&limit) = Limit::ALL.iter().find(|limit| limit.name() == name) else {
            let known = match closest(&name, known()) {
                Some(near) => format!("did you mean {near:?}?"),
                None => format!("there are {}", known().collect::<Vec<_>>().join(", ")),
            };
            return Err(PyValueError::new_err(format!("no limit has the name {name:?}; {known}")));
        };
        match count(&format!("the limit {name:?}"), &value)? {
            Some(number) if (1..=limit.most()).contains(&number) => limits.set(limit, number),
            _ => {
                return Err(PyValueError::new_err(format!(
                    "the limit {name:?} is 1 to {}, not {value}",
                    limit.most()
                )));
            }
        }
    }
    Ok(limits)
}

fn flag(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(flag.is_true());
    }
    let kind = type_name(value);
    Err(PyTypeError::new_err(format!("{name} is True or False, not {kind}")))
}

fn choice<T: Clone>(name: &str, value: &Bound<'_, PyAny>, choices: &[(&str, T)]) -> PyResult<T> {
    let text = value.cast::<PyString>().map(|text| text.to_string_lossy());
    if let Ok(text) = &text
        && let Some((_, meaning)) = choices.iter().find(|(choice, _)| choice == text)
    {
        return Ok(meaning.clone());
    }
    let allowed: Vec<_> = choices.iter().map(|(choice, _)| format!("{choice:?}")).collect();
    let message = format!("{name} is {}, not {}", allowed.join(" or "), value.repr()?);
    Err(match text {
        Ok(_) => PyValueError::new_err(message),
        Err(_) => PyTypeError::new_err(message),
    })
}

fn unknown(name: &str) -> PyErr {
    let known = match closest(name, NAMES) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("there are {}", NAMES.join(", ")),
    };
    PyTypeError::new_err(format!("no option of JSON Schema has the name {name}; {known}"))
}
