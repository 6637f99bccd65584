//! Arrays and objects of `enum` and `const` as schemas.

use std::rc::Rc;

use super::Algebra;
use crate::frontend::json_schema::model::{Keyword, Named, Type, Types, Value};
use crate::index::SchemaId;

impl Algebra<'_> {
    /// The schema of exactly one value.
    pub(in crate::frontend::json_schema) fn only(&mut self, value: &Value) -> SchemaId {
        if let Some(&known) = self.by_value.get(value) {
            return known;
        }
        let of_type = |of: Type| Types { types: 1 << of as u8, integer: false };
        let keywords = match value {
            Value::Array(items) => {
                let never = self.never();
                let items: Rc<[SchemaId]> = items.iter().map(|item| self.only(item)).collect();
                let (from, min) = (items.len(), items.len() as u64);
                vec![
                    (Keyword::Types(of_type(Type::Array)), "type"),
                    (Keyword::PrefixItems(items), "prefixItems"),
                    (Keyword::Items { from, schema: never }, "items"),
                    (Keyword::MinItems(min), "minItems"),
                ]
            }
            Value::Object(members) => {
                let never = self.never();
                let names: Named = members
                    .iter()
                    .map(|(name, value)| (Rc::clone(name), self.only(value)))
                    .collect();
                let required = members.iter().map(|(name, _)| Rc::clone(name)).collect();
                vec![
                    (Keyword::Types(of_type(Type::Object)), "type"),
                    (Keyword::Properties(Rc::clone(&names)), "properties"),
                    (
                        Keyword::AdditionalProperties {
                            schema: never,
                            names,
                            patterns: Rc::new([]),
                        },
                        "additionalProperties",
                    ),
                    (Keyword::Required(required), "required"),
                ]
            }
            scalar => vec![(Keyword::Enum(Rc::new([scalar.clone()])), "const")],
        };
        let made = self.make(keywords);
        self.by_value.insert(value.clone(), made);
        made
    }
}
