//! JSON Schema from Python: what a schema may come as, and what becomes of its keywords.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyMapping, PyString};

use super::arguments::grammar_text;
use super::json_text::json_text;
use crate::frontend::json_schema::{Finding, Limits, Status};

/// The JSON text of a schema: a text itself, a mapping, a bool, or a type that pydantic knows.
pub(super) fn schema_text(schema: &Bound<'_, PyAny>, limits: &Limits) -> PyResult<String> {
    if schema.is_instance_of::<PyString>() {
        grammar_text("schema", schema)
    } else if schema.is_instance_of::<PyDict>()
        || schema.is_instance_of::<PyBool>()
        || schema.cast::<PyMapping>().is_ok()
    {
        json_text(schema, limits)
    } else {
        let types = schema.py().import("earmark.schema_types")?;
        json_text(&types.getattr("schema_of")?.call1((schema,))?, limits)
    }
}

/// `Grammar.ignored_keywords`: a list of `IgnoredKeyword`.
pub(super) fn ignored_keywords<'py>(
    py: Python<'py>,
    findings: &[Finding],
) -> PyResult<Bound<'py, PyList>> {
    let class = py.import("earmark.reports")?.getattr("IgnoredKeyword")?;
    let ignored = PyList::empty(py);
    for Finding { pointer, keyword, reason, .. } in findings {
        ignored.append(class.call1((pointer, keyword, reason))?)?;
    }
    Ok(ignored)
}

/// A `SchemaReport`; what can't be enforced is refused or ignored, as the options say.
pub(super) fn schema_report<'py>(
    py: Python<'py>,
    findings: &[Finding],
    reject_unsupported: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let reports = py.import("earmark.reports")?;
    let class = reports.getattr("SchemaKeyword")?;
    let keywords = PyList::empty(py);
    for Finding { pointer, keyword, status, reason } in findings {
        let status = match status {
            Status::Enforced => "enforced",
            Status::Annotation => "annotation",
            Status::Unsupported if reject_unsupported => "refused",
            Status::Unsupported => "ignored",
        };
        keywords.append(class.call1((pointer, keyword, status, reason))?)?;
    }
    reports.getattr("SchemaReport")?.call1((keywords,))
}
