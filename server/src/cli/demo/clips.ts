import type { ClipSpec } from '../../features/media/media.ts';

/** One generated clip of the demo. */
export type DemoClip = {
  externalId: string;
  title: string;
  description: string;
  author: string;
  tags: readonly string[];
  /** Played with a signed URL alone. */
  protected: boolean;
  picture: Omit<ClipSpec, 'path'>;
};

type Size = readonly [width: number, height: number];
const tall: Size = [1080, 1920];
const portrait: Size = [720, 1280];
/** For soft pictures, which gain nothing from more pixels: the demo is there sooner. */
const soft: Size = [540, 960];
const square: Size = [720, 720];
const fourToFive: Size = [576, 720];
const landscape: Size = [960, 540];
const small: Size = [360, 640];

/** Sources that take a second of processor time for each second of picture when drawn in full size. */
const drawnSmaller: { readonly [Source in ClipSpec['source']]?: number } = {
  gradients: 4,
  mandelbrot: 2,
};

function clip(
  title: string,
  description: string,
  [author, ...tags]: readonly [string, ...string[]],
  picture: Pick<ClipSpec, 'source' | 'seconds' | 'tone'> & { size: Size; seed?: number },
  { isProtected = false } = {},
): DemoClip {
  const { size, seed, ...rest } = picture;
  const smaller = drawnSmaller[picture.source];
  return {
    externalId: `demo-${title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`,
    title,
    description,
    author,
    tags,
    protected: isProtected,
    picture: {
      ...rest,
      width: size[0],
      height: size[1],
      frameRate: 30,
      ...(seed !== undefined && { seed }),
      ...(smaller !== undefined && { drawnSmaller: smaller }),
    },
  };
}

/**
 * A dozen clips of different lengths, sizes and shapes, from FFmpeg's own sources. The first one is
 * made and processed fastest: until it plays there is nothing to look at.
 */
export const demoClips: readonly DemoClip[] = [
  clip('Broadcast bars', 'As seen on television, before breakfast.', ['Studio', 'test', 'bars'], {
    source: 'smptebars',
    size: square,
    seconds: 5,
    tone: 1000,
  }),
  clip('Slow gradients', 'Colours that take their time.', ['Ada', 'calm', 'colour'], {
    source: 'gradients',
    size: soft,
    seconds: 6,
    tone: 220,
    seed: 1,
  }),
  clip(
    'Into the Mandelbrot set',
    'A long way down, and never the same twice.',
    ['Benoit', 'maths', 'fractal'],
    { source: 'mandelbrot', size: portrait, seconds: 5, tone: 330 },
  ),
  clip('Life finds a way', 'Conway’s rules, left alone for a while.', ['John', 'maths', 'life'], {
    source: 'life',
    size: small,
    seconds: 8,
    tone: null,
    seed: 2,
  }),
  clip(
    'Test pattern in full HD',
    'For checking that every pixel arrives.',
    ['Studio', 'test', 'pattern'],
    { source: 'testsrc2', size: tall, seconds: 4, tone: 440 },
  ),
  clip('Sideways', 'A landscape clip in a portrait world.', ['Ada', 'landscape', 'colour'], {
    source: 'gradients',
    size: landscape,
    seconds: 6,
    tone: 262,
    seed: 3,
  }),
  clip(
    'One rule, many lines',
    'A cellular automaton draws itself.',
    ['Stephen', 'maths', 'pattern'],
    { source: 'cellauto', size: small, seconds: 7, tone: 196, seed: 4 },
  ),
  clip(
    'Warm evening',
    'The last light of a generated day. Protected: it plays with a signed URL alone.',
    ['Grace', 'calm', 'colour'],
    { source: 'gradients', size: fourToFive, seconds: 6, tone: 294, seed: 5 },
    { isProtected: true },
  ),
  clip(
    'Counting in squares',
    'The counter runs, the squares follow.',
    ['Studio', 'test', 'pattern'],
    { source: 'testsrc2', size: square, seconds: 9, tone: 523 },
  ),
  clip('A second life', 'Another beginning, another ending.', ['John', 'life'], {
    source: 'life',
    size: soft,
    seconds: 5,
    tone: 247,
    seed: 6,
  }),
  clip('Silent colours', 'No sound at all: look.', ['Grace', 'calm', 'silent'], {
    source: 'gradients',
    size: soft,
    seconds: 12,
    tone: null,
    seed: 7,
  }),
  clip('Wide automaton', 'The same rule with more room.', ['Stephen', 'maths', 'landscape'], {
    source: 'cellauto',
    size: landscape,
    seconds: 5,
    tone: 175,
    seed: 8,
  }),
];
