//! A JSON document that can be modified beyond what a JSON library would write, for example with repeated and reordered
//! fields.

use serde_json::Value;

/// A document, with its fields in the order in which they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// Fields.
    Object(Vec<(String, Node)>),
    /// Items.
    Array(Vec<Node>),
    /// Anything else.
    Leaf(Value),
}

/// A modification of one field of an object, or one item of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Removes it.
    Remove,
    /// Duplicates it.
    Double,
    /// Swaps it with the next one.
    Reorder,
    /// Renames it.
    Rename,
    /// Replaces it by a value of another type, or an empty one.
    Retype(Value),
    /// Turns a number into a text, or a text of digits into a number.
    Restate,
}

impl Edit {
    /// Every kind of modification.
    pub fn all() -> Vec<Self> {
        let other = [Value::Null, true.into(), 7.into(), "x".into(), Value::Array(vec![])];
        let other = other.into_iter().chain([Value::Object(serde_json::Map::new())]);
        let whole = [Self::Remove, Self::Double, Self::Reorder, Self::Rename, Self::Restate];
        whole.into_iter().chain(other.map(Self::Retype)).collect()
    }
}

impl Node {
    /// The document's tree, with fields in the order of their names.
    pub fn of(value: Value) -> Self {
        match value {
            Value::Object(fields) => Self::Object(
                fields.into_iter().map(|(name, value)| (name, Self::of(value))).collect(),
            ),
            Value::Array(items) => Self::Array(items.into_iter().map(Self::of).collect()),
            leaf => Self::Leaf(leaf),
        }
    }

    /// Writes the document without white space.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Object(fields) => {
                out.push(b'{');
                for (index, (name, node)) in fields.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    out.extend_from_slice(Value::from(name.as_str()).to_string().as_bytes());
                    out.push(b':');
                    node.write(out);
                }
                out.push(b'}');
            }
            Self::Array(items) => {
                out.push(b'[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    item.write(out);
                }
                out.push(b']');
            }
            Self::Leaf(value) => out.extend_from_slice(value.to_string().as_bytes()),
        }
    }

    /// The path to every field and item: the index in the parent at each step.
    pub fn places(&self) -> Vec<Vec<usize>> {
        let mut places = Vec::new();
        self.add_places(&mut Vec::new(), &mut places);
        places
    }

    fn add_places(&self, here: &mut Vec<usize>, places: &mut Vec<Vec<usize>>) {
        let mut add = |index, node: &Self| {
            here.push(index);
            places.push(here.clone());
            node.add_places(here, places);
            here.pop();
        };
        match self {
            Self::Object(fields) => {
                fields.iter().enumerate().for_each(|(index, (_, node))| add(index, node));
            }
            Self::Array(items) => {
                items.iter().enumerate().for_each(|(index, node)| add(index, node));
            }
            Self::Leaf(_) => {}
        }
    }

    /// Modifies what is at a place; returns whether the document changed.
    pub fn edit(&mut self, place: &[usize], edit: &Edit) -> bool {
        let Some((&index, way)) = place.split_last() else { return false };
        let mut parent = self;
        for &step in way {
            parent = match parent {
                Self::Object(fields) => &mut fields[step].1,
                Self::Array(items) => &mut items[step],
                Self::Leaf(_) => return false,
            };
        }
        match parent {
            Self::Object(fields) => match edit {
                Edit::Rename => {
                    fields[index].0.push('_');
                    true
                }
                _ => edit_list(fields, index, edit, |field| &mut field.1),
            },
            Self::Array(items) => edit_list(items, index, edit, |item| item),
            Self::Leaf(_) => false,
        }
    }
}

fn edit_list<T: Clone + PartialEq>(
    list: &mut Vec<T>,
    index: usize,
    edit: &Edit,
    node: impl Fn(&mut T) -> &mut Node,
) -> bool {
    let before = list[index].clone();
    match edit {
        Edit::Remove => {
            list.remove(index);
            return true;
        }
        Edit::Double => {
            list.insert(index, before);
            return true;
        }
        Edit::Reorder if index + 1 < list.len() => {
            list.swap(index, index + 1);
            return list[index] != before;
        }
        Edit::Reorder | Edit::Rename => return false,
        Edit::Retype(value) => *node(&mut list[index]) = Node::of(value.clone()),
        Edit::Restate => {
            let node = node(&mut list[index]);
            let restated = match node {
                Node::Leaf(Value::String(text)) => text.parse::<u64>().ok().map(Value::from),
                Node::Leaf(Value::Number(number)) => Some(number.to_string().into()),
                _ => None,
            };
            let Some(restated) = restated else { return false };
            *node = Node::Leaf(restated);
        }
    }
    list[index] != before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_edit_is_made_where_it_makes_a_difference() {
        let text = r#"{"a":["1",2],"b":{}}"#;
        let tree = Node::of(serde_json::from_str(text).unwrap());
        let written = |tree: &Node| {
            let mut out = Vec::new();
            tree.write(&mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(&tree), text);
        let mut all = Vec::new();
        for place in tree.places() {
            for edit in Edit::all() {
                let mut changed = tree.clone();
                if changed.edit(&place, &edit) {
                    all.push(written(&changed));
                }
            }
        }
        for expected in [
            r#"{"b":{}}"#,
            r#"{"a":["1",2],"a":["1",2],"b":{}}"#,
            r#"{"b":{},"a":["1",2]}"#,
            r#"{"a_":["1",2],"b":{}}"#,
            r#"{"a":[1,2],"b":{}}"#,
            r#"{"a":["1","2"],"b":{}}"#,
            r#"{"a":["1",null],"b":{}}"#,
            r#"{"a":[2,"1"],"b":{}}"#,
        ] {
            assert!(all.iter().any(|text| text == expected), "{expected}");
        }
        assert!(!all.contains(&text.to_owned()));
    }
}
