import { Type } from 'typebox';
import { secretValue } from '../../platform/http/secret-fields.ts';
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts';
import { NewContentMetadata } from '../content/content.ts';
import { healthWarnings, type HealthWarning } from './ingest/stream-meter.ts';
import { maxTargets } from './simulcast/targets.ts';
import { latencies, liveStatuses, targetStatuses } from './tables.ts';

export const NewSimulcastTarget = Closed({
  url: Type.String({
    minLength: 1,
    maxLength: 2_048,
    description:
      'rtmp:// or rtmps://, as the service that takes the broadcast names it, without a query: it is shown to everybody who may see the stream.',
    examples: ['rtmps://live.example.com/app'],
  }),
  streamKey: Type.String({
    minLength: 1,
    maxLength: 1_024,
    ...secretValue,
    description: 'Stored encrypted; it is never shown again.',
  }),
  name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'The host where it is left out.' }),
  ),
});

export const SimulcastTarget = Type.Object(
  {
    id: Type.String({ examples: ['sct_01jd0000000000000000000000'] }),
    name: Type.String(),
    url: Type.String(),
    keyEnd: Type.String({
      description: 'The last four characters of the key; empty for a short one.',
    }),
    status: OneOf(targetStatuses, '`idle` while nobody publishes.'),
    message: Nullable(Type.String({ description: 'Why it failed, in a sentence.' })),
  },
  { title: 'SimulcastTarget' },
);

export const NewLiveStream = Closed({
  ...NewContentMetadata.properties,
  reconnectWindow: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1800,
      default: 60,
      description: 'Seconds for which the stream stays active without a publisher.',
    }),
  ),
  dvrWindow: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 43_200,
      default: 0,
      description:
        'Seconds by which viewers can go back during the broadcast. They always have the latest eight segments.',
    }),
  ),
  simulcastTargets: Type.Optional(
    Type.Array(NewSimulcastTarget, {
      maxItems: maxTargets,
      description: 'Servers to which the broadcast is passed on as it is.',
    }),
  ),
  latency: Type.Optional(
    OneOf(
      latencies,
      '`low` (the default): players that speak low-latency HLS are two to three seconds behind. `normal`: ' +
        'about seven, with a quarter of the requests.',
    ),
  ),
});

const id = Type.String({ examples: ['lst_01jd0000000000000000000000'] });
const status = OneOf(
  liveStatuses,
  '`idle` until the first key frame of a publisher with the right key; `ended` is final.',
);
const currentViewers = Type.Integer({
  description: 'Viewers with a `playStart` or `watchProgress` in the last 45 seconds.',
});

const Health = Type.Object(
  {
    bitrate: Type.Integer({ description: 'Bits per second, over the last five seconds.' }),
    frameRate: Type.Number({ description: 'Pictures per second, over the last five seconds.' }),
    keyFrameInterval: Nullable(
      Type.Number({ description: 'Seconds between the latest two key frames.' }),
    ),
    clockJumps: Type.Integer({
      description: 'How often the timestamps of this connection have jumped.',
    }),
    warnings: Type.Array(
      Type.Object({
        code: OneOf(Object.keys(healthWarnings) as HealthWarning[]),
        message: Type.String(),
      }),
      { description: 'What the owner of the encoder should look at.' },
    ),
    renditions: Type.Array(
      Type.Object({
        name: Type.String({ description: 'The short side that it stands for.', examples: ['360'] }),
        width: Type.Integer(),
        height: Type.Integer(),
        state: OneOf(
          ['live', 'dropped'] as const,
          '`dropped`: this machine is too slow for it, or could not make it.',
        ),
      }),
      { description: 'The renditions that are made below the one of the encoder.' },
    ),
  },
  { description: 'How the publisher does. Null while none is connected.' },
);

const fields = {
  id,
  contentId: Type.String({ format: 'uuid', description: 'The item that shows it.' }),
  title: Type.String(),
  status,
  isConnected: Type.Boolean({ description: 'Whether a publisher is connected at this moment.' }),
  currentViewers,
  reconnectWindow: Type.Integer({ description: 'Seconds.' }),
  dvrWindow: Type.Integer({ description: 'Seconds.' }),
  latency: OneOf(latencies),
  rtmpUrl: Nullable(
    Type.String({
      description: 'Where an encoder publishes, under the name of the key. Null: not here.',
    }),
  ),
  rtmpsUrl: Nullable(
    Type.String({ description: 'The same by TLS. Null: `REELFEED_RTMPS_PORT` is not set.' }),
  ),
  srtUrl: Nullable(
    Type.String({
      description:
        'Where encoders publish by SRT, with the stream key as the stream id (`?streamid=`). Null: `REELFEED_SRT_PORT` is not set.',
    }),
  ),
  recordedSeconds: Type.Number({ description: 'Length of what was published so far.' }),
  health: Nullable(Health),
  simulcastTargets: Type.Array(SimulcastTarget),
  disconnects: Type.Integer({ description: 'How often a publisher has gone away so far.' }),
  createdAt: Timestamp,
  startedAt: Nullable(Timestamp),
  endedAt: Nullable(Timestamp),
};

export const LiveStream = Type.Object(fields, { title: 'LiveStream' });

export const LiveStreamWithKey = Type.Object({
  ...fields,
  streamKey: Type.String({
    ...secretValue,
    description: 'In this answer alone; it is never shown again.',
  }),
});

export const LiveStreamState = Type.Object({
  id,
  contentId: Type.String({ format: 'uuid' }),
  status,
  isLive: Type.Boolean({ description: 'Whether it is `active`.' }),
  currentViewers,
  startedAt: Nullable(Timestamp),
  endedAt: Nullable(Timestamp),
});
