/**
 * Mergeable sets of unique viewers: the set of a month is the merge of its days, in any order and
 * with any overlap.
 *
 * Up to 1,024 members the set stores them all, and its size is exact except for hash collisions.
 * Beyond that, it is a HyperLogLog of 16,384 registers with a standard error of 1.04/√16384 = 0.8
 * %. The estimator is that of Otmar Ertl, "New cardinality estimation algorithms for HyperLogLog
 * sketches" (2017, algorithm 6), which needs no correction tables. Both forms depend only on the
 * members, not on their order: equal sets have equal bytes.
 */

/** Changed only by `addViewer` and `mergeViewerSets`. */
export type ViewerSet = {
  /** All members, or null if there are too many. */
  members: Set<number> | null;
  /** The registers, or null while the members are known. */
  registers: Uint8Array | null;
};

const maxMembers = 1_024;
const indexBits = 14;
const registerCount = 2 ** indexBits;
/** Members are 53-bit hashes; these bits remain for the rank of a register. */
const rankBits = 53 - indexBits;
const memberBytes = 7;
const packedBytes = (registerCount * 6) / 8;
const exactForm = 1;
const denseForm = 2;

export function createViewerSet(): ViewerSet {
  return { members: new Set(), registers: null };
}

/**
 * @param member a hash of the viewer, an integer from 0 to 2^53 − 1 (`memberOf`)
 * @returns whether the set has changed
 */
export function addViewer(set: ViewerSet, member: number): boolean {
  const { members, registers } = set;
  if (registers !== null) return register(registers, member);
  if (members === null || members.has(member)) return false;
  members.add(member);
  if (members.size > maxMembers) makeDense(set);
  return true;
}

/** Adds all of `from` to `into`; `from` is unchanged. */
export function mergeViewerSets(into: ViewerSet, from: ViewerSet): void {
  for (const member of from.members ?? []) addViewer(into, member);
  if (from.registers === null) return;
  makeDense(into);
  const { registers } = into;
  for (const [index, rank] of from.registers.entries()) {
    if (registers !== null && rank > (registers[index] ?? 0)) registers[index] = rank;
  }
}

/** The number of members: exact up to 1,024, otherwise an estimate. */
export function countViewers({ members, registers }: ViewerSet): number {
  return registers === null ? (members?.size ?? 0) : Math.round(estimate(registers));
}

/** The bytes of a set, the same for equal sets. */
export function encodeViewerSet({ members, registers }: ViewerSet): Buffer {
  return registers === null ? encodeMembers(members ?? new Set()) : encodeRegisters(registers);
}

/** @throws Error if the bytes are not a set */
export function decodeViewerSet(bytes: Uint8Array): ViewerSet {
  if (bytes[0] === exactForm && (bytes.length - 1) % memberBytes === 0) {
    return { members: decodeMembers(bytes), registers: null };
  }
  if (bytes[0] === denseForm && bytes.length === packedBytes + 1) {
    return { members: null, registers: decodeRegisters(bytes) };
  }
  throw new Error('The bytes are not an encoded viewer set.');
}

function makeDense(set: ViewerSet): void {
  if (set.registers !== null) return;
  set.registers = new Uint8Array(registerCount);
  for (const member of set.members ?? []) register(set.registers, member);
  set.members = null;
}

/**
 * The lowest bits select the register, which stores the longest run of zeros among the other bits.
 */
function register(registers: Uint8Array, member: number): boolean {
  const index = member % registerCount;
  const rest = (member - index) / registerCount;
  const upper = Math.floor(rest / 2 ** 32);
  const zeros =
    upper === 0 ? rankBits - 32 + Math.clz32(rest) : rankBits - 32 - (32 - Math.clz32(upper));
  const rank = zeros + 1;
  if (rank <= (registers[index] ?? 0)) return false;
  registers[index] = rank;
  return true;
}

function estimate(registers: Uint8Array): number {
  const counts = new Uint32Array(rankBits + 2);
  for (const rank of registers) counts[rank] = (counts[rank] ?? 0) + 1;
  const at = (rank: number): number => counts[rank] ?? 0;
  let sum = registerCount * tau(1 - at(rankBits + 1) / registerCount);
  for (let rank = rankBits; rank >= 1; rank -= 1) sum = 0.5 * (sum + at(rank));
  sum += registerCount * sigma(at(0) / registerCount);
  return registerCount ** 2 / (2 * Math.LN2 * sum);
}

function sigma(share: number): number {
  if (share === 1) return Infinity;
  let power = share;
  let weight = 1;
  let sum = share;
  for (let before = -1; sum !== before; weight += weight) {
    power *= power;
    before = sum;
    sum += power * weight;
  }
  return sum;
}

function tau(share: number): number {
  if (share === 0 || share === 1) return 0;
  let root = share;
  let weight = 1;
  let sum = 1 - share;
  for (let before = -1; sum !== before;) {
    root = Math.sqrt(root);
    before = sum;
    weight *= 0.5;
    sum -= (1 - root) ** 2 * weight;
  }
  return sum / 3;
}

function encodeMembers(members: ReadonlySet<number>): Buffer {
  const sorted = Float64Array.from(members).sort();
  const bytes = Buffer.allocUnsafe(1 + sorted.length * memberBytes);
  bytes[0] = exactForm;
  let at = 1;
  for (const member of sorted) {
    const upper = Math.floor(member / 2 ** 32);
    bytes[at] = upper >>> 16;
    bytes.writeUInt16BE(upper & 0xffff, at + 1);
    bytes.writeUInt32BE(member % 2 ** 32, at + 3);
    at += memberBytes;
  }
  return bytes;
}

function decodeMembers(bytes: Uint8Array): Set<number> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const members = new Set<number>();
  for (let at = 1; at < bytes.length; at += memberBytes) {
    const upper = view.getUint8(at) * 0x10000 + view.getUint16(at + 1);
    members.add(upper * 2 ** 32 + view.getUint32(at + 3));
  }
  return members;
}

/** Packs four registers of six bits into three bytes. */
function encodeRegisters(registers: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(1 + packedBytes);
  bytes[0] = denseForm;
  let at = 1;
  for (let index = 0; index < registerCount; index += 4) {
    const [a = 0, b = 0, c = 0, d = 0] = registers.subarray(index, index + 4);
    bytes.writeUIntBE((a << 18) | (b << 12) | (c << 6) | d, at, 3);
    at += 3;
  }
  return bytes;
}

function decodeRegisters(bytes: Uint8Array): Uint8Array {
  const registers = new Uint8Array(registerCount);
  let at = 1;
  for (let index = 0; index < registerCount; index += 4) {
    const four = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    registers[index] = four >>> 18;
    registers[index + 1] = (four >>> 12) & 63;
    registers[index + 2] = (four >>> 6) & 63;
    registers[index + 3] = four & 63;
    at += 3;
  }
  return registers;
}
