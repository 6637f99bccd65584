//! Takes away levels of precedence, which shape a tree but not the set of texts.
//!
//! With `A → A γ B | B` and `B → B δ | β`, A derives β (δ | γ β)*. So A becomes
//! `A → A γ B₀ | A δ | B₀`, `B₀ → β`. The levels of an expression grammar turn into one, and after
//! an operand all operators lead on from one item instead of one a level.
//!
//! PERF: C expressions have ten binary levels. With this pass and `merge`, a mask of
//! `grammars/c_subset.gbnf` costs 190 µs instead of 480, one of `expressions.gbnf` 17 instead of 60.

use rustc_hash::FxHashMap;

use super::bnf::{Bnf, Symbols};
use crate::earley::Sym;
use crate::index::NonterminalId;

pub(super) fn merge_levels(bnf: &mut Bnf) {
    let mut bases: FxHashMap<NonterminalId, Sym> = FxHashMap::default();
    // Lowering numbers callers before what they call, so this goes from the deepest level up.
    for upper in bnf.productions.ids().rev() {
        let Some(lower) = level_below(bnf, upper) else { continue };
        let own = Sym::Nonterminal(lower);
        let is_loop = |symbols: &Symbols| symbols[0] == own;
        let below = &bnf.productions[lower];
        if below.iter().all(is_loop) || !below.iter().any(is_loop) {
            continue;
        }
        let (loops, base): (Vec<_>, Vec<_>) = below.iter().cloned().partition(is_loop);
        let operand = match (bases.get(&lower), &base[..]) {
            (Some(&known), _) => known,
            (None, [only]) if only.len() == 1 => only[0],
            (None, _) => {
                let operand = Sym::Nonterminal(bnf.productions.push(base));
                bases.insert(lower, operand);
                operand
            }
        };
        for symbols in &mut bnf.productions[upper] {
            symbols.pop();
            symbols.push(operand);
        }
        for mut symbols in loops {
            symbols[0] = Sym::Nonterminal(upper);
            bnf.productions[upper].push(symbols);
        }
    }
}

/// B, if the productions of A are `A → B` and others of the form `A → A γ B`.
fn level_below(bnf: &Bnf, upper: NonterminalId) -> Option<NonterminalId> {
    let productions = &bnf.productions[upper];
    let own = Sym::Nonterminal(upper);
    let mut units = productions.iter().filter(|symbols| symbols.len() == 1);
    let (Some(unit), None) = (units.next(), units.next()) else { return None };
    let Sym::Nonterminal(lower) = unit[0] else { return None };
    let fits = |symbols: &Symbols| {
        symbols.len() == 1 || symbols[0] == own && symbols.ends_with(&[unit[0]])
    };
    (lower != upper && productions.iter().all(fits)).then_some(lower)
}

#[cfg(test)]
mod tests {
    use super::super::bnf::tests::{parse, print};
    use super::super::prune::prune;
    use super::*;

    #[test]
    fn levels_become_one() {
        let mut bnf = parse("0: 0 a 1 | 1\n1: 1 b 2 | 1 c 2 | 2\n2: d | e 0 f");
        merge_levels(&mut bnf);
        prune(&mut bnf).unwrap();
        assert_eq!(print(&bnf), "0: 0 a 2 | 2 | 0 b 2 | 0 c 2\n2: d | e 0 f\n");
    }

    #[test]
    fn several_bases_are_kept_together() {
        let mut bnf = parse("0: 0 a 1 | 1\n1: 1 b | c | d");
        merge_levels(&mut bnf);
        prune(&mut bnf).unwrap();
        assert_eq!(print(&bnf), "0: 0 a 2 | 2 | 0 b\n2: c | d\n");
    }

    #[test]
    fn other_recursion_is_left_alone() {
        for text in ["0: 0 a | 1\n1: 1 b | c\n", "0: 1 a 0 | 1\n1: 1 b | c\n"] {
            let mut bnf = parse(text);
            merge_levels(&mut bnf);
            assert_eq!(print(&bnf), text);
        }
    }
}
