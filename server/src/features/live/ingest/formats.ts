/**
 * The formats of a stream's segments. Players get one header file per format. The recording is one
 * file with one header: that of the first pictures and of the audio, which must not change.
 */
import type { Db } from '../../../platform/database/database.ts';
import type { LiveStreamKey } from '../queries.ts';
import { readAacHeader } from './aac-header.ts';
import { IngestError } from './ingest-error.ts';
import { initSegment, sameTracks, type Tracks } from './init-segment.ts';
import { readFormats, type StoredFormat } from './publisher-queries.ts';
import { readVideoHeader } from './video-header.ts';

export type StreamFormat = { readonly number: number; readonly tracks: Tracks };

export async function loadFormats(db: Db, key: LiveStreamKey): Promise<StreamFormat[]> {
  const stored = await readFormats(db, key);
  return stored.map(({ number, videoCodec, videoHeader, audioHeader }) => ({
    number,
    tracks: {
      video: videoHeader === null ? null : readVideoHeader(videoCodec, videoHeader),
      audio: audioHeader === null ? null : readAacHeader(audioHeader),
    },
  }));
}

export function storedFormat({ number, tracks: { video, audio } }: StreamFormat): StoredFormat {
  const [videoHeader, audioHeader] = [video?.record ?? null, audio?.config ?? null];
  return { number, videoCodec: video?.codecId ?? 'avc1', videoHeader, audioHeader };
}

/** Returns the format of these tracks, creating one if none matches. @throws {IngestError} */
export function formatOf(formats: readonly StreamFormat[], tracks: Tracks): StreamFormat {
  const known = formats.find((format) => sameTracks(format.tracks, tracks));
  if (known !== undefined) return known;
  const { video, audio } = recordedTracks(formats);
  if (audio !== null && tracks.audio !== null && !audio.config.equals(tracks.audio.config)) {
    throw new IngestError('the audio format has changed');
  }
  if (video !== null && tracks.video !== null && video.codecId !== tracks.video.codecId) {
    throw new IngestError('the video codec has changed');
  }
  return { number: formats.length, tracks };
}

export function recordedTracks(formats: readonly StreamFormat[]): Tracks {
  const find = <Name extends keyof Tracks>(name: Name): Tracks[Name] =>
    formats.find(({ tracks }) => tracks[name] !== null)?.tracks[name] ?? null;
  return { video: find('video'), audio: find('audio') };
}

/** The header of the recording, or null for a stream from before formats were stored. */
export function recordedHeader(formats: readonly StreamFormat[]): Buffer | null {
  return formats.length === 0 ? null : initSegment(recordedTracks(formats));
}
