// Keccak-256 with the padding that it had before it became SHA-3: the hash of Ethereum. Node has none.
//
// Source: The Keccak reference, version 3.0. A lane of 64 bits is two words of 32, the low one first.

const RATE = 136;
const ROUNDS = 24;

/** The bits of a register that shifts by x^8 + x^6 + x^5 + x^4 + 1, from which the rounds' constants are made. */
function* bits() {
  for (let register = 1; ; register = register & 0x80 ? (register << 1) ^ 0x171 : register << 1) {
    yield register & 1;
  }
}

/** The constant of each round, low words and high ones in turn: bits stand at places 2^j - 1. */
const CONSTANTS = (() => {
  const [constants, drawn] = [new Uint32Array(2 * ROUNDS), bits()];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let j = 0; j < 7; j += 1) {
      const place = 2 ** j - 1;
      if (drawn.next().value) constants[2 * round + (place >> 5)] |= 1 << (place & 31);
    }
  }
  return constants;
})();

/** Where each lane goes, and how far it is turned, in the order of the walk that the reference describes. */
const TURNS = (() => {
  const turns = [];
  let [x, y] = [1, 0];
  for (let step = 0; step < 24; step += 1) {
    [x, y] = [y, (2 * x + 3 * y) % 5];
    const by = ((step + 1) * (step + 2) / 2) % 64;
    turns.push({ at: 2 * (x + 5 * y), by: by % 32, isFar: by >= 32 });
  }
  return turns;
})();

/** The word that comes first of a lane turned to the left, by less than 32 places; `next` is the lane's other word. */
const turned = (word, next, by) => (by === 0 ? word : (word << by) | (next >>> (32 - by)));

const columns = new Uint32Array(10);
const row = new Uint32Array(10);

/** θ: each lane takes in the parity of two columns. */
function mix(state) {
  for (let word = 0; word < 10; word += 1) {
    columns[word] = state[word] ^ state[word + 10] ^ state[word + 20] ^ state[word + 30] ^ state[word + 40];
  }
  for (let x = 0; x < 10; x += 2) {
    const [before, after] = [(x + 8) % 10, (x + 2) % 10];
    const low = columns[before] ^ turned(columns[after], columns[after + 1], 1);
    const high = columns[before + 1] ^ turned(columns[after + 1], columns[after], 1);
    for (let at = x; at < 50; at += 10) {
      state[at] ^= low;
      state[at + 1] ^= high;
    }
  }
}

/** ρ and π: lanes are turned, and change places. */
function move(state) {
  let low = state[2];
  let high = state[3];
  for (let step = 0; step < 24; step += 1) {
    const { at, by, isFar } = TURNS[step];
    const thereLow = state[at];
    const thereHigh = state[at + 1];
    state[at] = isFar ? turned(high, low, by) : turned(low, high, by);
    state[at + 1] = isFar ? turned(low, high, by) : turned(high, low, by);
    low = thereLow;
    high = thereHigh;
  }
}

/** χ: what makes it hard to turn back. */
function bend(state) {
  for (let from = 0; from < 50; from += 10) {
    for (let word = 0; word < 10; word += 1) row[word] = state[from + word];
    for (let word = 0; word < 10; word += 1) {
      state[from + word] ^= ~row[(word + 2) % 10] & row[(word + 4) % 10];
    }
  }
}

function permute(state) {
  for (let round = 0; round < ROUNDS; round += 1) {
    mix(state);
    move(state);
    bend(state);
    state[0] ^= CONSTANTS[2 * round];
    state[1] ^= CONSTANTS[2 * round + 1];
  }
}

/** The hash of bytes, 32 of them. */
export function keccak(bytes) {
  const padded = Buffer.alloc((Math.floor(bytes.length / RATE) + 1) * RATE);
  padded.set(bytes);
  padded[bytes.length] ^= 0x01;
  padded[padded.length - 1] ^= 0x80;
  const state = new Uint32Array(50);
  for (let at = 0; at < padded.length; at += RATE) {
    for (let word = 0; word < RATE / 4; word += 1) state[word] ^= padded.readUInt32LE(at + 4 * word);
    permute(state);
  }
  const hash = Buffer.alloc(32);
  for (let word = 0; word < 8; word += 1) hash.writeUInt32LE(state[word], 4 * word);
  return hash;
}
