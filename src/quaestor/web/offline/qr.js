// A text as a QR code (ISO/IEC 18004: bytes, error correction M, the smallest version that holds it). A test compares it with another encoder.
"use strict";

const QR = { // for error correction M, by version from 1 on: check words a block, blocks
  checks: [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28],
  blocks: [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33, 35, 37, 38, 40, 43, 45, 47, 49],
};

function qrWords(version) { // how many words of 8 bits a version holds, check words included
  const marks = version > 1 ? Math.floor(version / 7) + 2 : 0;
  const patterns = version > 1 ? (25 * marks - 10) * marks - 55 : 0;
  return ((16 * version + 128) * version + 64 - patterns - (version >= 7 ? 36 : 0)) >> 3;
}

const qrRoom = (version) => qrWords(version) - QR.checks[version - 1] * QR.blocks[version - 1];

function timesInField(x, y) { // a product in the field of 256 elements, modulo 0x11d
  let found = 0;
  for (let bit = 7; bit >= 0; bit--) found = ((found << 1) ^ ((found >>> 7) * 0x11d)) ^ (((y >>> bit) & 1) * x);
  return found;
}

function checkWords(data, count) { // Reed-Solomon: the rest of the division by (x - 1)(x - 2)(x - 4)...
  const divisor = new Array(count - 1).fill(0).concat(1);
  for (let i = 0, root = 1; i < count; i++, root = timesInField(root, 2)) {
    for (let j = 0; j < count; j++) divisor[j] = timesInField(divisor[j], root) ^ (j + 1 < count ? divisor[j + 1] : 0);
  }
  const rest = new Array(count).fill(0);
  for (const word of data) {
    const factor = word ^ rest.shift();
    rest.push(0);
    divisor.forEach((one, i) => { rest[i] ^= timesInField(one, factor); });
  }
  return rest;
}

function qrData(bytes, version) { // the words in the order in which they are drawn
  const bits = [], room = qrRoom(version), count = QR.blocks[version - 1], checks = QR.checks[version - 1];
  const put = (value, length) => { for (let i = length - 1; i >= 0; i--) bits.push((value >>> i) & 1); };
  put(4, 4);
  put(bytes.length, version < 10 ? 8 : 16);
  bytes.forEach((byte) => put(byte, 8));
  put(0, Math.min(4, room * 8 - bits.length));
  put(0, -bits.length & 7);
  for (let pad = 0xec; bits.length < room * 8; pad ^= 0xec ^ 0x11) put(pad, 8);
  const words = [];
  for (let i = 0; i < bits.length; i += 8) words.push(bits.slice(i, i + 8).reduce((sum, bit) => (sum << 1) | bit, 0));
  const long = qrWords(version) % count, size = Math.floor(qrWords(version) / count) - checks, blocks = [], ends = [];
  for (let i = 0, at = 0; i < count; i++) {
    const length = size + (i >= count - long ? 1 : 0);
    blocks.push(words.slice(at, at + length));
    ends.push(checkWords(blocks[i], checks));
    at += length;
  }
  const found = [];
  for (let i = 0; i <= size; i++) blocks.forEach((block) => { if (i < block.length) found.push(block[i]); });
  for (let i = 0; i < checks; i++) ends.forEach((end) => found.push(end[i]));
  return found;
}

function alignment(version) { // where the small squares stand
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2, last = version * 4 + 10;
  const gap = version === 32 ? 26 : Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2;
  return [6, ...Array.from({ length: count - 1 }, (_, i) => last - gap * (count - 2 - i))];
}

const QR_MASKS = [
  (r, c) => (r + c) % 2 === 0, (r) => r % 2 === 0, (r, c) => c % 3 === 0, (r, c) => (r + c) % 3 === 0,
  (r, c) => (Math.floor(r / 2) + Math.floor(c / 3)) % 2 === 0, (r, c) => (r * c) % 2 + (r * c) % 3 === 0,
  (r, c) => ((r * c) % 2 + (r * c) % 3) % 2 === 0, (r, c) => ((r + c) % 2 + (r * c) % 3) % 2 === 0,
];

// Rows of 0 and 1; null where the text is too long (2,331 bytes fit). `mask`: a number from 0 to 7.
function qrCode(text, mask = 0) {
  const bytes = [...new TextEncoder().encode(text)];
  let version = 1;
  while (version <= 40 && qrRoom(version) * 8 < 4 + (version < 10 ? 8 : 16) + bytes.length * 8) version++;
  if (version > 40) return null;
  const size = version * 4 + 17, cells = Array.from({ length: size }, () => new Array(size).fill(null));
  const set = (row, column, dark) => { if (cells[row]?.[column] !== undefined) cells[row][column] = dark ? 1 : 0; };
  for (let i = 0; i < size; i++) { set(6, i, i % 2 === 0); set(i, 6, i % 2 === 0); }
  for (const [row, column] of [[3, 3], [3, size - 4], [size - 4, 3]]) {
    for (let r = -4; r <= 4; r++) for (let c = -4; c <= 4; c++) {
      const away = Math.max(Math.abs(r), Math.abs(c));
      set(row + r, column + c, away !== 2 && away !== 4);
    }
  }
  const marks = alignment(version), end = marks.length - 1;
  marks.forEach((row, i) => marks.forEach((column, j) => {
    if ((i === 0 && j === 0) || (i === 0 && j === end) || (i === end && j === 0)) return;
    for (let r = -2; r <= 2; r++) for (let c = -2; c <= 2; c++) set(row + r, column + c, Math.max(Math.abs(r), Math.abs(c)) !== 1);
  }));
  let format = mask; // error correction M is 00
  for (let i = 0; i < 10; i++) format = (format << 1) ^ ((format >>> 9) * 0x537);
  format = ((mask << 10) | format) ^ 0x5412;
  for (let i = 0; i < 15; i++) {
    const bit = (format >>> i) & 1;
    if (i < 8) set(i < 6 ? i : i + 1, 8, bit); else set(8, i < 9 ? 7 : 14 - i, bit);
    if (i < 8) set(8, size - 1 - i, bit); else set(size - 15 + i, 8, bit);
  }
  set(size - 8, 8, 1);
  if (version >= 7) {
    let rest = version;
    for (let i = 0; i < 12; i++) rest = (rest << 1) ^ ((rest >>> 11) * 0x1f25);
    for (let i = 0, told = (version << 12) | rest; i < 18; i++) {
      set(size - 11 + (i % 3), Math.floor(i / 3), (told >>> i) & 1);
      set(Math.floor(i / 3), size - 11 + (i % 3), (told >>> i) & 1);
    }
  }
  const words = qrData(bytes, version);
  let bit = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step++) for (const column of [right, right - 1]) {
      const row = ((right + 1) & 2) === 0 ? size - 1 - step : step;
      if (cells[row][column] !== null) continue;
      const dark = bit < words.length * 8 ? (words[bit >>> 3] >>> (7 - (bit & 7))) & 1 : 0;
      cells[row][column] = dark ^ (QR_MASKS[mask](row, column) ? 1 : 0);
      bit++;
    }
  }
  return cells;
}

// The mask that leaves the fewest patterns which could be mistaken: long runs, blocks, an uneven share of dark.
function clearestCode(text) {
  const known = QR_MASKS.map((_, mask) => qrCode(text, mask));
  if (known[0] === null) return null;
  const cost = (cells) => {
    let found = 0;
    const lines = [...cells, ...cells.map((_, column) => cells.map((row) => row[column]))].map((line) => line.join(""));
    for (const line of lines) {
      for (const run of line.match(/0{5,}|1{5,}/g) ?? []) found += run.length - 2;
      found += 40 * ((line.match(/(?=10111010000)/g) ?? []).length + (line.match(/(?=00001011101)/g) ?? []).length);
    }
    for (let r = 1; r < cells.length; r++) for (let c = 1; c < cells.length; c++) {
      const sum = cells[r][c] + cells[r - 1][c] + cells[r][c - 1] + cells[r - 1][c - 1];
      if (sum === 0 || sum === 4) found += 3;
    }
    const dark = lines.slice(0, cells.length).join("").replaceAll("0", "").length / cells.length ** 2;
    return found + 10 * Math.floor(Math.abs(dark - 0.5) * 20);
  };
  const costs = known.map(cost);
  return known[costs.indexOf(Math.min(...costs))];
}
