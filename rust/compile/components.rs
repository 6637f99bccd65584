//! Strongly connected components of a graph (Tarjan 1972), with an explicit stack.

/// Visits the graph of nodes `0..count`.
#[derive(Clone, Debug)]
pub(super) struct Components {
    /// 1 + the order of first visit; 0 for not visited.
    index: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    next: u32,
}

impl Components {
    pub(super) fn new(count: usize) -> Self {
        Self {
            index: vec![0; count],
            low: vec![0; count],
            on_stack: vec![false; count],
            stack: Vec::new(),
            next: 1,
        }
    }

    /// Takes over what another one has visited, whose nodes are the first of these.
    pub(super) fn skip(&mut self, other: &Self) {
        self.index[..other.index.len()].copy_from_slice(&other.index);
        self.next = other.next;
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
        let mut calls = vec![(root, 0)];
        self.enter(root);
        while let Some((at, next)) = calls.last_mut() {
            let at = *at;
            if let Some(part) = part(at, *next) {
                *next += 1;
                if self.index[part] == 0 {
                    self.enter(part);
                    calls.push((part, 0));
                } else if self.on_stack[part] {
                    self.low[at] = self.low[at].min(self.index[part]);
                }
                continue;
            }
            calls.pop();
            if let Some(&(caller, _)) = calls.last() {
                self.low[caller] = self.low[caller].min(self.low[at]);
            }
            if self.low[at] == self.index[at] {
                let first = self.stack.iter().rposition(|&node| node == at).unwrap_or(0);
                for &member in &self.stack[first..] {
                    self.on_stack[member] = false;
                }
                found(&self.stack[first..])?;
                self.stack.truncate(first);
            }
        }
        Ok(())
    }

    fn enter(&mut self, node: usize) {
        self.index[node] = self.next;
        self.low[node] = self.next;
        self.next += 1;
        self.on_stack[node] = true;
        self.stack.push(node);
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
