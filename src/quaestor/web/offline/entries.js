// From what a taker enters to an answer class: the same rules as quaestor/model/question.py; a test compares the two.
"use strict";

const PLAIN = { "’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "–": "-", "−": "-", "⁄": "/" };
const spaced = (text) => text.split(/[\s\x1c-\x1f\x85]+/u).filter((part) => part).join(" ");

// A text for comparison: compatibility form, lower case, plain quotes and dashes, single spaces.
function loose(text) {
  const plain = [...text.normalize("NFKC")].map((sign) => PLAIN[sign] ?? sign).join("");
  return spaced(plain.toLowerCase().replaceAll("ß", "ss").replaceAll("ς", "σ"));
}

function looseAnswer(text) {
  const plain = loose(text);
  return plain.replace(/[ .!?]+$/, "") || plain;
}

// A number as people write it, exactly: [numerator, denominator], or null.
function readNumber(text) {
  if ([...text].length > 60 || /[\u00b2\u00b3\u00b9\u2070-\u209c]/u.test(text)) return null; // 5² is not 52
  const spread = text.replace(/[\u00bc-\u00be\u2150-\u215e\u2189]/gu, " $& ").normalize("NFKC"); // 1½ is a mixed number
  const minus = { "−": "-", "–": "-", "⁄": "/", "∕": "/", "’": "'", ",": "." };
  let plain = spaced([...spread].map((sign) => minus[sign] ?? sign).join(""));
  plain = plain.replace(/\d{1,3}(?:[ '](?=\d{3}(?!\d))\d{3})+(?![\d/])/g, (found) => found.replace(/[ ']/g, ""));
  const decimal = "(?:\\d+(?:\\.\\d*)?|\\.\\d+)";
  const form = `^([+-]?)\\s*(?:(\\d+)\\s+(\\d+)/(\\d+)|(${decimal})\\s*/\\s*(${decimal})|(${decimal})([eE][+-]?\\d{1,2})?)\\s*(%?)$`;
  const found = new RegExp(form).exec(plain);
  if (!found) return null;
  const [, sign, whole, mixedTop, mixedBottom, top, bottom, number, exponent, percent] = found;
  let value;
  if (number !== undefined) {
    const [n, d] = exactly(number), power = Number((exponent ?? "e0").slice(1)), scale = 10n ** BigInt(Math.abs(power));
    value = power < 0 ? [n, d * scale] : [n * scale, d];
  } else {
    const [over, overParts] = exactly(top ?? mixedTop), [under, underParts] = exactly(bottom ?? mixedBottom);
    if (under === 0n) return null;
    value = [over * underParts, overParts * under];
    if (whole !== undefined) value = [value[0] + BigInt(whole) * value[1], value[1]];
  }
  if (percent) value[1] *= 100n;
  return sign === "-" ? [-value[0], value[1]] : value;
}

function exactly(decimal) { // "12.50" -> [1250n, 100n]
  const [whole, rest = ""] = decimal.split(".");
  return [BigInt(whole + rest || "0"), 10n ** BigInt(rest.length)];
}

function isNear([a, b], [c, d], [e, f]) { // |a/b - c/d| <= e/f
  const apart = a * d - c * b;
  return (apart < 0n ? -apart : apart) * f <= e * b * d;
}

// The class of an entry to a question, as a number; null where it is no answer (empty, not a number).
function classify(question, entry) {
  if (question.parts) {
    const right = question.parts.map((part, place) => isRight(part, entry[place] ?? ""));
    if (right.includes(null) || (question.kind === "ordering" && new Set(entry).size < entry.length)) return null;
    return Math.floor((question.classes - 1) * right.filter((one) => one).length / right.length);
  }
  if (question.kind === "number") {
    const value = readNumber(entry), tolerance = question.tolerance.map(BigInt);
    if (value === null) return null;
    const found = question.accept.find(([text]) => isNear(value, readNumber(text), tolerance));
    return found ? found[1] : 0;
  }
  if (question.kind === "text") {
    if (!entry.trim()) return null;
    const found = question.accept.find(([text]) => looseAnswer(text) === looseAnswer(entry));
    return found ? found[1] : 0;
  }
  if (question.kind === "choice") return entry === "" ? null : question.options[Number(entry)].answer;
  if (!entry.length) return null; // several choices: the numbers of the options that were ticked
  const right = new Set(question.correct), hits = entry.filter((option) => right.has(Number(option))).length;
  return Math.floor((question.classes - 1) * Math.max(0, 2 * hits - entry.length) / right.size);
}

// Whether an entry to a part of a question is right; null where it is no answer.
function isRight(part, entry) {
  if (part.kind === "choice") return entry === "" ? null : part.right.includes(Number(entry));
  const found = classify(part, entry);
  return found === null ? null : found === 1;
}
