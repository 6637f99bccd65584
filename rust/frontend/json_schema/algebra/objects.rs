//! Sets of objects: alternatives, each a conjunction of what its properties must be.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::alternatives::{
    Alternative, add_new, check_count, intersection, limited, meet, possible, union,
    without_annotations,
};
use super::conditions::{Condition, add_conditions, beside, without_evaluated};
use super::domain::{Domain, Key, Memo};
use super::names::Names;
use super::{Algebra, Result, Signed, Strings};
use crate::frontend::json_schema::model::{Keyword, Named, Schema, Type, Value};
use crate::index::{ExprId, SchemaId};

/// Objects that are in one of these sets.
#[derive(Clone, Debug)]
pub(in crate::frontend::json_schema) struct Properties(
    pub(in crate::frontend::json_schema) Rc<[Shape]>,
);

/// Objects for which all of this holds.
#[derive(Clone, Debug, Default)]
pub(in crate::frontend::json_schema) struct Shape {
    /// Properties of one name, if they are there, have a value for which a schema holds. The order
    /// of the properties is the order in which names first come here.
    pub(in crate::frontend::json_schema) named: Vec<(Rc<str>, Signed)>,
    /// So have all properties with a name in a set.
    pub(in crate::frontend::json_schema) wide: Vec<(Names, Signed)>,
    /// Every name belongs to each of these.
    pub(in crate::frontend::json_schema) names: Vec<Strings>,
    /// These properties are there.
    pub(in crate::frontend::json_schema) required: Vec<Rc<str>>,
    /// There are properties like these.
    pub(in crate::frontend::json_schema) exists: Vec<Exists>,
    /// There are at least this many properties.
    pub(in crate::frontend::json_schema) min: u64,
    /// There are at most this many properties.
    pub(in crate::frontend::json_schema) max: Option<u64>,
    /// Whether an `additionalProperties` or its like has been met.
    pub(in crate::frontend::json_schema) closed: bool,
    /// Whether a `properties` that is no condition names some, and the option
    /// `additional_properties` leaves out others.
    pub(super) closed_by_option: bool,
    /// Of each of these, one alternative holds as well.
    pub(in crate::frontend::json_schema) conditions: Vec<Condition>,
    /// The names whose properties have been evaluated.
    pub(super) evaluated: Vec<Names>,
}

/// There is a property with a name in a set and a value for which a schema holds.
#[derive(Clone, Debug)]
pub(in crate::frontend::json_schema) struct Exists {
    pub(in crate::frontend::json_schema) names: Names,
    pub(in crate::frontend::json_schema) value: Option<Signed>,
}

impl Shape {
    /// Whether the option `additional_properties` leaves out names of which nothing is said.
    pub(in crate::frontend::json_schema) fn is_closed_by_option(&self) -> bool {
        self.closed_by_option && !self.closed
    }

    /// Whether it plainly says nothing that another one does not say.
    fn includes(&self, other: &Self) -> bool {
        self.wide.len() <= other.wide.len()
            && self.exists.is_empty()
            && self.names.is_empty()
            && self.evaluated.is_empty()
            && !other.is_annotated()
            && self.conditions.is_empty()
            && self.min <= other.min
            && self.max.is_none_or(|max| other.max.is_some_and(|other| other <= max))
            && self.closed == other.closed
            && self.closed_by_option <= other.closed_by_option
            && self.named.iter().all(|named| other.named.contains(named))
            && self.required.iter().all(|name| other.required.contains(name))
            && self
                .wide
                .iter()
                .zip(&other.wide)
                .all(|(own, other)| own.1 == other.1 && own.0.is_plainly(&other.0))
            && (!self.is_closed_by_option() || self.has_names_of(other))
    }

    /// Whether it plainly gives all names that another one gives.
    fn has_names_of(&self, other: &Self) -> bool {
        let gives =
            |name| self.named.iter().any(|(own, _)| own == name) || self.required.contains(name);
        other.wide.len() == self.wide.len()
            && other.exists.is_empty()
            && other.names.is_empty()
            && other.named.iter().map(|(name, _)| name).chain(&other.required).all(gives)
    }
}

impl Alternative for Shape {
    fn is_any(&self) -> bool {
        self.named.is_empty()
            && self.wide.is_empty()
            && self.names.is_empty()
            && self.required.is_empty()
            && self.exists.is_empty()
            && self.min == 0
            && self.max.is_none()
            && self.evaluated.is_empty()
            && self.conditions.is_empty()
            && !self.closed
            && !self.closed_by_option
    }

    fn is_annotated(&self) -> bool {
        !self.evaluated.is_empty() || has_evaluating(&self.conditions)
    }

    fn size(&self) -> usize {
        let parts = self.named.len() + self.wide.len() + self.names.len() + self.required.len();
        1 + parts + self.exists.len() + self.evaluated.len() + self.conditions.len()
    }

    fn without_annotations(&self) -> Self {
        let conditions = without_evaluated(&self.conditions);
        Self { evaluated: Vec::new(), conditions, ..self.clone() }
    }

    fn merge(&self, other: &Self) -> Self {
        let mut both = self.clone();
        add_new(&mut both.named, &other.named);
        let is_new = |(names, value): &&(Names, Signed)| {
            !self.wide.iter().any(|(known, of)| of == value && known.is_plainly(names))
        };
        both.wide.extend(other.wide.iter().filter(is_new).cloned());
        both.names.extend(other.names.iter().cloned());
        add_new(&mut both.required, &other.required);
        both.exists.extend(other.exists.iter().cloned());
        both.min = both.min.max(other.min);
        both.max = [both.max, other.max].into_iter().flatten().min();
        both.closed |= other.closed;
        both.closed_by_option |= other.closed_by_option;
        add_conditions(&mut both.conditions, &other.conditions);
        add_evaluated(&mut both.evaluated, &other.evaluated);
        both
    }

    fn beside(
        left: &[Self],
        right: &[Self],
        algebra: &mut Algebra<'_>,
    ) -> Result<Option<Rc<[Self]>>> {
        beside(left, right, algebra)
    }

    fn has_conditions(&self) -> bool {
        !self.conditions.is_empty()
    }

    fn is_empty(&self, algebra: &mut Algebra<'_>) -> Result<bool> {
        algebra.is_empty_object(self)
    }

    fn news(&self, said: &Self, algebra: &mut Algebra<'_>) -> Result<Self> {
        algebra.news(said, self)
    }

    fn reduce(shapes: Vec<Self>) -> Vec<Self> {
        without_special_cases(shapes)
    }
}

impl Properties {
    fn one(shape: Shape) -> Self {
        Self(Rc::new([shape]))
    }
}

impl Domain for Properties {
    const NUMBER: u8 = 4;

    fn all() -> Self {
        Self::one(Shape::default())
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
        keyword: &(Keyword, &'static str),
        positive: bool,
        collect: bool,
    ) -> Result<Option<Self>> {
        match &keyword.0 {
            Keyword::Types(types) => {
                let holds = types.contains(Type::Object) == positive;
                Ok(Some(if holds { Self::all() } else { Self::nothing() }))
            }
            Keyword::Enum(values) => {
                let objects: Vec<SchemaId> = values
                    .iter()
                    .filter(|value| matches!(value, Value::Object(_)))
                    .map(|value| algebra.only(value))
                    .collect();
                if positive {
                    check_count(objects.len(), algebra)?;
                    let mut all = Vec::new();
                    for schema in objects {
                        let part: Self = algebra.evaluate(Signed::yes(schema), false)?;
                        all.extend(part.0.iter().cloned());
                    }
                    return Ok(Some(Self(limited(all, algebra)?)));
                }
                let mut set = Self::all();
                for schema in objects {
                    let part: Self = algebra.evaluate(Signed::no(schema), false)?;
                    set = set.and(part, algebra)?;
                }
                Ok(Some(set))
            }
            Keyword::DependentSchemas(schemas) => {
                let mut set = if positive { Self::all() } else { Self::nothing() };
                for (name, schema) in &**schemas {
                    let holds = Signed { schema: *schema, positive };
                    let holds: Self = algebra.evaluate(holds, positive && collect)?;
                    let there = Self::one(required([name]));
                    if positive {
                        let part = Self::one(algebra.absent(name))
                            .or(there.and(holds, algebra)?, algebra)?;
                        set = set.and(part, algebra)?;
                    } else {
                        let part = there.and(holds, algebra)?;
                        set = set.or(part, algebra)?;
                    }
                }
                Ok(Some(set))
            }
            Keyword::DependentRequired(lists) => {
                let mut set = if positive { Self::all() } else { Self::nothing() };
                for (name, needed) in &**lists {
                    if positive {
                        let both = required(std::iter::once(name).chain(&**needed));
                        let absent = Self::one(algebra.absent(name));
                        set = set.and(absent.or(Self::one(both), algebra)?, algebra)?;
                    } else {
                        for other in &**needed {
                            let part = algebra.absent(other).merge(&required([name]));
                            set = set.or(Self::one(part), algebra)?;
                        }
                    }
                }
                Ok(Some(set))
            }
            keyword_ if positive => {
                let shape = algebra.properties_hold(schema, keyword_, keyword.1, collect)?;
                Ok(shape.map(Self::one))
            }
            keyword_ => match algebra.properties_fail(schema, keyword_, keyword.1)? {
                Some(shapes) => Ok(Some(Self(possible(shapes, algebra)?))),
                None => Ok(None),
            },
        }
    }

    fn unevaluated(
        self,
        algebra: &mut Algebra<'_>,
        schema: &Schema,
        (keyword, name): &(Keyword, &'static str),
        positive: bool,
    ) -> Result<Self> {
        let &Keyword::UnevaluatedProperties(value) = keyword else { return Ok(self) };
        let depends = self.0.len() > 1 || self.0.iter().any(|one| has_evaluating(&one.conditions));
        if !positive && depends {
            algebra.refuse(
                schema,
                name,
                "negated, and which properties it means depends on others",
            );
            return Ok(self);
        }
        let mut shapes = Vec::new();
        for shape in &*self.0 {
            let mut shape = shape.clone();
            if positive {
                // Names that alternatives evaluate are among the rest where none of these holds.
                for (names, alternatives) in algebra.evaluated_if(&shape)? {
                    let named = names.iter().map(|name| (Rc::clone(name), Signed::yes(value)));
                    let rest = Shape { named: named.collect(), ..Shape::default() };
                    let either = std::iter::once(rest).chain(alternatives.iter().cloned());
                    shape.conditions.push(either.collect());
                    shape.evaluated.extend(names.into_iter().map(Names::One));
                }
                shape.conditions = without_evaluated(&shape.conditions);
            }
            let rest = Names::rest(&shape.evaluated);
            if positive {
                shape.wide.push((rest, Signed::yes(value)));
                shape.evaluated = vec![Names::All];
                shape.closed = true;
            } else {
                shape.exists.push(Exists { names: rest, value: Some(Signed::no(value)) });
            }
            shapes.push(shape);
        }
        possible(shapes, algebra).map(Self)
    }

    fn is_unevaluated(keyword: &Keyword) -> bool {
        matches!(keyword, Keyword::UnevaluatedProperties(_))
    }

    fn without_annotations(self) -> Self {
        Self(without_annotations(self.0))
    }

    fn into_condition(self) -> Self {
        if !self.0.iter().any(|shape| shape.closed_by_option) {
            return self;
        }
        let open = |shape: &Shape| Shape { closed_by_option: false, ..shape.clone() };
        Self(self.0.iter().map(open).collect())
    }

    fn overlaps(algebra: &mut Algebra<'_>, sets: &[&Self]) -> Result<Option<Vec<Vec<usize>>>> {
        let mut overlaps = algebra.possibly_common(sets)?;
        for (index, others) in overlaps.iter_mut().enumerate() {
            let mut met = Vec::new();
            for &other in &*others {
                if meet(&sets[index].0, &sets[other].0, algebra)? {
                    met.push(other);
                }
            }
            *others = met;
        }
        Ok(Some(overlaps))
    }

    fn memo(memo: &mut Memo) -> &mut FxHashMap<Key, Self> {
        &mut memo.properties
    }
}

/// Whether some names have been evaluated if an alternative holds.
fn has_evaluating(conditions: &[Condition]) -> bool {
    conditions.iter().flat_map(|condition| condition.iter()).any(Shape::is_annotated)
}

/// Adds sets of names that are not there yet.
fn add_evaluated(to: &mut Vec<Names>, from: &[Names]) {
    let single = |names: &&Names| matches!(names, Names::One(_));
    let names: FxHashSet<&str> = to
        .iter()
        .filter_map(|names| match names {
            Names::One(name) => Some(&**name),
            _ => None,
        })
        .collect();
    let sets: Vec<&Names> = to.iter().filter(|names| !single(names)).collect();
    let is_new = |new: &&Names| match new {
        Names::One(name) => !names.contains(&**name),
        set => !sets.iter().any(|known| known.is_plainly(set)),
    };
    let new: Vec<Names> = from.iter().filter(is_new).cloned().collect();
    to.extend(new);
}

/// Shapes that no other one includes, as far as that is plain to see.
fn without_special_cases(shapes: Vec<Shape>) -> Vec<Shape> {
    /// More are not compared with each other.
    const MAX_COMPARED: usize = 256;
    /// Nor shapes that say more in all.
    const MAX_SIZE: usize = 2_048;
    let size: usize = shapes.iter().map(Shape::size).sum();
    if shapes.len() > MAX_COMPARED || size > MAX_SIZE {
        return shapes;
    }
    let mut kept: Vec<Shape> = Vec::new();
    for shape in shapes {
        if kept.iter().any(|known| known.includes(&shape)) {
            continue;
        }
        kept.retain(|known| !shape.includes(known));
        kept.push(shape);
    }
    kept
}

fn required<'n>(names: impl IntoIterator<Item = &'n Rc<str>>) -> Shape {
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let required = names.into_iter().filter(|name| seen.insert(name)).cloned().collect();
    Shape { required, ..Shape::default() }
}

/// Why the names that a keyword means are not known.
const BESIDE: &str = "a pattern of `patternProperties` beside it can't be enforced";

impl Algebra<'_> {
    /// What of a shape another one does not say already about the values of its properties.
    fn news(&mut self, said: &Shape, shape: &Shape) -> Result<Shape> {
        let mut news = shape.clone();
        news.named.clear();
        for (name, value) in &shape.named {
            let known = said.named.iter().filter(|(known, _)| known == name);
            let mut against: Vec<Signed> = known.map(|&(_, value)| value).collect();
            if against.is_empty() {
                news.named.push((Rc::clone(name), *value));
                continue;
            }
            if against.contains(value) {
                continue;
            }
            against.push(Signed { positive: !value.positive, ..*value });
            let implied = match self.goal(against)? {
                Some(goal) => self.is_empty_goal(&goal)?,
                None => true,
            };
            if !implied {
                news.named.push((Rc::clone(name), *value));
            }
        }
        Ok(news)
    }

    /// Objects without a property.
    fn absent(&mut self, name: &Rc<str>) -> Shape {
        let never = Signed::yes(self.never());
        Shape { named: vec![(Rc::clone(name), never)], ..Shape::default() }
    }

    /// The languages of a list of patterns; `None` if one can't be enforced.
    fn name_patterns(&mut self, schema: &Schema, patterns: &Named) -> Result<Option<Rc<[ExprId]>>> {
        let mut languages = Vec::new();
        for (pattern, _) in &**patterns {
            match self.pattern(schema, "patternProperties", pattern)? {
                Some(language) => languages.push(language),
                None => return Ok(None),
            }
        }
        Ok(Some(languages.into()))
    }

    /// The set of names that a schema allows.
    fn property_names(&mut self, schema: SchemaId, positive: bool) -> Result<Strings> {
        self.evaluate(Signed { schema, positive }, false)
    }

    /// The objects for which a keyword holds.
    fn properties_hold(
        &mut self,
        schema: &Schema,
        keyword: &Keyword,
        name: &'static str,
        collect: bool,
    ) -> Result<Option<Shape>> {
        let mut shape = Shape::default();
        match keyword {
            Keyword::Properties(properties) => {
                shape.closed_by_option =
                    !properties.is_empty() && !self.options.additional_properties;
                for (name, schema) in &**properties {
                    shape.named.push((Rc::clone(name), Signed::yes(*schema)));
                    if collect {
                        shape.evaluated.push(Names::One(Rc::clone(name)));
                    }
                }
            }
            Keyword::PatternProperties(patterns) => {
                for (pattern, value) in &**patterns {
                    if let Some(language) = self.pattern(schema, name, pattern)? {
                        shape.wide.push((Names::Pattern(language), Signed::yes(*value)));
                        if collect {
                            shape.evaluated.push(Names::Pattern(language));
                        }
                    }
                }
            }
            Keyword::AdditionalProperties { schema: value, names, patterns } => {
                shape.closed = true;
                match self.name_patterns(schema, patterns)? {
                    Some(languages) => {
                        let others = Names::Others(Rc::clone(names), languages);
                        if collect {
                            shape.evaluated.push(others.clone());
                        }
                        shape.wide.push((others, Signed::yes(*value)));
                    }
                    None => self.refuse(schema, name, BESIDE),
                }
            }
            &Keyword::PropertyNames(value) => {
                let names = self.property_names(value, true)?;
                if names.is_all() {
                    return Ok(None);
                }
                shape.names.push(names);
            }
            Keyword::Required(names) => shape = required(&**names),
            &Keyword::MinProperties(min) => shape.min = min,
            &Keyword::MaxProperties(max) => shape.max = Some(max),
            _ => return Ok(None),
        }
        Ok(Some(shape))
    }

    /// The objects for which a keyword does not hold.
    fn properties_fail(
        &mut self,
        schema: &Schema,
        keyword: &Keyword,
        name: &'static str,
    ) -> Result<Option<Vec<Shape>>> {
        let exists = |names: Names, value: Option<Signed>| Shape {
            exists: vec![Exists { names, value }],
            ..Shape::default()
        };
        let mut shapes = Vec::new();
        match keyword {
            Keyword::Properties(properties) => {
                for (name, value) in &**properties {
                    let mut shape = required([name]);
                    shape.named.push((Rc::clone(name), Signed::no(*value)));
                    shapes.push(shape);
                }
            }
            Keyword::PatternProperties(patterns) => {
                for (pattern, value) in &**patterns {
                    match self.pattern(schema, name, pattern)? {
                        Some(language) => {
                            shapes.push(exists(Names::Pattern(language), Some(Signed::no(*value))));
                        }
                        None => shapes.push(Shape::default()),
                    }
                }
            }
            Keyword::AdditionalProperties { schema: value, names, patterns } => {
                if let Some(languages) = self.name_patterns(schema, patterns)? {
                    let others = Names::Others(Rc::clone(names), languages);
                    shapes.push(exists(others, Some(Signed::no(*value))));
                } else {
                    self.refuse(schema, name, BESIDE);
                    shapes.push(Shape::default());
                }
            }
            &Keyword::PropertyNames(value) => {
                let names = self.property_names(value, false)?;
                if !names.is_nothing() {
                    shapes.push(exists(Names::In(names), None));
                }
            }
            Keyword::Required(names) => {
                for name in &**names {
                    let absent = self.absent(name);
                    shapes.push(absent);
                }
            }
            &Keyword::MinProperties(min) => {
                if let Some(max) = min.checked_sub(1) {
                    shapes.push(Shape { max: Some(max), ..Shape::default() });
                }
            }
            &Keyword::MaxProperties(max) => {
                shapes.push(Shape { min: max.saturating_add(1), ..Shape::default() });
            }
            _ => return Ok(None),
        }
        // What is plainly impossible is left out: `not: {properties: {a: true}}`.
        Ok(Some(shapes))
    }
}
