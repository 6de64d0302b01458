import { type Store } from '@reelfeed/client/playing';

/** Connection information from the Network Information API, which Safari and Firefox lack. */
type Connection = {
  readonly effectiveType?: string;
  /** Megabits per second, rounded. */
  readonly downlink?: number;
  readonly saveData?: boolean;
};

/** A file in the Resource Timing API; sizes are 0 if they are not disclosed. */
type Download = {
  readonly name: string;
  readonly transferSize: number;
  readonly responseStart: number;
  readonly responseEnd: number;
};

/** Low enough to start with the smallest renditions. */
const savingBps = 200_000;
const lowestBps = 150_000;
/** The share of a rounded estimate that is safe to use. */
const safeShare = 0.7;
/** Fewer bytes than this arrive in one burst and say nothing about the connection. */
const leastBytes = 20_000;
/** Older measurements may be from a different connection. */
const rememberedForMs = 12 * 3_600_000;
/** A first segment of one second should arrive within this fraction of a second. */
const firstSegmentSeconds = 0.3;

/**
 * The connection speed in bits per second before any clip has loaded: the download speed of the
 * player's own files, otherwise the measurement of the last visit, or null if unknown. A browser
 * that reports a slow connection or data saving takes precedence.
 */
export function lineBps(
  navigator: object,
  downloads: readonly Download[],
  store: Store,
  nowMs: number,
): number | null {
  const said = saidBps(navigator);
  const seen = downloadedBps(downloads) ?? rememberedBps(store, nowMs);
  if (said === null || seen === null) return said ?? seen;
  return Math.min(said, seen);
}

/** Stores a measurement for the next visit. */
export function rememberLine(store: Store, bps: number, nowMs: number): void {
  store.write('line', `${Math.round(bps)} ${nowMs}`);
}

/**
 * The variant to start with: the best one whose first segment arrives quickly, but none above the
 * first of the playlist. Bit rates are in bits per second, ascending.
 */
export function startLevel(bitrates: readonly number[], first: number, bps: number): number {
  const affordable = bps * firstSegmentSeconds;
  let level = 0;
  for (const [index, bitrate] of bitrates.entries()) {
    if (index <= first && bitrate <= affordable) level = index;
  }
  return level;
}

function saidBps(navigator: object): number | null {
  const connection = (navigator as { connection?: Connection }).connection;
  if (connection === undefined) return null;
  if (connection.saveData === true) return savingBps;
  const { downlink = 0, effectiveType = '4g' } = connection;
  return effectiveType === '4g' ? null : Math.max(lowestBps, downlink * 1_000_000 * safeShare);
}

/** Files loaded at the same time share the connection, so they are measured together. */
function downloadedBps(downloads: readonly Download[]): number | null {
  const own = downloads.filter(
    ({ name, transferSize }) => transferSize > 0 && /\/(?:hls|reelfeed)-[\w-]+\.js/.test(name),
  );
  const bytes = own.reduce((sum, { transferSize }) => sum + transferSize, 0);
  if (bytes < leastBytes) return null;
  const startMs = Math.min(...own.map(({ responseStart }) => responseStart));
  const endMs = Math.max(...own.map(({ responseEnd }) => responseEnd));
  return (bytes * 8_000) / Math.max(1, endMs - startMs);
}

function rememberedBps(store: Store, nowMs: number): number | null {
  const [bps = NaN, atMs = NaN] = (store.read('line') ?? '').split(' ').map(Number);
  return bps > 0 && Math.abs(nowMs - atMs) < rememberedForMs ? bps : null;
}
