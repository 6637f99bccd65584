//! Sets of arrays: alternatives, each a conjunction of what its items must be.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::alternatives::{
    Alternative, add_new, check_count, intersection, limited, meet, possible, union,
    without_annotations,
};
use super::domain::{Domain, Key, Memo};
use super::{Algebra, Result, Signed};
use crate::frontend::json_schema::model::{Keyword, Schema, Type, Value};
use crate::index::SchemaId;

/// Arrays that are in one of these sets.
#[derive(Clone, Debug)]
pub(in crate::frontend::json_schema) struct Items(pub(in crate::frontend::json_schema) Rc<[List]>);

/// Arrays for which all of this holds.
#[derive(Clone, Debug, Default)]
pub(in crate::frontend::json_schema) struct List {
    /// What items at some places must be.
    pub(in crate::frontend::json_schema) rules: Vec<ItemRule>,
    /// How many items of a kind there are.
    pub(in crate::frontend::json_schema) contains: Vec<Contains>,
    /// There are at least this many items.
    pub(in crate::frontend::json_schema) min: u64,
    /// There are at most this many items.
    pub(in crate::frontend::json_schema) max: Option<u64>,
    /// No two items are equal.
    pub(in crate::frontend::json_schema) unique: bool,
    /// Where `uniqueItems` stands, for messages.
    pub(in crate::frontend::json_schema) unique_at: Option<Rc<Schema>>,
    /// How many items from the first on have been evaluated; `usize::MAX` for all.
    evaluated: usize,
    /// So have all items for which one of these holds.
    evaluated_if: Vec<SchemaId>,
}

/// Items from one place to another have a value for which a schema holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::frontend::json_schema) struct ItemRule {
    pub(in crate::frontend::json_schema) from: usize,
    /// The first place behind; `usize::MAX` for none.
    pub(in crate::frontend::json_schema) to: usize,
    pub(in crate::frontend::json_schema) value: Signed,
}

/// From a place on, there are so many items for which a schema holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::frontend::json_schema) struct Contains {
    pub(in crate::frontend::json_schema) value: Signed,
    pub(in crate::frontend::json_schema) from: usize,
    pub(in crate::frontend::json_schema) min: u64,
    pub(in crate::frontend::json_schema) max: Option<u64>,
}

impl Alternative for List {
    fn is_any(&self) -> bool {
        self.rules.is_empty()
            && self.contains.is_empty()
            && self.min == 0
            && self.max.is_none()
            && !self.unique
            && self.evaluated == 0
            && self.evaluated_if.is_empty()
    }

    fn is_annotated(&self) -> bool {
        self.evaluated > 0 || !self.evaluated_if.is_empty()
    }

    fn size(&self) -> usize {
        1 + self.rules.len() + self.contains.len() + self.evaluated_if.len()
    }

    fn without_annotations(&self) -> Self {
        Self { evaluated: 0, evaluated_if: Vec::new(), ..self.clone() }
    }

    fn merge(&self, other: &Self) -> Self {
        let mut both = self.clone();
        add_new(&mut both.rules, &other.rules);
        add_new(&mut both.contains, &other.contains);
        both.min = both.min.max(other.min);
        both.max = [both.max, other.max].into_iter().flatten().min();
        both.unique |= other.unique;
        both.unique_at = both.unique_at.or_else(|| other.unique_at.clone());
        both.evaluated = both.evaluated.max(other.evaluated);
        add_new(&mut both.evaluated_if, &other.evaluated_if);
        both
    }

    fn is_empty(&self, algebra: &mut Algebra<'_>) -> Result<bool> {
        algebra.is_empty_array(self)
    }
}

impl Items {
    fn one(list: List) -> Self {
        Self(Rc::new([list]))
    }
}

impl Domain for Items {
    const NUMBER: u8 = 3;

    fn all() -> Self {
        Self::one(List::default())
    }

    fn nothing() -> Self {
        Self(Rc::new([]))
    }

    fn is_nothing(&self) -> bool {
        self.0.is_empty()
    }

    fn is_single(&self) -> bool {
        self.0.len() <= 1
    }

    fn and(self, other: Self, algebra: &mut Algebra<'_>) -> Result<Self> {
        intersection(self.0, other.0, algebra).map(Self)
    }

    fn or(self, other: Self, algebra: &mut Algebra<'_>) -> Result<Self> {
        union(self.0, other.0, algebra).map(Self)
    }

    fn keyword(
        algebra: &mut Algebra<'_>,
        schema: &Schema,
        (keyword, name): &(Keyword, &'static str),
        positive: bool,
        _: bool,
    ) -> Result<Option<Self>> {
        let mut list = List::default();
        match keyword {
            Keyword::Types(types) => {
                let holds = types.contains(Type::Array) == positive;
                return Ok(Some(if holds { Self::all() } else { Self::nothing() }));
            }
            Keyword::Enum(values) => {
                let arrays: Vec<SchemaId> = values
                    .iter()
                    .filter(|value| matches!(value, Value::Array(_)))
                    .map(|value| algebra.only(value))
                    .collect();
                if positive {
                    check_count(arrays.len(), algebra)?;
                    let mut all = Vec::new();
                    for schema in arrays {
                        let part: Self = algebra.evaluate(Signed::yes(schema), false)?;
                        all.extend(part.without_annotations().0.iter().cloned());
                    }
                    return Ok(Some(Self(limited(all, algebra)?)));
                }
                let mut set = Self::all();
                for schema in arrays {
                    let part: Self = algebra.evaluate(Signed::no(schema), false)?;
                    set = set.and(part, algebra)?;
                }
                return Ok(Some(set));
            }
            Keyword::PrefixItems(items) => {
                if !positive {
                    let fails = items.iter().enumerate().map(|(from, &schema)| List {
                        rules: vec![ItemRule { from, to: from + 1, value: Signed::no(schema) }],
                        min: from as u64 + 1,
                        ..List::default()
                    });
                    return Ok(Some(Self(possible(fails.collect(), algebra)?)));
                }
                let rule = |(from, &schema): (usize, &SchemaId)| ItemRule {
                    from,
                    to: from + 1,
                    value: Signed::yes(schema),
                };
                list.rules.extend(items.iter().enumerate().map(rule));
                list.evaluated = items.len();
            }
            &Keyword::Items { from, schema } => {
                if positive {
                    let value = Signed::yes(schema);
                    list.rules.push(ItemRule { from, to: usize::MAX, value });
                    list.evaluated = usize::MAX;
                } else {
                    let value = Signed::no(schema);
                    list.contains.push(Contains { value, from, min: 1, max: None });
                }
            }
            &Keyword::Contains { schema, min, max, evaluates } => {
                let value = Signed::yes(schema);
                if positive {
                    if min > 0 || max.is_some() {
                        list.contains.push(Contains { value, from: 0, min, max });
                    }
                    list.evaluated_if.extend(evaluates.then_some(schema));
                } else {
                    let fewer = min.checked_sub(1).map(|most| (0, Some(most)));
                    let more = max.map(|most| (most.saturating_add(1), None));
                    let fails = [fewer, more].into_iter().flatten().map(|(min, max)| List {
                        contains: vec![Contains { value, from: 0, min, max }],
                        ..List::default()
                    });
                    return Ok(Some(Self(possible(fails.collect(), algebra)?)));
                }
            }
            &Keyword::MinItems(min) if positive => list.min = min,
            &Keyword::MinItems(min) => match min.checked_sub(1) {
                Some(max) => list.max = Some(max),
                None => return Ok(Some(Self::nothing())),
            },
            &Keyword::MaxItems(max) if positive => list.max = Some(max),
            &Keyword::MaxItems(max) => list.min = max.saturating_add(1),
            Keyword::UniqueItems if positive => {
                list.unique = true;
                list.unique_at = Some(Rc::new(schema.clone()));
            }
            Keyword::UniqueItems => {
                algebra.refuse(schema, name, "that two items are equal can't be enforced");
                return Ok(Some(Self::all()));
            }
            _ => return Ok(None),
        }
        if algebra.is_empty_array(&list)? {
            return Ok(Some(Self::nothing()));
        }
        Ok(Some(Self::one(list)))
    }

    fn unevaluated(
        self,
        algebra: &mut Algebra<'_>,
        schema: &Schema,
        (keyword, name): &(Keyword, &'static str),
        positive: bool,
    ) -> Result<Self> {
        let &Keyword::UnevaluatedItems(value) = keyword else { return Ok(self) };
        if !positive && self.0.len() > 1 {
            algebra.refuse(schema, name, "negated, and which items it means depends on others");
            return Ok(self);
        }
        let mut lists = Vec::new();
        for list in &*self.0 {
            let mut list = list.clone();
            // What `contains` has found is evaluated; all else must satisfy the schema.
            let mut allowed = list.evaluated_if.clone();
            allowed.push(value);
            let allowed = if allowed.len() == 1 { value } else { algebra.any_of(&allowed) };
            let from = list.evaluated;
            if positive {
                if from < usize::MAX {
                    let value = Signed::yes(allowed);
                    list.rules.push(ItemRule { from, to: usize::MAX, value });
                }
                list.evaluated = usize::MAX;
            } else if from < usize::MAX {
                let value = Signed::no(allowed);
                list.contains.push(Contains { value, from, min: 1, max: None });
            } else {
                continue;
            }
            lists.push(list);
        }
        possible(lists, algebra).map(Self)
    }

    fn is_unevaluated(keyword: &Keyword) -> bool {
        matches!(keyword, Keyword::UnevaluatedItems(_))
    }

    fn without_annotations(self) -> Self {
        Self(without_annotations(self.0))
    }

    fn overlaps(algebra: &mut Algebra<'_>, sets: &[&Self]) -> Result<Option<Vec<Vec<usize>>>> {
        let mut overlaps = vec![Vec::new(); sets.len()];
        for (index, set) in sets.iter().enumerate() {
            for (other, others) in sets.iter().enumerate().skip(index + 1) {
                if meet(&set.0, &others.0, algebra)? {
                    overlaps[index].push(other);
                    overlaps[other].push(index);
                }
            }
        }
        Ok(Some(overlaps))
    }

    fn memo(memo: &mut Memo) -> &mut FxHashMap<Key, Self> {
        &mut memo.items
    }
}
