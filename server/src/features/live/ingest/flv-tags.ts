/**
 * The bodies of FLV audio and video tags: Adobe, "Flash Video File Format 10.1", annex E.4, and
 * Veovera, "Enhancing RTMP, FLV" for later codecs.
 */
import { IngestError } from './ingest-error.ts';
import { videoCodecs, type VideoCodec } from './video-header.ts';

export type AudioTag = { readonly isHeader: boolean; readonly data: Buffer };
export type VideoTag = AudioTag & {
  readonly codecId: VideoCodec;
  readonly isKey: boolean;
  readonly offsetMs: number;
};

const h264 = 7;
const aac = 10;
const keyFrame = 1;
/** A command to the player, without a picture. */
const infoFrame = 5;
/** Marks tags of Enhanced RTMP, which carry other codecs. */
const enhanced = 0x80;
const header = 0;
const picture = 1;
/** Kinds of enhanced tags: pictures with and without a composition offset. */
const enhancedPictures = { withOffset: 1, withoutOffset: 3 };
/** Kinds that carry no picture: end of sequence and metadata. */
const silentKinds = [2, 4];
const enhancedHeaderBytes = 5;
/** The AV1 unit that separates two pictures, followed by its size of zero. */
const temporalDelimiter = 0x1200;

/**
 * Returns null for tags without content.
 * @throws {IngestError} for codecs other than H.264, HEVC and AV1
 */
export function readVideoTag(payload: Buffer): VideoTag | null {
  const [first, kind] = payload;
  if (first === undefined || kind === undefined) return null;
  if (((first >> 4) & 7) === infoFrame) return null;
  if ((first & enhanced) !== 0) return readEnhancedTag(first, payload);
  if ((first & 15) !== h264) throw otherCodec();
  const data = payload.subarray(5);
  if (data.length === 0 || (kind !== header && kind !== picture)) return null;
  return {
    codecId: 'avc1',
    isHeader: kind === header,
    isKey: first >> 4 === keyFrame,
    offsetMs: payload.readIntBE(2, 3),
    data,
  };
}

function readEnhancedTag(first: number, payload: Buffer): VideoTag | null {
  const kind = first & 15;
  if (silentKinds.includes(kind)) return null;
  const name = payload.toString('latin1', 1, enhancedHeaderBytes);
  const codecId = videoCodecs.find((codec) => codec === name);
  if (codecId === undefined) throw otherCodec();
  const isHeader = kind === header;
  // AV1 stores pictures in presentation order.
  const hasOffset = kind === enhancedPictures.withOffset && codecId !== 'av01';
  const isPicture = Object.values(enhancedPictures).includes(kind);
  if (!isHeader && !isPicture) throw new IngestError('multiple video tracks are not supported');
  const dataAt = enhancedHeaderBytes + (hasOffset ? 3 : 0);
  const data = withoutDelimiter(codecId, payload.subarray(dataAt));
  if (data.length === 0) return null;
  const isKey = ((first >> 4) & 7) === keyFrame;
  const offsetMs = hasOffset ? payload.readIntBE(enhancedHeaderBytes, 3) : 0;
  return { codecId, isHeader, isKey, offsetMs, data };
}

/** Some encoders put a temporal delimiter before an AV1 picture, which MP4 omits. */
function withoutDelimiter(codecId: VideoCodec, data: Buffer): Buffer {
  const hasDelimiter =
    codecId === 'av01' && data.length >= 2 && data.readUInt16BE(0) === temporalDelimiter;
  return hasDelimiter ? data.subarray(2) : data;
}

function otherCodec(): IngestError {
  return new IngestError('the video is not H.264, HEVC or AV1');
}

/** Returns null for tags without content. @throws {IngestError} for codecs other than AAC */
export function readAudioTag(payload: Buffer): AudioTag | null {
  const [first, kind] = payload;
  if (first === undefined || kind === undefined) return null;
  if (first >> 4 !== aac) throw new IngestError('the audio is not AAC');
  const data = payload.subarray(2);
  return data.length === 0 ? null : { isHeader: kind === header, data };
}
