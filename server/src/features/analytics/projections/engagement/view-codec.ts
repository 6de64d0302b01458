/** Binary format of view states: little-endian numbers at fixed offsets. */
import { countedColumns, type CountedColumn } from './counted-kinds.ts';
import {
  labelBytes,
  readEarliest,
  readLabel,
  viewLabels,
  writeEarliest,
  writeLabel,
  type ViewLabels,
} from './earliest.ts';
import type { ViewState } from './view-state.ts';

const labelsAt = 168;
const laterCountsAt = labelsAt + viewLabels.length * labelBytes;
const countBytes = 4;

/** Offsets of the counts of the first version. Counts of kinds added later follow the labels. */
const firstOffsets: Readonly<Partial<Record<CountedColumn, number>>> = {
  impressions: 20,
  plays: 24,
  completions: 32,
  swipes_away: 48,
  likes: 152,
  shares: 156,
  saves: 160,
  unlikes: 164,
};
const laterColumns = countedColumns.filter((column) => firstOffsets[column] === undefined);
const countOffsets = countedColumns.map(
  (column) => firstOffsets[column] ?? laterCountsAt + laterColumns.indexOf(column) * countBytes,
);
export const viewBytes = laterCountsAt + laterColumns.length * countBytes;

export function writeView(view: ViewState, bytes: Buffer, at: number): void {
  bytes.writeDoubleLE(view.firstAt, at);
  bytes.writeDoubleLE(view.lastAt, at + 8);
  bytes.writeUInt32LE(view.generation, at + 16);
  bytes.writeUInt32LE(view.progressReports, at + 28);
  bytes.writeUInt32LE(view.errors, at + 36);
  bytes.writeUInt32LE(view.stalls, at + 40);
  bytes.writeUInt32LE(view.stallMs, at + 44);
  bytes.writeInt32LE(view.toldWatchMs, at + 52);
  bytes.writeUInt32LE(view.positionMs, at + 56);
  bytes.writeUInt32LE(view.durationMs, at + 60);
  bytes.writeUInt32LE(view.loopCount, at + 64);
  bytes.writeUInt32LE(view.loopedCompletions, at + 68);
  bytes.writeUInt32LE(view.visibleMs, at + 72);
  bytes.writeUInt32LE(view.firstWatchHour, at + 76);
  bytes.writeUInt32LE(view.lastWatchHour, at + 80);
  writeEarliest(view.device, view.country, bytes, at + 84);
  bytes.writeInt8(view.quartersAhead, at + 104);
  bytes.fill(0, at + 105, at + 108);
  bytes.writeInt32LE(view.startupMs, at + 108);
  bytes.writeDoubleLE(view.startupAt, at + 112);
  writeLabel(view.entryPoint, bytes, at + 120);
  writeLabel(view.appVersion, bytes, at + 136);
  for (let index = 0; index < countOffsets.length; index += 1) {
    bytes.writeUInt32LE(view.counts[index] ?? 0, at + (countOffsets[index] ?? 0));
  }
  for (const [index, name] of viewLabels.entries()) {
    writeLabel(view[name], bytes, at + labelsAt + index * labelBytes);
  }
}

export function readView(bytes: Buffer, at: number): ViewState {
  return {
    firstAt: bytes.readDoubleLE(at),
    lastAt: bytes.readDoubleLE(at + 8),
    generation: bytes.readUInt32LE(at + 16),
    counts: countOffsets.map((offset) => bytes.readUInt32LE(at + offset)),
    progressReports: bytes.readUInt32LE(at + 28),
    errors: bytes.readUInt32LE(at + 36),
    stalls: bytes.readUInt32LE(at + 40),
    stallMs: bytes.readUInt32LE(at + 44),
    toldWatchMs: bytes.readInt32LE(at + 52),
    positionMs: bytes.readUInt32LE(at + 56),
    durationMs: bytes.readUInt32LE(at + 60),
    loopCount: bytes.readUInt32LE(at + 64),
    loopedCompletions: bytes.readUInt32LE(at + 68),
    visibleMs: bytes.readUInt32LE(at + 72),
    firstWatchHour: bytes.readUInt32LE(at + 76),
    lastWatchHour: bytes.readUInt32LE(at + 80),
    ...readEarliest(bytes, at + 84),
    quartersAhead: bytes.readInt8(at + 104),
    startupMs: bytes.readInt32LE(at + 108),
    startupAt: bytes.readDoubleLE(at + 112),
    entryPoint: readLabel(bytes, at + 120),
    appVersion: readLabel(bytes, at + 136),
    ...readViewLabels(bytes, at + labelsAt),
  };
}

function readViewLabels(bytes: Buffer, at: number): ViewLabels {
  const [feedId, position, sharePlatform, rendition, codec, errorCode, errorMessage] = [
    readLabel(bytes, at),
    readLabel(bytes, at + labelBytes),
    readLabel(bytes, at + 2 * labelBytes),
    readLabel(bytes, at + 3 * labelBytes),
    readLabel(bytes, at + 4 * labelBytes),
    readLabel(bytes, at + 5 * labelBytes),
    readLabel(bytes, at + 6 * labelBytes),
  ];
  return { feedId, position, sharePlatform, rendition, codec, errorCode, errorMessage };
}
