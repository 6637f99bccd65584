//! Replaces nonterminals that stand for one symbol by that symbol.
//!
//! Postcondition: a chain of unit rules costs nothing at run time. The replaced nonterminals are
//! unreachable afterwards.

use super::bnf::Bnf;
use crate::earley::{Order, Sym};
use crate::index::NonterminalId;

pub(super) fn collapse_units(bnf: &mut Bnf) {
    let target = |bnf: &Bnf, id: NonterminalId| match &bnf.productions[id][..] {
        [only] if only.len() == 1 => Some(only[0]),
        _ => None,
    };
    // The end of each chain, found once: `ends[id]` is filled for the whole path walked.
    let mut ends: Vec<Option<Sym>> = vec![None; bnf.productions.len()];
    let mut path = Vec::new();
    for id in bnf.productions.ids() {
        path.push(id);
        let mut end = Sym::Nonterminal(id);
        while let Sym::Nonterminal(at) = end {
            if let Some(known) = ends[at.0 as usize] {
                end = known;
                break;
            }
            match target(bnf, at) {
                // Every nonterminal has a text, so a chain can't run in a circle.
                Some(next) => end = next,
                None => break,
            }
            if let Sym::Nonterminal(next) = end {
                path.push(next);
            }
        }
        for step in path.drain(..) {
            ends[step.0 as usize] = Some(end);
        }
    }
    let replace = |symbol: &mut Sym| {
        if let Sym::Nonterminal(at) = symbol
            && let Some(end) = ends[at.0 as usize]
        {
            *symbol = end;
        }
    };
    for id in bnf.productions.ids() {
        bnf.productions[id].iter_mut().flatten().for_each(replace);
    }
    bnf.orders.values_mut().flat_map(Order::symbols_mut).for_each(replace);
}

#[cfg(test)]
mod tests {
    use super::super::bnf::tests::{parse, print};
    use super::super::prune::prune;
    use super::*;

    #[test]
    fn chains_are_followed_to_their_end() {
        let mut bnf = parse("0: 1 b\n1: 2\n2: 3\n3: a | 3 a\n4: 1");
        collapse_units(&mut bnf);
        prune(&mut bnf).unwrap();
        assert_eq!(print(&bnf), "0: 3 b\n3: a | 3 a\n");
    }
}
