//! Strongly connected components of a graph (Tarjan 1972), with an explicit stack.

/// Of a node whose component has been found.
const FOUND: u32 = u32::MAX;

/// Visits the graph of nodes `0..count`.
#[derive(Clone, Debug)]
pub(super) struct Components {
    /// 1 + the order of first visit; 0 for not visited, [`FOUND`] for no longer on the stack.
    index: Vec<u32>,
    stack: Vec<usize>,
    next: u32,
}

/// A node on the path that is being visited.
struct Call {
    node: usize,
    /// Which successor comes next.
    part: usize,
    /// The first node on the stack that it is known to lead to, by its index.
    low: u32,
}

impl Components {
    pub(super) fn new(count: usize) -> Self {
        Self { index: vec![0; count], stack: Vec::new(), next: 1 }
    }

    /// Takes over what another one has visited, whose nodes are the first of these.
    pub(super) fn skip(&mut self, other: &Self) {
        self.index[..other.index.len()].copy_from_slice(&other.index);
    }

    /// Calls `found` with each component that `root` reaches and that was not found before, those
    /// it leads to first. `part(node, i)` is the i-th successor of a node.
    pub(super) fn visit<E>(
        &mut self,
        root: usize,
        part: impl Fn(usize, usize) -> Option<usize>,
        mut found: impl FnMut(&[usize]) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.index[root] != 0 {
            return Ok(());
        }
        let mut calls = vec![self.enter(root)];
        while let Some(call) = calls.last_mut() {
            if let Some(part) = part(call.node, call.part) {
                call.part += 1;
                match self.index[part] {
                    0 => calls.push(self.enter(part)),
                    FOUND => {}
                    index => call.low = call.low.min(index),
                }
                continue;
            }
            let Call { node: at, low, .. } = *call;
            calls.pop();
            if let Some(caller) = calls.last_mut() {
                caller.low = caller.low.min(low);
            }
            if low == self.index[at] {
                let first = self.stack.iter().rposition(|&node| node == at).unwrap_or(0);
                for &member in &self.stack[first..] {
                    self.index[member] = FOUND;
                }
                found(&self.stack[first..])?;
                self.stack.truncate(first);
            }
        }
        Ok(())
    }

    fn enter(&mut self, node: usize) -> Call {
        let low = self.next;
        self.index[node] = low;
        self.next += 1;
        self.stack.push(node);
        Call { node, part: 0, low }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_come_after_those_they_lead_to() {
        let edges: [&[usize]; 5] = [&[1, 3], &[2], &[1], &[4], &[]];
        let mut found = Vec::new();
        let mut components = Components::new(5);
        let visited: Result<(), ()> = components.visit(
            0,
            |node, i| edges[node].get(i).copied(),
            |component| {
                let mut component = component.to_vec();
                component.sort_unstable();
                found.push(component);
                Ok(())
            },
        );
        assert_eq!(visited, Ok(()));
        assert_eq!(found, [vec![1, 2], vec![4], vec![3], vec![0]]);
    }
}
