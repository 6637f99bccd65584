//! `(?:(?!x)C)*`, the tempered dot: single characters, none of which begins an x.
//!
//! Before a language k it stands for the strings u v with u in C*, v in k and no x beginning within
//! u. If all strings of k have the length n, those are the strings of `C* k` without a suffix in
//! `x Σ*` longer than n. If k is `h r` with h of the length n, and no x is longer than n + 1, an x
//! that begins within u ends within `u h`, so that only `C* h` need be looked at.

use super::algebra::Algebra;
use super::forms::Form;
use crate::grammar::Expr;
use crate::index::ExprId;

/// The repetition of `single` (one character), `min` to `max` times, each where none of `looks`
/// (languages up to the end of the string) begins, and then `rest`. `None` if there is no such
/// expression.
pub(super) fn tempered(
    single: ExprId,
    (min, max): (u32, Option<u32>),
    looks: &[ExprId],
    rest: &Form,
    algebra: &mut Algebra<'_>,
) -> Option<Form> {
    if !rest.terms.is_empty() {
        return None;
    }
    let parts = match algebra.builder.expr(rest.constant) {
        Expr::Seq(parts) => parts.to_vec(),
        _ => vec![rest.constant],
    };
    let mut length: u32 = 0;
    let mut fixed = 0;
    for &part in &parts {
        let facts = algebra.facts(part);
        let Some(more) = facts.max.filter(|&max| max == facts.min) else { break };
        length = length.checked_add(u32::try_from(more).ok()?)?;
        fixed += 1;
    }
    let mut unwanted = Vec::with_capacity(looks.len());
    for &look in looks {
        let long = too_long(look, length, fixed == parts.len(), algebra)?;
        unwanted.push(algebra.seq(&[algebra.all, long]));
    }
    let rounds = algebra.repeat(single, min, max);
    let mut head = vec![rounds];
    head.extend(&parts[..fixed]);
    let head = algebra.seq(&head);
    let mut whole = vec![algebra.and(&[head], &unwanted)];
    whole.extend(&parts[fixed..]);
    Some(Form::constant(algebra.seq(&whole)))
}

/// The strings of `look` longer than `length`. Unless they are the whole rest of the string, they
/// must be free to go on after `length` + 1 characters.
fn too_long(look: ExprId, length: u32, whole: bool, algebra: &mut Algebra<'_>) -> Option<ExprId> {
    let longer = length.checked_add(1)?;
    if let Expr::Seq(parts) = algebra.builder.expr(look)
        && let Some((&last, parts)) = parts.split_last()
        && last == algebra.all
    {
        let parts = parts.to_vec();
        let word = algebra.seq(&parts);
        let facts = algebra.facts(word);
        if let Some(max) = facts.max
            && max <= u64::from(longer)
            && max == facts.min
        {
            let more = algebra.repeat(algebra.any, longer - max as u32, None);
            return Some(algebra.seq(&[word, more]));
        }
        if !whole && facts.max.is_none_or(|max| max > u64::from(longer)) {
            return None;
        }
    } else if !whole {
        return None;
    }
    if algebra.facts(look).min >= u64::from(longer) {
        return Some(look);
    }
    let long = algebra.repeat(algebra.any, longer, None);
    Some(algebra.and(&[look, long], &[]))
}
