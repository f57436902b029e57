// Where a test stands after a log of [question, class]: by the engine, or by following the decision graph that was worked out beforehand.
"use strict";

// {question, rule, findings}; `findings` are the lower and upper probabilities of the levels of each skill (a graph has them only at its
// ends); null where the answers exclude one another.
function stand(test, log) {
  if (test.engine) {
    const found = engineStep(test.engine, log);
    return found && { question: found.question, rule: found.rule, findings: found.marginals.map((p) => ({ lower: p, upper: p })) };
  }
  let node = test.graph[0];
  for (const [, answer] of log) {
    const next = answer === -1 ? node.skip : node.then[answer];
    if (next === null || next === undefined) return null;
    node = test.graph[next];
  }
  return "ask" in node ? { question: node.ask, rule: "", findings: null } : { question: null, rule: node.rule, findings: node.findings };
}

// The levels that nothing rules out, and the most probable one by the centre of the bounds, as numbers.
function decided({ lower, upper }) {
  const most = Math.max(...lower), possible = upper.flatMap((x, level) => (x >= most - TIED ? [level] : []));
  const low = lower.reduce((sum, x) => sum + x, 0), high = upper.reduce((sum, x) => sum + x, 0);
  const share = high - low > 1e-15 ? (1 - low) / (high - low) : 0; // the centre: lower + share (upper - lower), which sums to 1
  const centre = lower.map((x, level) => x + share * (upper[level] - x)), top = Math.max(...centre);
  return { possible, level: centre.findIndex((x) => x >= top - TIED) };
}
