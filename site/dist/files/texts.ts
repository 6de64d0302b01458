/** All texts for viewers, including screen readers. The feed's `texts` overrides any of them. */
export const defaultTexts = {
  feed: 'Videos',
  play: 'Play',
  pause: 'Pause',
  like: 'Like',
  save: 'Save',
  share: 'Share',
  soundOn: 'Turn sound on',
  soundOff: 'Turn sound off',
  live: 'LIVE',
  pictureOf: (position: number, count: number) => `Picture ${position} of ${count}`,
  loading: 'Loading',
  empty: 'Nothing to watch yet',
  refused: 'The feed can’t be loaded.',
  reconnecting: 'The service can’t be reached. Retrying…',
  brokenClip: 'This video can’t be played.',
  lockedClip: 'This video is protected, and access to it was denied.',
  retry: 'Try again',
};

export type Texts = typeof defaultTexts;
