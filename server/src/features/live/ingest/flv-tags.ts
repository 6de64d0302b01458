/** The bodies of FLV's audio and video tags (Adobe, "Flash Video File Format 10.1", annex E.4). */
import { IngestError } from './ingest-error.ts';

export type AudioTag = { readonly isHeader: boolean; readonly data: Buffer };
export type VideoTag = AudioTag & { readonly isKey: boolean; readonly offsetMs: number };

const h264 = 7;
const aac = 10;
const keyFrame = 1;
/** A command to the player, without a picture. */
const infoFrame = 5;
/** Marks the tags of Enhanced RTMP, which carry other codecs. */
const enhanced = 0x80;
const header = 0;
const picture = 1;

/** Null for tags that carry nothing. @throws IngestError for other codecs than H.264 */
export function readVideoTag(payload: Buffer): VideoTag | null {
  const [first, kind] = payload;
  if (first === undefined || kind === undefined) return null;
  if (first >> 4 === infoFrame) return null;
  if ((first & enhanced) !== 0 || (first & 15) !== h264) {
    throw new IngestError('the pictures are not H.264');
  }
  const data = payload.subarray(5);
  if (data.length === 0 || (kind !== header && kind !== picture)) return null;
  return {
    isHeader: kind === header,
    isKey: first >> 4 === keyFrame,
    offsetMs: payload.readIntBE(2, 3),
    data,
  };
}

/** Null for tags that carry nothing. @throws IngestError for other codecs than AAC */
export function readAudioTag(payload: Buffer): AudioTag | null {
  const [first, kind] = payload;
  if (first === undefined || kind === undefined) return null;
  if (first >> 4 !== aac) throw new IngestError('the sound is not AAC');
  const data = payload.subarray(2);
  return data.length === 0 ? null : { isHeader: kind === header, data };
}
