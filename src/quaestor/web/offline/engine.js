// What the answers say, which question comes next and when the test ends: the precise engine of Quaestor, written plainly.
// It does what quaestor/selection/step.py does; a test compares the two step by step. A log is a list of [question, class], both
// numbers; class -1 is an answer that says nothing.
"use strict";

const TIED = 1e-9; // numbers this near are equal: what is left is rounding

const UNCERTAINTY = { // of one distribution over the levels of a skill, from 0 to 1
  entropy: (p) => -p.reduce((sum, x) => sum + (x > 0 ? x * Math.log(x) : 0), 0) / Math.log(p.length),
  mode: (p) => p.length * (1 - Math.max(...p)) / (p.length - 1),
  gini: (p) => p.length * (1 - p.reduce((sum, x) => sum + x * x, 0)) / (p.length - 1),
};

// For every joint state of the skills the number of its configuration of some of them (the last one runs fastest).
function configurations(engine, scope) {
  engine.known ??= new Map();
  const key = scope.join();
  if (!engine.known.has(key)) {
    const found = new Int32Array(engine.prior.length);
    for (let state = 0; state < found.length; state++) {
      const levels = [];
      for (let skill = engine.sizes.length - 1, rest = state; skill >= 0; skill--) {
        levels[skill] = rest % engine.sizes[skill];
        rest = Math.floor(rest / engine.sizes[skill]);
      }
      found[state] = scope.reduce((number, skill) => number * engine.sizes[skill] + levels[skill], 0);
    }
    engine.known.set(key, found);
  }
  return engine.known.get(key);
}

// P(joint state | answers); null where the answers exclude one another.
function posterior(engine, log) {
  let p = Float64Array.from(engine.prior);
  for (const [question, answer] of log) {
    if (answer < 0 || engine.questions[question].pilot) continue;
    const row = engine.questions[question].table[answer], at = configurations(engine, engine.questions[question].scope);
    p = p.map((x, state) => x * row[at[state]]);
    const total = p.reduce((sum, x) => sum + x, 0);
    if (!(total > 0)) return null;
    p = p.map((x) => x / total);
  }
  return p;
}

function marginal(engine, p, skill) {
  const found = new Array(engine.sizes[skill]).fill(0), at = configurations(engine, [skill]);
  p.forEach((x, state) => { found[at[state]] += x; });
  return found;
}

// How much a question is expected to tell, by one of the scores.
function gain(engine, p, marginals, number, score) {
  const question = engine.questions[number], rows = configurations(engine, question.scope);
  if (score === "order") return -number;
  if (score === "right") {
    const best = question.table[question.table.length - 1];
    return 1 - 2 * Math.abs(p.reduce((sum, x, state) => sum + x * best[rows[state]], 0) - 0.5);
  }
  const index = UNCERTAINTY[score], targets = engine.target === "all" ? engine.sizes.map((_, skill) => skill) : question.scope;
  let total = 0;
  for (const skill of targets) {
    const at = configurations(engine, [skill]);
    let left = 0;
    for (const row of question.table) {
      const both = new Array(engine.sizes[skill]).fill(0); // P(level, answer)
      p.forEach((x, state) => { both[at[state]] += x * row[rows[state]]; });
      const chance = both.reduce((sum, x) => sum + x, 0);
      if (chance > 0) left += chance * index(both.map((x) => x / chance));
    }
    total += index(marginals[skill]) - left;
  }
  return total / targets.length;
}

// The best of some questions: ties of the first score are decided by the second one, what is still tied by the order of the bank.
function bestOf(candidates, gainBy, engine) {
  let left = candidates;
  for (const score of [engine.score, engine.second]) {
    if (left.length < 2 || !score) break;
    const gains = left.map((number) => gainBy(number, score)), top = Math.max(...gains);
    left = left.filter((_, place) => gains[place] >= top - TIED);
  }
  return left[0];
}

const CRITERIA = { // each by the name it has in rules; `now` is where the test stands
  max_questions: (now, n, skills) => askedEnough(now, n, skills),
  min_questions: (now, n, skills) => askedEnough(now, n, skills),
  entropy_below: (now, limit, over) => uncertainty(now, "entropy", over) < limit - TIED,
  mode_below: (now, limit, over) => uncertainty(now, "mode", over) < limit - TIED,
  gini_below: (now, limit, over) => uncertainty(now, "gini", over) < limit - TIED,
  probability_above: (now, limit) => now.marginals.every((p) => Math.max(...p) >= limit - TIED),
  dominant: (now) => now.marginals.every((p) => p.filter((x) => x >= Math.max(...p) - TIED).length === 1),
  gain_below: (now, limit) => now.bestGain() < limit - TIED,
  right_answers: (now, n) => now.right >= n,
};

function askedEnough(now, n, skills) {
  return skills === null ? now.asked >= n : skills.every((skill) => now.askedOn(skill) >= n);
}

function uncertainty(now, index, over) {
  const each = now.marginals.map(UNCERTAINTY[index]);
  return over === "largest" ? Math.max(...each) : each.reduce((sum, x) => sum + x, 0) / each.length;
}

// The name of the criterion that says stop, or "".
function ruling(criterion, now) {
  const [name, ...told] = criterion;
  if (name === "any_of") return told[0].map((part) => ruling(part, now)).find((found) => found) ?? "";
  if (name === "all_of") {
    const found = told[0].map((part) => ruling(part, now));
    return found.every((one) => one) ? [...new Set(found.flatMap((one) => one.split(" and ")))].join(" and ") : "";
  }
  return CRITERIA[name](now, ...told) ? name : "";
}

// One step: {question, rule, marginals}; `question` is null where the test is over, `rule` says why; null if the answers exclude one another.
function engineStep(engine, log) {
  const p = posterior(engine, log);
  if (p === null) return null;
  const marginals = engine.sizes.map((_, skill) => marginal(engine, p, skill)), gains = new Map();
  const counted = log.filter(([number]) => !engine.questions[number].pilot), isAsked = new Set(log.map(([number]) => number));
  const asked = (members) => counted.filter(([number]) => members.has(number)).length;
  const open = engine.questions.map((_, number) => number).filter((number) => !isAsked.has(number) && !engine.questions[number].closed);
  const content = engine.content.map((one) => ({ ...one, members: new Set(one.members) }));
  const allowed = open.filter((number) => !content.some((one) => one.most !== null && one.members.has(number) && asked(one.members) >= one.most));
  const missing = content.map((one) => {
    const short = Math.max(0, (one.least ?? 0) - asked(one.members));
    return { members: one.members, short: Math.min(short, open.filter((number) => one.members.has(number)).length) };
  }).filter((one) => one.short > 0);
  const wanted = (number) => missing.some((one) => one.members.has(number));
  const gainBy = (number, score) => {
    const key = `${number} ${score}`;
    if (!gains.has(key)) gains.set(key, gain(engine, p, marginals, number, score));
    return gains.get(key);
  };
  const first = engine.first.find((number) => !isAsked.has(number));
  const left = (waiting) => {
    const total = missing.reduce((sum, one) => sum + one.short, 0), some = allowed.filter(wanted);
    const room = waiting || engine.most === null ? Infinity : engine.most - counted.length;
    return total > 0 && (waiting || room <= total) && some.length ? some : allowed;
  };
  const now = {
    marginals, asked: counted.length,
    askedOn: (skill) => counted.filter(([number]) => engine.questions[number].scope.includes(skill)).length,
    right: counted.filter(([number, answer]) => answer === engine.questions[number].table.length - 1).length,
    bestGain: () => left(false).reduce((best, number) => Math.max(best, gainBy(number, engine.score)), -Infinity),
  };
  let rule = engine.stop === null ? "" : ruling(engine.stop, now);
  const isOver = engine.limits.some((limit) => counted.length >= limit);
  const waiting = rule !== "" && !isOver && (first !== undefined || allowed.some(wanted));
  const candidates = left(waiting);
  if (waiting) rule = "";
  if (rule === "" && first === undefined && !candidates.length) rule = "no question left";
  const question = rule !== "" ? null : first ?? bestOf(candidates, gainBy, engine);
  return { question, rule, marginals };
}
