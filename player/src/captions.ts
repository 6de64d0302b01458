import { type CaptionTrack } from '@reelfeed/client';
import { element } from './dom.ts';
import { webAddress } from '@reelfeed/client/playing';

/** Lines from the bottom at which captions stand, so that title and buttons do not cover them. */
const captionLine = -7;

/** Gives the video the caption tracks of its new clip instead of those of the last one. */
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

/** Shows the track in the viewer's language, else the first one; or hides all. */
export function showCaptions(video: HTMLVideoElement, shown: boolean): void {
  const tracks = Array.from(video.textTracks);
  const spoken = navigator.language.slice(0, 2);
  const chosen = tracks.find((track) => track.language.startsWith(spoken)) ?? tracks[0];
  for (const track of tracks) track.mode = shown && track === chosen ? 'showing' : 'disabled';
}

function raise(track: TextTrack): void {
  const mode = track.mode;
  // A cue that is on screen already stays where it is unless it is shown again.
  track.mode = 'hidden';
  for (const cue of Array.from(track.cues ?? [])) {
    if (cue instanceof VTTCue && cue.line === 'auto') cue.line = captionLine;
  }
  track.mode = mode;
}
