/** Valid files by the timing and the layout of their tracks. */
import { aac, audio, h264, plays, recipe, refused, video, soundOf, X264 } from './make-recipe.ts';

export const timing = [
  recipe('sound 0.4 s late', 'mp4', [h264(), aac({ delaySeconds: 0.4 })], plays({ seconds: 2.4 })),
  recipe(
    'picture 0.4 s late',
    'mp4',
    [h264({ delaySeconds: 0.4 }), aac()],
    plays({ seconds: 2.4 }),
  ),
  recipe(
    'sound 0.4 s late in Matroska',
    'matroska',
    [h264(), aac({ delaySeconds: 0.4 })],
    plays({ seconds: 2.4 }),
  ),
  recipe(
    'sound 0.4 s late in TS',
    'mpegts',
    [h264(), aac({ delaySeconds: 0.4 })],
    plays({ seconds: 2.4 }),
  ),
  recipe('starts at 10 s in Matroska', 'matroska', [h264(), aac()], plays(), { offsetSeconds: 10 }),
  recipe('starts at 3600 s in Matroska', 'matroska', [h264(), aac()], plays(), {
    offsetSeconds: 3_600,
  }),
  recipe('starts at 1000 s in TS', 'mpegts', [h264(), aac()], plays(), { offsetSeconds: 1_000 }),
  recipe(
    'TS around the wrap of its clock',
    'mpegts',
    [h264({ seconds: 4 }), aac({ seconds: 4 })],
    plays({ seconds: 4 }),
    { offsetSeconds: 95_441.7 },
  ),
  ...[0, 20, 100, 5_000].map((offsetSeconds) =>
    recipe(
      `two recordings in TS, the second at ${offsetSeconds} s`,
      'mpegts',
      [h264(), aac()],
      plays({ seconds: 4, warning: 'CLOCK_JUMPS', isComparable: false }),
      { edit: { type: 'append', offsetSeconds }, offsetSeconds: 0 },
    ),
  ),
  recipe(
    'TS from the middle of a packet',
    'mpegts',
    [h264({ options: { ...X264, g: 5 } }), aac()],
    plays({ isComparable: false }),
    { edit: { type: 'drop-start', bytes: 100 } },
  ),
  recipe('ADTS behind a short ID3 tag', 'adts', [aac()], plays(), {
    edit: { type: 'id3', bytes: 73 },
  }),
  recipe('ADTS behind a long ID3 tag', 'adts', [aac()], plays(), {
    edit: { type: 'id3', bytes: 20_000 },
  }),
  recipe('MP3 behind a long ID3 tag', 'mp3', [audio('libmp3lame')], plays(), {
    options: { id3v2_version: 0 },
    edit: { type: 'id3', bytes: 20_000 },
  }),
  recipe('varying rate', 'mp4', [h264({ filter: 'select=not(mod(n\\,3))+gt(n\\,30)' }), aac()]),
  recipe('varying rate in Matroska', 'matroska', [
    h264({ filter: 'select=not(mod(n\\,3))+gt(n\\,30)' }),
    aac(),
  ]),
  recipe('B frames', 'mp4', [h264({ options: { preset: 'veryfast', crf: 12, bf: 3 } }), aac()]),
  recipe('B frames in AVI', 'avi', [
    h264({ options: { preset: 'veryfast', crf: 12, bf: 2 } }),
    audio('libmp3lame'),
  ]),
  recipe('fragments', 'mp4', [h264(), aac()], plays(), {
    options: { movflags: '+frag_keyframe+empty_moov+default_base_moof' },
  }),
  recipe('fragments of every frame', 'mp4', [h264(), aac()], plays(), {
    options: { movflags: '+frag_every_frame+empty_moov' },
  }),
  recipe('index at the start', 'mp4', [h264(), aac()], plays(), {
    options: { movflags: '+faststart' },
  }),
  recipe('sound longer than picture', 'mp4', [h264(), aac({ seconds: 4 })], plays({ seconds: 4 })),
  recipe('picture longer than sound', 'mp4', [h264({ seconds: 4 }), aac()], plays({ seconds: 4 })),
  recipe(
    'picture longer than sound in Matroska',
    'matroska',
    [h264({ seconds: 4 }), aac()],
    plays({ seconds: 4 }),
  ),
  recipe(
    'a jingle before a long silent picture',
    'mp4',
    [h264({ seconds: 130, width: 64, height: 48, rate: '10/1' }), aac({ seconds: 4 })],
    plays({ seconds: 130 }),
  ),
  recipe(
    'sound that starts after two minutes',
    'matroska',
    [
      h264({ seconds: 130, width: 64, height: 48, rate: '10/1' }),
      aac({ seconds: 4, delaySeconds: 125 }),
    ],
    plays({ seconds: 130 }),
  ),
];

export const tracks = [
  recipe('no sound', 'mp4', [h264()], plays({ hasSound: false })),
  recipe('no sound in TS', 'mpegts', [h264()], plays({ hasSound: false })),
  recipe('sound first', 'mp4', [aac(), h264()]),
  ...['mp4', 'matroska', 'mpegts'].map((format) =>
    recipe(`a second language that is longer in ${format}`, format, [
      h264(),
      aac({ language: 'eng', isDefault: true }),
      aac({ language: 'deu', seconds: 20 }),
    ]),
  ),
  recipe('other languages that are shorter, later and much longer', 'matroska', [
    h264(),
    aac({ language: 'eng', isDefault: true }),
    aac({ language: 'deu', seconds: 1.5 }),
    aac({ language: 'fra', delaySeconds: 0.4 }),
    aac({ language: 'spa', delaySeconds: 0.4, seconds: 60 }),
  ]),
  recipe('a subtitle far behind the end', 'matroska', [
    h264(),
    aac(),
    {
      kind: 'subtitle',
      codec: 'subrip',
      cues: [
        [0.5, 1],
        [40, 2],
      ],
    },
  ]),
  recipe('a subtitle in MP4', 'mp4', [
    h264(),
    aac(),
    {
      kind: 'subtitle',
      codec: 'mov_text',
      cues: [
        [0.5, 1],
        [5, 2],
      ],
    },
  ]),
  recipe(
    'two pictures, the small one is the default',
    'matroska',
    [h264({ width: 640, height: 360 }), h264({ isDefault: true }), aac()],
    plays({ size: [320, 180] }),
  ),
  recipe('two sounds, the first can not be decoded', 'matroska', [
    h264(),
    audio('g722', { sampleRate: 16_000, layout: 'mono' }),
    aac(),
  ]),
  recipe(
    'sound that can not be decoded',
    'mpegts',
    [h264(), audio('s302m')],
    plays({ hasSound: false, warning: 'SOUND_NOT_SUPPORTED' }),
  ),
  recipe(
    'sound that can not be decoded, alone',
    'wav',
    [audio('g722', { sampleRate: 16_000, layout: 'mono' })],
    refused('g722'),
  ),
  ...(
    [
      ['snow', 'matroska', 'yuv420p', 'snow'],
      ['svq1', 'mov', 'yuv410p', 'svq1'],
      ['magicyuv', 'avi', 'yuv420p', 'magicyuv'],
      ['zmbv', 'avi', 'bgr0', 'zmbv'],
      ['flashsv', 'flv', 'bgr24', 'flashsv'],
    ] as const
  ).map(([encoder, format, pixels, names]) =>
    recipe(
      `${encoder}, which is not supported`,
      format,
      [video(encoder, { pixels }), soundOf(format)],
      refused(names),
    ),
  ),
  recipe(
    'Dolby Vision profile 5',
    'mp4',
    [
      video('libx265', {
        pixels: 'yuv420p10le',
        doviProfile: 5,
        tag: 'dvh1',
        options: { preset: 'ultrafast', 'x265-params': 'log-level=none' },
      }),
      aac(),
    ],
    refused('profile 5'),
    { options: { strict: 'unofficial' } },
  ),
  recipe(
    'animated GIF',
    'gif',
    [video('gif', { pixels: 'rgb8', rate: '10/1' })],
    plays({ hasSound: false, isComparable: false }),
  ),
  recipe(
    'animated WebP',
    'webp',
    [video('libwebp_anim', { pixels: 'bgra', rate: '10/1', options: { lossless: 1 } })],
    plays({ hasSound: false }),
  ),
];
