import { type CaptionTrack } from '@reelfeed/client';
import { element } from '../page/dom.ts';
import { webAddress } from '@reelfeed/client/playing';

/**
 * Line at which captions are placed, counted from the bottom, so that title and buttons do not
 * cover them.
 */
const captionLine = -7;

/** Replaces the video's caption tracks with those of its new clip. */
export function attachCaptions(video: HTMLVideoElement, tracks: readonly CaptionTrack[]): void {
  video.replaceChildren();
  for (const { url, language, label, status } of tracks) {
    const address = webAddress(url);
    if (address === null || status !== 'ready') continue;
    const track = element('track', { kind: 'captions', src: address, srclang: language, label });
    track.addEventListener('load', () => raise(track.track));
    video.append(track);
  }
}

/** Shows the track in the viewer's language, otherwise the first one; or hides all. */
export function showCaptions(video: HTMLVideoElement, shown: boolean): void {
  const tracks = Array.from(video.textTracks);
  const spoken = navigator.language.slice(0, 2);
  const chosen = tracks.find((track) => track.language.startsWith(spoken)) ?? tracks[0];
  for (const track of tracks) track.mode = shown && track === chosen ? 'showing' : 'disabled';
}

function raise(track: TextTrack): void {
  const mode = track.mode;
  // A cue already on screen only moves if it is shown again.
  track.mode = 'hidden';
  for (const cue of Array.from(track.cues ?? [])) {
    if (cue instanceof VTTCue && cue.line === 'auto') cue.line = captionLine;
  }
  track.mode = mode;
}
