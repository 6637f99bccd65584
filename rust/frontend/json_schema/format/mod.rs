//! `format` → the strings that are valid in it, as an expression over their characters.
//!
//! Takes the name of a format of any draft up to 2020-12 and gives a regular expression of the
//! string's value, before any JSON spelling. It knows neither JSON nor the schema around it.
//!
//! An expression is the whole format wherever that is regular and the RFCs say one thing. Where
//! they leave a choice it takes what every reading allows. Where a format is not regular, [`caveat`]
//! says what is left out or not checked; the documentation of each module says the same at length.
//!
//! These expressions are built afresh for each schema, so they are kept small and are put together
//! by hand: through the regex front end `uri` would take several times as long.

mod host;
mod idn;
#[rustfmt::skip]
mod idn_tables;
mod ip;
mod mail;
mod pen;
mod plain;
mod regex;
#[cfg(test)]
mod tests;
mod time;
mod uri;

use crate::grammar::GrammarBuilder;
use crate::index::ExprId;
use pen::Pen;

/// The strings that are valid in a format; `None` if the name is unknown, which makes `format` an
/// annotation.
pub(super) fn expr(name: &str, builder: &mut GrammarBuilder) -> Option<ExprId> {
    let p = &Pen::new(builder);
    Some(match name {
        "date" => time::date(p),
        "time" => time::time(p),
        "date-time" => time::date_time(p),
        "duration" => time::duration(p),
        "email" => mail::email(p),
        "idn-email" => mail::idn_email(p),
        "hostname" => host::hostname(p),
        "idn-hostname" => idn::hostname(p),
        "ipv4" => ip::v4(p),
        "ipv6" => ip::v6(p),
        "uri" => uri::uri(p, uri::ASCII),
        "uri-reference" => uri::reference(p, uri::ASCII),
        "iri" => uri::uri(p, uri::UNICODE),
        "iri-reference" => uri::reference(p, uri::UNICODE),
        "uri-template" => uri::template(p),
        "uuid" => plain::uuid(p),
        "json-pointer" => plain::json_pointer(p),
        "relative-json-pointer" => plain::relative_json_pointer(p),
        "regex" => regex::regex(p),
        _ => return None,
    })
}

/// How [`expr`] differs from a format that no regular expression can give exactly.
pub(super) fn caveat(name: &str) -> Option<&'static str> {
    Some(match name {
        "hostname" => "labels in punycode (xn--…) are left out",
        "idn-hostname" => {
            "labels in punycode (xn--…) are left out, normalisation form C is not checked, and \
             labels of more than one script may be too long in punycode"
        }
        "idn-email" => {
            "normalisation form C of the domain, and the length of its labels in punycode, are not \
             checked"
        }
        "regex" => {
            "patterns are left out that nest groups deeper than 3, have two named groups or \\k<…>, \
             or rarer kinds of class ranges and properties"
        }
        _ => return None,
    })
}
