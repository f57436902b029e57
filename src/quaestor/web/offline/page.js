// The pages of a test without a server: name, questions, result. All words come from the file (`test.words`), in its language.
"use strict";

const test = JSON.parse(document.getElementById("test").textContent);
const main = document.querySelector("main");
const KEPT = `quaestor ${test.id}`; // where a reload of the page finds the answers again, until the window is closed
let name = "", log = [], entries = [], began = null, ended = null;

function words(text, values = {}) {
  return test.words[text].replace(/\{(\w+)\}/g, (_, key) => values[key]);
}

// An element: tag, attributes (or listeners), children (texts or elements).
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "html") made.innerHTML = value; // made and cleaned when the file was written
    else if (value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

function show(title, ...children) {
  main.replaceChildren(...children.filter((child) => child !== null));
  document.title = title;
  window.scrollTo(0, 0);
  (main.querySelector("[autofocus]") ?? main.querySelector("h1"))?.focus();
}

function keep() {
  try { sessionStorage.setItem(KEPT, JSON.stringify({ name, log, entries, began, ended })); } catch { /* a window without storage only forgets when reloaded */ }
}

function forget() {
  try { sessionStorage.removeItem(KEPT); } catch { /* as above */ }
}

function showStart(wrong = "") {
  const field = element("input", { id: "name", maxlength: 60, autocomplete: "off", value: name, autofocus: true });
  const start = (event) => {
    event.preventDefault();
    name = field.value.trim().replace(/\s+/g, " ");
    if (!name) return showStart(words("please enter your name"));
    began = new Date().toISOString();
    keep();
    return showStand();
  };
  show(test.title, element("h1", { tabindex: -1 }, test.title),
    test.description ? element("div", { class: "text", lang: test.tongue, html: test.description }) : null,
    element("form", { class: "sheet", onsubmit: start },
      element("label", { for: "name" }, words("Your name")), field,
      wrong ? element("p", { class: "wrong", role: "alert" }, wrong) : null,
      element("div", { class: "acts" }, element("button", { class: "main" }, words("Start")))),
    element("p", { class: "hint" }, words("no secret")));
}

function showStand() {
  const now = stand(test, log);
  if (now.question === null) showResult(now); else showQuestion(now.question);
}

// The numbers of some options in an order that is drawn for this attempt.
function drawn(id, count) {
  const numbers = Array.from({ length: count }, (_, number) => number), draws = numbers.map((number) => sha256(`${began} ${id} ${number}`));
  return numbers.sort((one, other) => (draws[one] < draws[other] ? -1 : 1));
}

// A field for a part of a question: a list to choose from, or a text.
function partField(question, part, place) {
  const label = question.kind === "matching" ? null : words(question.kind === "gaps" ? "Gap {number}" : "Place {number}", { number: place + 1 });
  const told = { id: `part-${place}`, name: "entry", ...(label ? { "aria-label": label } : {}) };
  if (part.kind !== "choice") return element("input", { ...told, class: "gap", autocomplete: "off", autocapitalize: "none", spellcheck: "false", maxlength: 200 });
  const text = (html) => element("span", { html }).textContent; // a list holds plain text
  return element("select", told, element("option", { value: "" }, "…"), ...drawn(question.id, part.options.length).map((number) =>
    element("option", { value: number }, text(part.options[number]))));
}

function parts(question) {
  if (question.kind === "gaps") return [];
  return [element("div", { class: "parts", lang: test.tongue }, ...question.parts.map((part, place) => element("div", { class: "part" },
    question.kind === "matching" ? element("label", { for: `part-${place}`, html: part.label }) : element("span", { "aria-hidden": "true" }, `${place + 1}.`),
    partField(question, part, place))))];
}

// The text of a question with its gaps as fields.
function withGaps(question, text) {
  const found = document.createTreeWalker(text, NodeFilter.SHOW_TEXT), nodes = [];
  while (found.nextNode()) nodes.push(found.currentNode);
  for (const node of nodes) {
    const pieces = node.data.split(/\[\[([^\[\]]+)\]\]/);
    if (pieces.length > 1) node.replaceWith(...pieces.map((piece, number) => {
      const place = number % 2 ? question.parts.findIndex((part) => part.name === piece) : -1;
      return place < 0 ? document.createTextNode(piece) : partField(question, question.parts[place], place);
    }));
  }
  return text;
}

function options(question) {
  const type = question.kind === "choices" ? "checkbox" : "radio";
  return element("div", { class: "options", lang: test.tongue }, ...(question.shuffled ? drawn(question.id, question.options.length) : question.options.keys()).map((number) => element("label", { class: "option" },
    element("input", { type, name: "entry", value: number }), element("span", { html: question.options[number].html }))));
}

function field(question) {
  const hint = words(question.kind === "number" ? "A number, such as 12, 0.75, 3/4 or 1 1/2" : "Your answer");
  return element("div", {}, element("label", { for: "entry", class: "hint" }, hint),
    element("input", { id: "entry", name: "entry", class: question.kind === "number" ? "number" : "", autocomplete: "off", autocapitalize: "none",
      spellcheck: "false", maxlength: question.kind === "number" ? 60 : 500, autofocus: true, "aria-describedby": "text" }));
}

function entered(form, question) {
  if (question.parts) return question.parts.map((_, place) => form.querySelector(`#part-${place}`).value);
  const found = new FormData(form).getAll("entry").map(String);
  return question.kind === "choices" ? found : found[0] ?? "";
}

function showQuestion(number) {
  const question = test.questions[number], isChoice = question.kind === "choice" || question.kind === "choices";
  const progress = words(test.most === null ? "Question {number}" : "Question {number} of at most {most}", { number: log.length + 1, most: test.most });
  const text = [element("h1", { class: "unseen", tabindex: -1 }, progress), element("div", { class: "text", id: "text", lang: test.tongue, html: question.html })];
  const sound = () => element("div", {}, element("audio", { controls: true, src: question.media }), element("p", { class: "hint", lang: test.tongue }, question.alt));
  const picture = !question.media ? null : question.sound ? sound() : element("img", { class: "media", src: question.media, alt: question.alt });
  const wrong = element("p", { class: "wrong", role: "alert", hidden: true });
  const submit = (event) => {
    event.preventDefault();
    const entry = entered(event.target, question), answer = classify(question, entry);
    if (answer === null && question.parts) return refuse(words("please fill in all"));
    if (answer === null) return refuse(question.kind === "number" && entry.trim() ? words("a number is expected") : words("please answer"));
    return answered(number, answer, false, entry, refuse);
  };
  const refuse = (why) => { wrong.textContent = why; wrong.hidden = false; };
  const skip = test.maySkip
    ? element("button", { class: "plain", type: "button", onclick: () => answered(number, question.skip, true, null, refuse) }, words("I do not know: skip"))
    : null;
  if (question.kind === "gaps") withGaps(question, text[1]);
  const body = question.parts
    ? [element("fieldset", {}, element("legend", { class: "unseen" }, progress), ...text, ...(picture ? [picture] : []), wrong, ...parts(question))]
    : isChoice
    ? [element("fieldset", {}, element("legend", {}, ...text), ...(picture ? [picture] : []), wrong,
      ...(question.kind === "choices" ? [element("p", { class: "hint" }, words("Tick all that are right."))] : []), options(question))]
    : [...text, ...(picture ? [picture] : []), wrong, field(question)];
  show(`${progress} – ${test.title}`, element("form", { class: "question", onsubmit: submit }, ...body,
    element("div", { class: "acts" }, element("button", { class: "main" }, words("Answer")), skip),
    test.maySkip ? element("p", { class: "hint" }, words("skips")) : null), element("p", { class: "progress", "aria-hidden": "true" }, progress));
}

function answered(number, answer, isSkip, entry, refuse) {
  const after = [...log, [number, answer, isSkip]];
  if (stand(test, after) === null) return refuse(words("contradiction"));
  log = after;
  entries = [...entries, entry];
  keep();
  return showStand();
}

// What is told of one skill: the sentences were written when the file was made, one for each way in which it can end.
function told(skill, finding) {
  const count = log.filter(([number, answer]) => answer >= 0 && skill.questions.includes(number)).length;
  if (count < skill.least) return { sentence: words("few"), certainty: skill.more[count], place: null };
  const { possible, level } = decided(finding);
  if (possible.length > 1) {
    return { sentence: words("undecided"), certainty: skill.between[possible.join()] ?? words("More questions would help."), place: possible[0], may: possible.at(-1) };
  }
  const isSure = finding.lower[level] >= test.sure - TIED, how = finding.lower[level] < 0.5 ? "most" : isSure ? "sure" : "probably";
  return { sentence: skill.levels[level][how], certainty: words(isSure ? "certain" : "uncertain"), place: level, may: level };
}

function share({ lower, upper }, level) {
  const one = (p) => (p > 0 && p < 0.005 ? words("under 1") : p > 0.995 && p < 1 ? words("over 99") : String(Math.floor(100 * p + 0.5)));
  const [low, high] = [one(lower[level]), one(upper[level])];
  return words("{share} %", { share: low === high ? low : words("{first} to {last}", { first: low, last: high }) });
}

function bar({ place, may }, steps, sentence) {
  const gap = steps > 1 ? 6 : 0, width = (320 - gap * (steps - 1)) / steps, space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  for (const [key, value] of Object.entries({ class: "steps", viewBox: "0 0 320 16", role: "img", "aria-label": sentence })) svg.setAttribute(key, value);
  for (let number = 0; number < steps; number++) {
    const kind = place === null ? "unknown" : number < place ? "is" : number < may ? "may" : "empty", rect = document.createElementNS(space, "rect");
    for (const [key, value] of Object.entries({ class: kind, x: number * (width + gap) + 1, y: 1, width: width - 2, height: 14, rx: 4 })) rect.setAttribute(key, value);
    svg.append(rect);
  }
  return svg;
}

function section(skill, finding) {
  const found = told(skill, finding), rows = skill.levels.map((level, number) => element("tr", { class: number === found.place ? "found" : "" },
    element("th", { scope: "row", lang: test.tongue }, level.name), element("td", { class: "share" }, share(finding, number))));
  return element("section", { class: "finding" }, element("h3", { lang: test.tongue }, skill.title),
    element("p", { class: "level" }, element("strong", {}, found.sentence)), bar(found, skill.levels.length - 1, found.sentence),
    element("p", { class: "hint" }, found.certainty),
    found.place === null ? null : element("details", { class: "more noprint" }, element("summary", {}, words("The numbers")),
      element("p", { class: "hint" }, words("How probable each level is after these answers:")), element("table", { class: "bands" }, ...rows)));
}

function picture(code) {
  const cells = clearestCode(code);
  if (cells === null) return null; // a result of hundreds of answers: the file has it all
  const size = cells.length + 8, dark = cells.flatMap((row, r) => row.flatMap((cell, c) => (cell ? [`M${c + 4} ${r + 4}h1v1h-1z`] : []))).join("");
  return element("div", { class: "qr", html: `<svg viewBox="0 0 ${size} ${size}" role="img" shape-rendering="crispEdges"><title></title><rect width="${size}" height="${size}" fill="#fff"/><path d="${dark}" fill="#000"/></svg>` });
}

function save(code) {
  const result = { quaestor: "result", code, began, ended, entries };
  const link = element("a", { href: URL.createObjectURL(new Blob([JSON.stringify(result, null, 1)], { type: "application/json" })),
    download: `${name.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 40) || "result"}-${test.id}.json` });
  link.click();
  URL.revokeObjectURL(link.href);
}

function showResult(now) {
  const counted = log.filter(([number, answer]) => answer >= 0 && !test.questions[number].pilot);
  const right = counted.filter(([number, answer]) => answer === test.questions[number].classes - 1).length;
  if (ended === null) { ended = new Date().toISOString(); keep(); }
  const code = resultCode(test, log, name, ended), image = picture(code);
  if (image) image.querySelector("title").textContent = words("The result as a code to photograph");
  const again = () => { if (window.confirm(words("leave"))) { forget(); [name, log, entries, began, ended] = ["", [], [], null, null]; showStart(); } };
  show(`${words("Result")} – ${test.title}`, element("h1", { tabindex: -1 }, words("Result of {name}", { name })),
    element("p", {}, counted.length ? words(`${Math.min(right, 2)} of ${Math.min(counted.length, 2)}`, { right, count: counted.length }) : words("none counted")),
    element("h2", {}, words("What we found")), ...test.skills.map((skill, number) => section(skill, now.findings[number])),
    element("h2", {}, words("Hand it in")), element("p", {}, words("how to hand in")),
    element("div", { class: "acts" }, element("button", { class: "main", onclick: () => save(code) }, words("Save the result")),
      element("button", { class: "plain", onclick: again }, words("I am done on this device"))),
    ...(image ? [image] : []),
    element("details", { class: "more" }, element("summary", {}, words("The result as text")), element("p", { class: "code wrap", id: "code" }, code)));
}

try {
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
  if (kept) ({ name, log, entries, began, ended } = kept);
} catch { /* nothing was kept, or this window has no storage */ }
if (name && began) showStand(); else showStart();
