//! Languages with unknowns, as equations for repetitions need them, and how to solve these.
//!
//! What follows a repetition's round is the repetition again: its language X is `K | L(X)`, where
//! K is what follows the repetition and L(X) a round before X. With one X for each
//! [context](super::solve) L(X) is linear, `A X | B X' | C`, and Arden's rule gives the least
//! solution: X = A X | R is `A* R`.

use super::algebra::Algebra;
use super::narrow::SetId;
use crate::index::ExprId;

/// An unknown language: what may follow from a place on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unknown {
    /// The repetition it belongs to.
    pub(super) repetition: u32,
    /// The context of the place.
    pub(super) context: usize,
    /// Only strings of this set.
    pub(super) set: SetId,
}

/// `constant | factor unknown | …`, at most one term for each unknown, sorted by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) constant: ExprId,
    pub(super) terms: Vec<(Unknown, ExprId)>,
}

impl Form {
    pub(super) const fn constant(expr: ExprId) -> Self {
        Self { constant: expr, terms: Vec::new() }
    }
}

impl Algebra<'_> {
    /// One of the forms.
    pub(super) fn union(&mut self, forms: &[Form]) -> Form {
        if let [one] = forms {
            return one.clone();
        }
        let constants: Vec<ExprId> = forms.iter().map(|form| form.constant).collect();
        let constant = self.alt(&constants);
        let mut terms: Vec<_> = forms.iter().flat_map(|form| form.terms.iter().copied()).collect();
        // Stable, so that factors keep the order of the pattern.
        terms.sort_by_key(|&(unknown, _)| unknown);
        let terms = terms
            .chunk_by(|left, right| left.0 == right.0)
            .map(|same| {
                let factors: Vec<ExprId> = same.iter().map(|&(_, factor)| factor).collect();
                (same[0].0, self.alt(&factors))
            })
            .collect();
        Form { constant, terms }
    }

    /// An expression before a form.
    pub(super) fn before(&mut self, expr: ExprId, form: &Form) -> Form {
        if expr == self.none {
            return Form::constant(self.none);
        }
        let constant = self.seq(&[expr, form.constant]);
        let terms = form
            .terms
            .iter()
            .map(|&(unknown, factor)| (unknown, self.seq(&[expr, factor])))
            .collect();
        Form { constant, terms }
    }

    /// The strings of a form that begin as the set says.
    pub(super) fn narrow_form(&mut self, form: &Form, set: SetId) -> Form {
        let mut forms = vec![Form::constant(self.narrow(form.constant, set))];
        let some = self.without_end(set);
        for &(unknown, factor) in &form.terms {
            // With something before it the unknown is free; with nothing, it has to begin so.
            let rest = self.narrow(factor, some);
            if rest != self.none {
                forms.push(Form { constant: self.none, terms: vec![(unknown, rest)] });
            }
            if self.is_nullable(factor) {
                let set = self.intersection(unknown.set, set);
                if !self.is_nothing(set) {
                    let unknown = Unknown { set, ..unknown };
                    forms.push(Form { constant: self.none, terms: vec![(unknown, self.empty)] });
                }
            }
        }
        self.union(&forms)
    }

    /// How large a form is.
    pub(super) fn size(&mut self, form: &Form) -> u64 {
        let constant = self.facts(form.constant).size;
        form.terms
            .iter()
            .fold(constant, |size, &(_, factor)| size.saturating_add(self.facts(factor).size))
    }

    /// Solves equations: the unknown of each is the form. All unknowns of the repetition must have
    /// one; those of others stay. Gives the solutions for the first `wanted`.
    pub(super) fn solve(
        &mut self,
        mut equations: Vec<(Unknown, Form)>,
        wanted: usize,
    ) -> Vec<Form> {
        for at in (0..equations.len()).rev() {
            let (unknown, form) = equations[at].clone();
            let (own, rest): (Vec<_>, Vec<_>) =
                form.terms.iter().partition(|(other, _)| *other == unknown);
            let mut form = Form { constant: form.constant, terms: rest };
            if let [(_, factor)] = own[..] {
                let rounds = self.repeat(factor, 0, None);
                form = self.before(rounds, &form);
            }
            for (_, earlier) in &mut equations[..at] {
                self.substitute(earlier, unknown, &form);
            }
            equations[at].1 = form;
        }
        // Now each form has none but earlier unknowns.
        for at in 0..wanted {
            let (unknown, form) = equations[at].clone();
            for (_, later) in &mut equations[at + 1..wanted] {
                self.substitute(later, unknown, &form);
            }
        }
        equations.into_iter().take(wanted).map(|(_, form)| form).collect()
    }

    fn substitute(&mut self, form: &mut Form, unknown: Unknown, value: &Form) {
        if let Some(at) = form.terms.iter().position(|&(other, _)| other == unknown) {
            let (_, factor) = form.terms.remove(at);
            let value = self.before(factor, value);
            *form = self.union(&[form.clone(), value]);
        }
    }
}
