/** The corpus: valid files by codec, container, layout of tracks, timing and colour. */
import { aac, audio, GOOD, h264, plays, recipe, video, X264, soundOf } from './make-recipe.ts';
import type { AudioRecipe, Recipe, VideoRecipe } from './recipe.ts';
import { timing, tracks } from './timing-and-tracks.ts';

/** Video encoders, with their options and the containers that support them. */
const PICTURES: readonly (readonly [string, readonly string[], Partial<VideoRecipe>])[] = [
  ['libx264', ['mp4', 'mov', 'matroska', 'mpegts', 'avi', 'flv', 'ipod', '3gp'], { options: X264 }],
  [
    'libx265',
    ['mp4', 'mov', 'matroska', 'mpegts'],
    { options: { preset: 'ultrafast', crf: 12, 'x265-params': 'log-level=none' } },
  ],
  ['libvpx', ['webm', 'matroska', 'avi'], { options: { deadline: 'realtime', 'cpu-used': 8 } }],
  ['libvpx-vp9', ['webm', 'mp4', 'matroska'], { options: { deadline: 'realtime', 'cpu-used': 8 } }],
  ['libsvtav1', ['webm', 'mp4', 'matroska'], { options: { preset: 10, crf: 20, b: 0 } }],
  ['mpeg1video', ['vob', 'mpegts', 'mpeg'], { options: GOOD }],
  ['mpeg2video', ['vob', 'mpegts', 'mov', 'matroska', 'avi'], { options: GOOD }],
  ['mpeg4', ['mp4', 'avi', 'mov', 'matroska', '3gp'], { options: GOOD }],
  ['msmpeg4v2', ['avi', 'matroska'], { options: GOOD }],
  ['msmpeg4', ['avi', 'asf'], { options: GOOD }],
  ['flv', ['flv', 'avi'], { options: GOOD }],
  ['h263', ['3gp', 'avi'], { width: 352, height: 288, rate: '25/1', options: GOOD }],
  ['mjpeg', ['mov', 'avi', 'matroska'], { pixels: 'yuvj420p', options: GOOD }],
  ['prores_ks', ['mov', 'matroska'], { pixels: 'yuv422p10le' }],
  [
    'dnxhd',
    ['mov', 'matroska'],
    { pixels: 'yuv422p', width: 1280, height: 720, options: { b: '90M' } },
  ],
  ['libtheora', ['ogg', 'matroska'], { width: 320, height: 176 }],
  ['ffv1', ['matroska', 'avi', 'mov'], {}],
  ['dvvideo', ['mov', 'avi', 'matroska'], { width: 720, height: 576 }],
  ['png', ['mov', 'avi', 'matroska'], { pixels: 'rgb24' }],
  ['qtrle', ['mov'], { pixels: 'rgb24' }],
  ['rawvideo', ['mov', 'avi', 'matroska'], { pixels: 'yuv420p' }],
  ['v210', ['mov', 'avi'], { pixels: 'yuv422p10le' }],
  ['huffyuv', ['avi', 'matroska', 'mov'], { pixels: 'yuv422p' }],
  ['ffvhuff', ['avi', 'matroska'], { pixels: 'yuv420p' }],
  ['utvideo', ['avi', 'matroska', 'mov'], { pixels: 'yuv420p' }],
  ['cfhd', ['mov', 'avi'], { pixels: 'yuv422p10le', width: 320, height: 192 }],
  ['jpeg2000', ['mov', 'matroska'], { options: { b: '20M' } }],
  ['wmv1', ['asf', 'avi', 'matroska'], { options: GOOD }],
  ['wmv2', ['asf', 'avi', 'matroska'], { options: GOOD }],
];

const byPicture = PICTURES.flatMap(([encoder, formats, more]) =>
  formats.map((format) =>
    recipe(`${encoder} in ${format}`, format, [video(encoder, more), soundOf(format)]),
  ),
);

/** Audio encoders, combined with H.264. */
const SOUNDS: readonly (readonly [string, readonly string[], Partial<AudioRecipe>])[] = [
  ['aac', ['mp4', 'matroska', 'mpegts'], { sampleRate: 44_100 }],
  ['libmp3lame', ['mp4', 'matroska', 'mpegts', 'mov'], {}],
  ['mp2', ['matroska', 'mpegts', 'avi'], {}],
  ['ac3', ['mp4', 'matroska', 'mpegts', 'avi'], {}],
  ['eac3', ['mp4', 'matroska', 'mpegts'], {}],
  ['dca', ['matroska', 'mpegts'], { layout: '5.1(side)', options: { b: '768k' } }],
  ['truehd', ['matroska'], {}],
  ['mlp', ['matroska'], {}],
  ['libopus', ['mp4', 'matroska', 'mpegts'], {}],
  ['libvorbis', ['matroska'], {}],
  ['flac', ['mp4', 'matroska'], {}],
  ['alac', ['mov', 'mp4'], {}],
  ['wmav1', ['matroska', 'avi'], { sampleRate: 44_100 }],
  ['wmav2', ['matroska', 'avi'], { sampleRate: 44_100 }],
  ['wavpack', ['matroska'], {}],
  ['tta', ['matroska'], {}],
  ['pcm_s16le', ['mov', 'avi', 'matroska'], {}],
  ['pcm_s16be', ['mov'], {}],
  ['pcm_s24le', ['mov', 'matroska'], {}],
  ['pcm_s24be', ['mov'], {}],
  ['pcm_s32le', ['mov', 'matroska'], {}],
  ['pcm_s32be', ['mov'], {}],
  ['pcm_f32le', ['mov', 'matroska'], {}],
  ['pcm_f32be', ['mov'], {}],
  ['pcm_f64le', ['mov', 'matroska'], {}],
  ['pcm_u8', ['avi', 'mov'], {}],
  ['pcm_alaw', ['mov', 'avi'], { sampleRate: 8_000, layout: 'mono' }],
  ['pcm_mulaw', ['mov', 'avi'], { sampleRate: 8_000, layout: 'mono' }],
  ['adpcm_ms', ['avi'], { sampleRate: 44_100 }],
  ['adpcm_ima_wav', ['avi'], { sampleRate: 44_100 }],
  ['adpcm_ima_qt', ['mov'], { sampleRate: 44_100 }],
  ['nellymoser', ['flv'], { sampleRate: 44_100, layout: 'mono' }],
  ['adpcm_swf', ['flv'], { sampleRate: 44_100 }],
];
const bySound = SOUNDS.flatMap(([encoder, formats, more]) =>
  formats.map((format) =>
    recipe(`${encoder} beside H.264 in ${format}`, format, [h264(), audio(encoder, more)]),
  ),
);

/** Audio-only files. */
const soundAlone = (
  [
    ['aac', 'adts'],
    ['aac', 'ipod'],
    ['libmp3lame', 'mp3'],
    ['flac', 'flac'],
    ['libopus', 'ogg'],
    ['libvorbis', 'ogg'],
    ['pcm_s16le', 'wav'],
    ['pcm_f32le', 'wav'],
    ['pcm_mulaw', 'wav'],
    ['wmav2', 'asf'],
    ['ac3', 'mpegts'],
    ['libopus', 'webm'],
  ] as const
).map(([encoder, format]) => recipe(`${encoder} alone in ${format}`, format, [audio(encoder)]));

const layouts = ['mono', 'stereo', '5.1', '7.1'].flatMap((layout) =>
  [8_000, 22_050, 44_100, 48_000, 96_000].map((sampleRate) =>
    recipe(`${layout} of ${sampleRate} Hz`, 'matroska', [h264(), aac({ layout, sampleRate })]),
  ),
);

const rates = (
  [
    ['10/1', 10],
    ['12/1', 12],
    ['25/2', 12.5],
    ['15/1', 15],
    ['24000/1001', 23.976],
    ['24/1', 24],
    ['25/1', 25],
    ['30000/1001', 29.97],
    ['30/1', 30],
    ['50/1', 50],
    ['60000/1001', 59.94],
    ['60/1', 60],
    ['120/1', 120],
  ] as const
).flatMap(([rate, shown]) =>
  ['mp4', 'matroska', 'mpegts'].map((format) =>
    recipe(
      `${shown} frames a second in ${format}`,
      format,
      [h264({ rate, options: { ...X264, bf: 2, preset: 'veryfast' } }), aac()],
      plays({ rate: shown }),
    ),
  ),
);

const sizes = (
  [
    [16, 16],
    [64, 48],
    [176, 144],
    [180, 320],
    [318, 178],
    [480, 270],
    [640, 360],
    [360, 640],
    [720, 720],
    [1280, 720],
  ] as const
).map(([width, height]) =>
  recipe(
    `${width}x${height}`,
    'mp4',
    [h264({ width, height }), aac()],
    plays({ size: [width, height] }),
  ),
);

const colors = [
  recipe('BT.709', 'mp4', [h264({ color: 'bt709' }), aac()]),
  recipe('BT.601', 'mp4', [h264({ color: 'bt601' }), aac()]),
  recipe('full range', 'mp4', [h264({ color: 'full', pixels: 'yuvj420p' }), aac()]),
  ...(['pq', 'hlg'] as const).map((color) =>
    recipe(
      `HDR, ${color}`,
      'mp4',
      [
        video('libx265', {
          color,
          pixels: 'yuv420p10le',
          options: { preset: 'ultrafast', crf: 12, 'x265-params': 'log-level=none' },
        }),
        aac(),
      ],
      plays({ isComparable: false }),
    ),
  ),
  ...(
    [
      ['libx264', 'yuv420p10le', X264],
      ['libx264', 'yuv422p', X264],
      ['libx264', 'yuv444p', X264],
      ['libx264', 'yuv422p10le', X264],
      ['ffv1', 'yuv444p16le', {}],
      ['ffv1', 'gbrp10le', {}],
      ['ffv1', 'gray', {}],
      ['ffv1', 'yuva420p', {}],
      ['png', 'rgba', {}],
      ['png', 'rgb48be', {}],
      ['png', 'gray', {}],
      ['png', 'pal8', {}],
      ['qtrle', 'argb', {}],
      ['rawvideo', 'uyvy422', {}],
      ['rawvideo', 'yuyv422', {}],
      ['prores_ks', 'yuv444p10le', {}],
      ['huffyuv', 'rgb24', {}],
      ['utvideo', 'gbrp', {}],
    ] as const
  ).map(([encoder, pixels, options]) =>
    recipe(
      `${encoder} of ${pixels}`,
      encoder === 'ffv1' || encoder === 'libx264'
        ? 'matroska'
        : encoder === 'huffyuv' || encoder === 'utvideo'
          ? 'avi'
          : 'mov',
      [video(encoder, { pixels, options }), encoder === 'huffyuv' ? audio('libmp3lame') : aac()],
      plays({ isComparable: pixels !== 'pal8' }),
    ),
  ),
];

const shapes = [
  ...([90, 180, 270] as const).map((rotation) =>
    recipe(`turned by ${rotation}`, 'mp4', [h264({ rotation }), aac()]),
  ),
  ...(
    [
      [64, 45],
      [12, 11],
      [4, 3],
    ] as const
  ).map((aspect) => recipe(`pixels of ${aspect.join(':')}`, 'mp4', [h264({ aspect }), aac()])),
  recipe(
    'interlaced',
    'mpegts',
    [
      h264({
        height: 192,
        options: { ...X264, 'x264-params': 'tff=1' },
        filter: 'interlace=scan=tff',
        rate: '50/1',
      }),
      aac(),
    ],
    plays({ isComparable: false }),
  ),
];

/** Every valid file, each with a unique name. */
export const RECIPES: readonly Recipe[] = [
  ...byPicture,
  ...bySound,
  ...soundAlone,
  ...layouts,
  ...rates,
  ...sizes,
  ...colors,
  ...shapes,
  ...timing,
  ...tracks,
];
