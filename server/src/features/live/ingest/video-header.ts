/** The header of a video stream: the decoder configuration, which is the same in FLV and MP4. */
import { av1SequenceHeader, readAv1Header } from './av1-header.ts';
import { h264ParameterSets, readH264Header } from './h264-header.ts';
import { h265ParameterSets, readH265Header } from './h265-header.ts';

/** The codes of H.264, HEVC and AV1 in Enhanced RTMP and in MP4. */
export const videoCodecs = ['avc1', 'hvc1', 'av01'] as const;
export type VideoCodec = (typeof videoCodecs)[number];

export type VideoHeader = {
  readonly codecId: VideoCodec;
  readonly record: Buffer;
  /** In RFC 6381 notation. */
  readonly codec: string;
  readonly width: number;
  readonly height: number;
};

const readers = { avc1: readH264Header, hvc1: readH265Header, av01: readAv1Header };
const inStream = { avc1: h264ParameterSets, hvc1: h265ParameterSets, av01: av1SequenceHeader };

/** @throws {IngestError} */
export function readVideoHeader(codecId: VideoCodec, record: Buffer): VideoHeader {
  return { codecId, record, ...readers[codecId](record) };
}

/** The configuration in the form that precedes a key frame in the stream. @throws {IngestError} */
export function inStreamHeader({ codecId, record }: VideoHeader): Buffer {
  return inStream[codecId](record);
}
