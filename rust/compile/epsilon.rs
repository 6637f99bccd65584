//! Removes empty right-hand sides.
//!
//! Postcondition: no production is empty or `A → A`; `accepts_empty` says whether the empty text
//! belongs to the grammar; every other text is derived as before.
//!
//! `A → x N y` with a nullable `N` becomes `A → x N y | x y`. A production with more than two
//! nullable symbols is cut into a chain first, so that variants don't multiply.

use smallvec::SmallVec;

use super::bnf::{Bnf, Symbols};
use crate::earley::Sym;
use crate::error::{GrammarError, GrammarErrorKind};
use crate::index::{Id, NonterminalId};

/// Of members, each and the separator must have a text that is not empty, and no empty one: of empty
/// members it can't be seen which have been, and states would multiply unread.
///
/// Says whether nonterminals may be left without a text.
pub(super) fn eliminate_empty(bnf: &mut Bnf) -> Result<bool, GrammarError> {
    let mut nullable = find_nullable(bnf);
    if nullable.contains(&true) {
        expand_orders(bnf, &mut nullable)?;
        bnf.accepts_empty |= nullable[bnf.start.index()];
        for head in bnf.productions.ids() {
            let mut symbols = bnf.productions[head].iter().flatten();
            if symbols.any(|&symbol| is_nullable(&nullable, symbol)) {
                for symbols in std::mem::take(&mut bnf.productions[head]) {
                    expand(bnf, &mut nullable, head, &symbols);
                }
            }
        }
    }
    let mut lost = false;
    for head in bnf.productions.ids() {
        let right_hand_sides = &mut bnf.productions[head];
        if right_hand_sides.is_empty() {
            continue;
        }
        right_hand_sides
            .retain(|symbols| !symbols.is_empty() && symbols[..] != [Sym::Nonterminal(head)]);
        // Whoever has another text than the empty one still has it.
        let solid =
            |symbols: &Symbols| symbols.iter().any(|&symbol| !is_nullable(&nullable, symbol));
        lost |= nullable[head.index()] && !right_hand_sides.iter().any(solid);
        if right_hand_sides.len() > 1 {
            let mut seen = rustc_hash::FxHashSet::default();
            right_hand_sides.retain(|symbols| seen.insert(symbols.clone()));
        }
    }
    Ok(lost)
}

/// Gives each item of members that has a nullable symbol a nonterminal, which is expanded as all
/// are.
fn expand_orders(bnf: &mut Bnf, nullable: &mut Vec<bool>) -> Result<(), GrammarError> {
    for order in bnf.orders.values_mut() {
        if order.separator.is_some_and(|separator| is_nullable(nullable, separator)) {
            return Err(empty_member());
        }
        for item in &mut order.items {
            let empty = item.symbols.iter().filter(|&&symbol| is_nullable(nullable, symbol));
            let empty = empty.count();
            if empty == item.symbols.len() {
                return Err(empty_member());
            }
            if empty > 0 {
                let symbols = Symbols::from_slice(&item.symbols);
                item.symbols = [Sym::Nonterminal(bnf.productions.push(vec![symbols]))].into();
                nullable.push(false);
            }
        }
    }
    Ok(())
}

fn empty_member() -> GrammarError {
    GrammarError::new(
        GrammarErrorKind::Unsupported,
        "of items in any order or in a given one, one or what stands between them may be empty",
    )
    .with_hint("leave the empty text out, and let there be fewer items")
}

fn is_nullable(nullable: &[bool], symbol: Sym) -> bool {
    matches!(symbol, Sym::Nonterminal(id) if nullable[id.index()])
}

/// Adds the variants of a production without some of its nullable symbols.
fn expand(bnf: &mut Bnf, nullable: &mut Vec<bool>, head: NonterminalId, symbols: &[Sym]) {
    let places: Vec<usize> =
        (0..symbols.len()).filter(|&place| is_nullable(nullable, symbols[place])).collect();
    let solid = symbols.iter().rposition(|&symbol| !is_nullable(nullable, symbol));
    let mut head = head;
    let mut start = 0;
    // The chain: `A → x N …` becomes `A → x N T`, `T → …`; the last two need none.
    for &place in &places[..places.len().saturating_sub(2)] {
        let tail = bnf.productions.push(Vec::new());
        nullable.push(solid.is_none_or(|solid| solid <= place));
        let mut chained = Symbols::from_slice(&symbols[start..=place]);
        chained.push(Sym::Nonterminal(tail));
        add_variants(bnf, nullable, head, &chained);
        head = tail;
        start = place + 1;
    }
    add_variants(bnf, nullable, head, &symbols[start..]);
}

/// At most two symbols are nullable, hence at most four variants.
fn add_variants(bnf: &mut Bnf, nullable: &[bool], head: NonterminalId, symbols: &[Sym]) {
    let mut variants: Vec<Symbols> = vec![Symbols::new()];
    for &symbol in symbols {
        let without = if is_nullable(nullable, symbol) { variants.clone() } else { Vec::new() };
        for variant in &mut variants {
            variant.push(symbol);
        }
        variants.extend(without);
    }
    bnf.productions[head].extend(variants);
}

fn find_nullable(bnf: &Bnf) -> Vec<bool> {
    let mut nullable = vec![false; bnf.productions.len()];
    let mut missing: Vec<(NonterminalId, usize)> = Vec::new();
    let mut used_in: Vec<SmallVec<[u32; 2]>> = vec![SmallVec::new(); bnf.productions.len()];
    let mut ready = Vec::new();
    for (head, right_hand_sides) in bnf.productions.iter_enumerated() {
        for symbols in right_hand_sides {
            if !symbols.iter().all(|symbol| matches!(symbol, Sym::Nonterminal(_))) {
                continue;
            }
            for symbol in symbols {
                if let Sym::Nonterminal(id) = symbol {
                    used_in[id.index()].push(missing.len() as u32);
                }
            }
            missing.push((head, symbols.len()));
            if symbols.is_empty() && !nullable[head.index()] {
                nullable[head.index()] = true;
                ready.push(head);
            }
        }
    }
    while let Some(id) = ready.pop() {
        for &production in &used_in[id.index()] {
            let (head, nonterminals) = &mut missing[production as usize];
            *nonterminals -= 1;
            if *nonterminals == 0 && !nullable[head.index()] {
                nullable[head.index()] = true;
                ready.push(*head);
            }
        }
    }
    nullable
}

#[cfg(test)]
mod tests {
    use super::super::bnf::tests::{parse, print};
    use super::*;

    fn after(text: &str) -> (String, bool) {
        let mut bnf = parse(text);
        eliminate_empty(&mut bnf).unwrap();
        (print(&bnf), bnf.accepts_empty)
    }

    #[test]
    fn nullable_symbols_become_optional() {
        assert_eq!(after("0: a 1 b\n1: | c"), ("0: a 1 b | a b\n1: c\n".into(), false));
    }

    #[test]
    fn self_productions_go() {
        assert_eq!(after("0: | 0 0 | a"), ("0: 0 0 | a\n".into(), true));
    }

    #[test]
    fn many_nullable_symbols_make_a_chain() {
        let (text, empty) = after("0: 1 1 1 1 1 1\n1: | a");
        assert!(empty);
        assert!(text.lines().count() < 10 && text.len() < 200, "{text}");
    }
}
