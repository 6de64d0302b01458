import type { ClipSpec } from '../../features/media/media.ts';
import type { Theme } from './scenes.ts';

/** One generated clip of the demo. */
export type DemoClip = {
  externalId: string;
  title: string;
  description: string;
  author: string;
  tags: readonly string[];
  /** Played only with a signed URL. */
  protected: boolean;
  /** The scene drawn for the source `layers`. */
  theme?: Theme;
  picture: Omit<ClipSpec, 'path' | 'layers'>;
};

type Size = readonly [width: number, height: number];
const tall: Size = [1080, 1920];
const portrait: Size = [540, 960];
const square: Size = [720, 720];
const fourToFive: Size = [576, 720];
const landscape: Size = [960, 540];

type Picture = { size: Size; seconds: number; tone: number | null };

function clip(
  title: string,
  description: string,
  [author, ...tags]: readonly [string, ...string[]],
  shown: Theme | 'smptebars' | 'testsrc2',
  { size, seconds, tone, isProtected = false }: Picture & { isProtected?: boolean },
): DemoClip {
  const isDrawn = shown !== 'smptebars' && shown !== 'testsrc2';
  return {
    externalId: `demo-${title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`,
    title,
    description,
    author,
    tags,
    protected: isProtected,
    ...(isDrawn && { theme: shown }),
    picture: {
      source: isDrawn ? 'layers' : shown,
      width: size[0],
      height: size[1],
      seconds,
      tone,
      frameRate: 30,
    },
  };
}

/**
 * A dozen clips of different lengths, sizes and shapes. The first one is the fastest to generate
 * and process, because there is nothing to watch until it plays.
 */
export const demoClips: readonly DemoClip[] = [
  clip('Dunes at noon', 'Sand that goes on and on.', ['Ada', 'calm', 'colour'], 'dunes', {
    size: portrait,
    seconds: 5,
    tone: 220,
  }),
  clip('City that never sleeps', 'The last tram home.', ['Grace', 'city', 'night'], 'city', {
    size: portrait,
    seconds: 6,
    tone: 196,
  }),
  clip(
    'Blue hour',
    'Mountains, just before the stars.',
    ['Ada', 'nature', 'evening'],
    'mountains',
    {
      size: portrait,
      seconds: 8,
      tone: 330,
    },
  ),
  clip('Bubbles', 'Pop, without a sound.', ['Grace', 'calm', 'silent'], 'bubbles', {
    size: portrait,
    seconds: 12,
    tone: null,
  }),
  clip(
    'Test pattern in full HD',
    'For checking that every pixel arrives.',
    ['Studio', 'test', 'pattern'],
    'testsrc2',
    {
      size: tall,
      seconds: 4,
      tone: 440,
    },
  ),
  clip(
    'Out at sea',
    'A landscape clip in a portrait world.',
    ['Ada', 'landscape', 'nature'],
    'sea',
    {
      size: landscape,
      seconds: 6,
      tone: 262,
    },
  ),
  clip('First snow', 'Nobody has walked here yet.', ['Stephen', 'nature', 'winter'], 'snow', {
    size: portrait,
    seconds: 7,
    tone: 294,
  }),
  clip(
    'Warm evening',
    'The last light of a drawn day. Protected: it plays with a signed URL alone.',
    ['Grace', 'calm', 'colour'],
    'dunes',
    { size: fourToFive, seconds: 6, tone: 294, isProtected: true },
  ),
  clip(
    'Counting in squares',
    'The counter runs, the squares follow.',
    ['Studio', 'test', 'pattern'],
    'testsrc2',
    {
      size: square,
      seconds: 9,
      tone: 523,
    },
  ),
  clip('Into the woods', 'Keep to the path.', ['John', 'nature', 'forest'], 'forest', {
    size: portrait,
    seconds: 5,
    tone: 247,
  }),
  clip(
    'Broadcast bars',
    'As seen on television, before breakfast.',
    ['Studio', 'test', 'bars'],
    'smptebars',
    {
      size: square,
      seconds: 5,
      tone: 1000,
    },
  ),
  clip('Skyline', 'The same city with more room.', ['Stephen', 'city', 'landscape'], 'city', {
    size: landscape,
    seconds: 5,
    tone: 175,
  }),
];
