//! Removes what can't be completed and what can't be reached.
//!
//! Postcondition: every symbol of a remaining production has a text, and every nonterminal with
//! productions is reachable from the start. A nonterminal without productions is in none.

use super::bnf::Bnf;
use crate::earley::Sym;
use crate::index::{Id, NonterminalId};

pub(super) fn prune(bnf: &mut Bnf) {
    remove_unproductive(bnf);
    remove_unreachable(bnf);
}

fn remove_unproductive(bnf: &mut Bnf) {
    let count = bnf.productions.len();
    // For each production the number of its nonterminals not yet known to have a text.
    let mut missing: Vec<(NonterminalId, usize)> = Vec::new();
    let mut used_in: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut productive = vec![false; count];
    let mut ready: Vec<NonterminalId> = Vec::new();
    for (head, right_hand_sides) in bnf.productions.iter_enumerated() {
        for symbols in right_hand_sides {
            let production = missing.len();
            let mut nonterminals = 0;
            for symbol in symbols {
                if let Sym::Nonterminal(id) = symbol {
                    used_in[id.index()].push(production);
                    nonterminals += 1;
                }
            }
            missing.push((head, nonterminals));
            if nonterminals == 0 && !productive[head.index()] {
                productive[head.index()] = true;
                ready.push(head);
            }
        }
    }
    while let Some(id) = ready.pop() {
        for &production in &used_in[id.index()] {
            let (head, nonterminals) = &mut missing[production];
            *nonterminals -= 1;
            if *nonterminals == 0 && !productive[head.index()] {
                productive[head.index()] = true;
                ready.push(*head);
            }
        }
    }
    for id in bnf.productions.ids() {
        bnf.productions[id].retain(|symbols| {
            symbols.iter().all(|symbol| match symbol {
                Sym::Nonterminal(id) => productive[id.index()],
                Sym::Lexeme(_) | Sym::Token(_) => true,
            })
        });
    }
}

fn remove_unreachable(bnf: &mut Bnf) {
    let mut reachable = vec![false; bnf.productions.len()];
    let mut open = vec![bnf.start];
    reachable[bnf.start.index()] = true;
    while let Some(id) = open.pop() {
        for symbol in bnf.productions[id].iter().flatten() {
            if let Sym::Nonterminal(id) = symbol
                && !std::mem::replace(&mut reachable[id.index()], true)
            {
                open.push(*id);
            }
        }
    }
    for id in bnf.productions.ids() {
        if !reachable[id.index()] {
            bnf.productions[id].clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bnf::tests::{parse, print};
    use super::*;

    #[test]
    fn dead_alternatives_and_unused_rules_go() {
        let mut bnf = parse("0: a | 1 b\n1: 1 c\n2: a");
        prune(&mut bnf);
        assert_eq!(print(&bnf), "0: a\n");
    }

    #[test]
    fn a_grammar_without_texts_has_no_productions_left() {
        let mut bnf = parse("0: a 1\n1: b 0");
        prune(&mut bnf);
        assert_eq!(print(&bnf), "");
    }
}
