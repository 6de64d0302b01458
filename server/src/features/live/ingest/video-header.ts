/** The header of a video stream: the decoder configuration that FLV and MP4 carry unchanged. */
import { av1SequenceHeader, readAv1Header } from './av1-header.ts';
import { h264ParameterSets, readH264Header } from './h264-header.ts';
import { h265ParameterSets, readH265Header } from './h265-header.ts';

/** The codes of H.264, HEVC and AV1 in Enhanced RTMP and in MP4. */
export const videoCodecs = ['avc1', 'hvc1', 'av01'] as const;
export type VideoCodec = (typeof videoCodecs)[number];

export type VideoHeader = {
  readonly codecId: VideoCodec;
  /** The configuration record itself. */
  readonly record: Buffer;
  /** As RFC 6381 writes it. */
  readonly codec: string;
  readonly width: number;
  readonly height: number;
};

const readers = { avc1: readH264Header, hvc1: readH265Header, av01: readAv1Header };
const inStream = { avc1: h264ParameterSets, hvc1: h265ParameterSets, av01: av1SequenceHeader };

/** @throws IngestError */
export function readVideoHeader(codecId: VideoCodec, record: Buffer): VideoHeader {
  return { codecId, record, ...readers[codecId](record) };
}

/** The configuration as it is put before a key frame within the stream. @throws IngestError */
export function inStreamHeader({ codecId, record }: VideoHeader): Buffer {
  return inStream[codecId](record);
}
