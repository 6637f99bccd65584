//! Removes what can't be completed and what can't be reached.
//!
//! Postcondition: every symbol of a remaining production has a text, and every nonterminal with
//! productions is reachable from the start. A nonterminal without productions is in none, if it
//! does not stand for members, which then can be completed.

use smallvec::SmallVec;

use super::bnf::Bnf;
use crate::earley::{Order, OrderPlan, Sym};
use crate::error::GrammarError;
use crate::index::{Id, NonterminalId};

pub(super) fn prune(bnf: &mut Bnf) -> Result<(), GrammarError> {
    let productive = find_productive(bnf)?;
    let is_productive = |symbol: Sym| match symbol {
        Sym::Nonterminal(id) => productive[id.index()],
        Sym::Lexeme(_) | Sym::Token(_) => true,
    };
    for id in bnf.productions.ids() {
        bnf.productions[id].retain(|symbols| symbols.iter().all(|&symbol| is_productive(symbol)));
    }
    bnf.orders.retain(|id, order| {
        keep(order, is_productive);
        productive[id.index()]
    });
    remove_unreachable(bnf);
    Ok(())
}

/// Keeps the items, and the separator, whose symbol is good.
fn keep(order: &mut Order, is_good: impl Fn(Sym) -> bool) {
    order.items.retain(|item| item.symbols.iter().all(|&symbol| is_good(symbol)));
    order.separator = order.separator.filter(|&separator| is_good(separator));
}

/// Where a nonterminal is used.
#[derive(Clone, Copy)]
enum Use {
    Production(u32),
    Order(NonterminalId),
}

fn find_productive(bnf: &Bnf) -> Result<Vec<bool>, GrammarError> {
    let count = bnf.productions.len();
    // For each production the number of its nonterminals not yet known to have a text.
    let mut missing: Vec<(NonterminalId, u32)> = Vec::with_capacity(count);
    let mut used_in: Vec<SmallVec<[Use; 2]>> = vec![SmallVec::new(); count];
    let mut productive = vec![false; count];
    let mut ready: Vec<NonterminalId> = Vec::new();
    for (head, right_hand_sides) in bnf.productions.iter_enumerated() {
        for symbols in right_hand_sides {
            let production = missing.len() as u32;
            let mut nonterminals = 0;
            for symbol in symbols {
                if let Sym::Nonterminal(id) = symbol {
                    used_in[id.index()].push(Use::Production(production));
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
    // The orders that have something new; they are looked at when nothing else is left, so that
    // most are looked at once.
    let mut open: Vec<NonterminalId> = bnf.orders.keys().copied().collect();
    let mut is_open = vec![true; count];
    for (&head, order) in &bnf.orders {
        for symbol in order.symbols() {
            if let Sym::Nonterminal(id) = symbol {
                used_in[id.index()].push(Use::Order(head));
            }
        }
    }
    loop {
        while let Some(id) = ready.pop() {
            for &place in &used_in[id.index()] {
                match place {
                    Use::Production(production) => {
                        let (head, nonterminals) = &mut missing[production as usize];
                        *nonterminals -= 1;
                        if *nonterminals == 0 && !productive[head.index()] {
                            productive[head.index()] = true;
                            ready.push(*head);
                        }
                    }
                    Use::Order(head) => {
                        if !std::mem::replace(&mut is_open[head.index()], true) {
                            open.push(head);
                        }
                    }
                }
            }
        }
        let Some(head) = open.pop() else { return Ok(productive) };
        is_open[head.index()] = false;
        if productive[head.index()] {
            continue;
        }
        let is_productive = |symbol: Sym| match symbol {
            Sym::Nonterminal(id) => productive[id.index()],
            Sym::Lexeme(_) | Sym::Token(_) => true,
        };
        let order = &bnf.orders[&head];
        // PERF: to copy objects' members and plan them took 2 % of the instructions of first masks.
        if order.has_all_in_a_row() && order.symbols().all(is_productive) {
            productive[head.index()] = true;
            ready.push(head);
            continue;
        }
        let set: usize = order
            .items
            .iter()
            .filter(|item| item.symbols.iter().all(|&symbol| is_productive(symbol)))
            .map(|item| item.marks.len())
            .sum();
        if set < order.marks as usize {
            // Too early to ask in earnest, which may have to be done again for each item.
            continue;
        }
        let mut order = order.clone();
        keep(&mut order, is_productive);
        if OrderPlan::new(order)?.is_some() {
            productive[head.index()] = true;
            ready.push(head);
        }
    }
}

/// Removes what can't be reached.
pub(super) fn remove_unreachable(bnf: &mut Bnf) {
    let mut reachable = vec![false; bnf.productions.len()];
    let mut open = vec![bnf.start];
    reachable[bnf.start.index()] = true;
    while let Some(id) = open.pop() {
        let order = bnf.orders.get(&id).into_iter().flat_map(Order::symbols);
        for symbol in bnf.productions[id].iter().flatten().copied().chain(order) {
            if let Sym::Nonterminal(id) = symbol
                && !std::mem::replace(&mut reachable[id.index()], true)
            {
                open.push(id);
            }
        }
    }
    for id in bnf.productions.ids() {
        if !reachable[id.index()] {
            bnf.productions[id].clear();
        }
    }
    bnf.orders.retain(|id, _| reachable[id.index()]);
}

#[cfg(test)]
mod tests {
    use super::super::bnf::tests::{parse, print};
    use super::*;

    #[test]
    fn dead_alternatives_and_unused_rules_go() {
        let mut bnf = parse("0: a | 1 b\n1: 1 c\n2: a");
        prune(&mut bnf).unwrap();
        assert_eq!(print(&bnf), "0: a\n");
    }

    #[test]
    fn a_grammar_without_texts_has_no_productions_left() {
        let mut bnf = parse("0: a 1\n1: b 0");
        prune(&mut bnf).unwrap();
        assert_eq!(print(&bnf), "");
    }
}
