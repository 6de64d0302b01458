/** The header of an AAC stream: AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1). */
import { BitReader } from './bit-reader.ts';
import { IngestError } from './ingest-error.ts';

export type AacHeader = {
  readonly config: Buffer;
  /** In RFC 6381 notation. */
  readonly codec: string;
  readonly sampleRate: number;
  readonly channels: number;
};

export const samplesPerFrame = 1_024;

const sampleRates = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000,
  7_350,
];
const explicitRate = 15;
const maxConfigBytes = 64;

/** @throws {IngestError} */
export function readAacHeader(config: Buffer): AacHeader {
  const reader = new BitReader(config);
  const objectType = reader.bits(5);
  const index = reader.bits(4);
  const sampleRate = index === explicitRate ? reader.bits(24) : (sampleRates[index] ?? 0);
  const channels = reader.bits(4);
  const isUsable =
    config.length >= 2 &&
    config.length <= maxConfigBytes &&
    [2, 5, 29].includes(objectType) &&
    sampleRate >= 7_350 &&
    sampleRate <= 96_000 &&
    channels >= 1 &&
    channels <= 7;
  if (!isUsable) throw new IngestError('the AAC header cannot be read');
  return { config, codec: `mp4a.40.${objectType}`, sampleRate, channels };
}
