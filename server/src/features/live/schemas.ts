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
      'An rtmp:// or rtmps:// URL as given by the receiving service, without a query string: anyone who may see the stream also sees this URL.',
    examples: ['rtmps://live.example.com/app'],
  }),
  streamKey: Type.String({
    minLength: 1,
    maxLength: 1_024,
    ...secretValue,
    description: 'Stored encrypted and never shown again.',
  }),
  name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'Default: the host.' }),
  ),
});

export const SimulcastTarget = Type.Object(
  {
    id: Type.String({ examples: ['sct_01jd0000000000000000000000'] }),
    name: Type.String(),
    url: Type.String(),
    keyEnd: Type.String({
      description: 'The last four characters of the key; empty for a short key.',
    }),
    status: OneOf(targetStatuses, '`idle` while there is no publisher.'),
    message: Nullable(Type.String({ description: 'Why the connection failed.' })),
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
        'How many seconds viewers can seek back during the broadcast. The latest eight segments are always available.',
    }),
  ),
  simulcastTargets: Type.Optional(
    Type.Array(NewSimulcastTarget, {
      maxItems: maxTargets,
      description: 'Servers to which the broadcast is relayed unchanged.',
    }),
  ),
  latency: Type.Optional(
    OneOf(
      latencies,
      '`low` (the default): players that support low-latency HLS are two to three seconds behind. `normal`: ' +
        'about seven seconds behind, with a quarter of the requests.',
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
    bitrate: Type.Integer({
      description: 'Bit rate over the last five seconds, in bits per second.',
    }),
    frameRate: Type.Number({ description: 'Frame rate over the last five seconds.' }),
    keyFrameInterval: Nullable(
      Type.Number({ description: 'Seconds between the last two key frames.' }),
    ),
    clockJumps: Type.Integer({
      description: 'Number of timestamp jumps in this connection.',
    }),
    warnings: Type.Array(
      Type.Object({
        code: OneOf(Object.keys(healthWarnings) as HealthWarning[]),
        message: Type.String(),
      }),
      { description: 'Problems that the operator of the encoder should fix.' },
    ),
    renditions: Type.Array(
      Type.Object({
        name: Type.String({
          description: 'The nominal short side of the picture.',
          examples: ['360'],
        }),
        width: Type.Integer(),
        height: Type.Integer(),
        state: OneOf(
          ['live', 'dropped'] as const,
          '`dropped`: the server is too slow to make it, or making it failed.',
        ),
      }),
      { description: 'The renditions made in addition to that of the encoder.' },
    ),
  },
  { description: 'Health of the publisher. Null if none is connected.' },
);

const fields = {
  id,
  contentId: Type.String({ format: 'uuid', description: 'The content item of the stream.' }),
  title: Type.String(),
  status,
  isConnected: Type.Boolean({ description: 'Whether a publisher is currently connected.' }),
  currentViewers,
  reconnectWindow: Type.Integer({ description: 'Seconds.' }),
  dvrWindow: Type.Integer({ description: 'Seconds.' }),
  latency: OneOf(latencies),
  rtmpUrl: Nullable(
    Type.String({
      description:
        'Where an encoder publishes, using the stream key as the stream name. Null if RTMP is off.',
    }),
  ),
  rtmpsUrl: Nullable(
    Type.String({ description: 'The same with TLS. Null if `REELFEED_RTMPS_PORT` is not set.' }),
  ),
  srtUrl: Nullable(
    Type.String({
      description:
        'Where encoders publish over SRT, with the stream key as the stream id (`?streamid=`). Null if `REELFEED_SRT_PORT` is not set.',
    }),
  ),
  recordedSeconds: Type.Number({ description: 'Seconds published so far.' }),
  health: Nullable(Health),
  simulcastTargets: Type.Array(SimulcastTarget),
  disconnects: Type.Integer({ description: 'Number of times that a publisher has disconnected.' }),
  createdAt: Timestamp,
  startedAt: Nullable(Timestamp),
  endedAt: Nullable(Timestamp),
};

export const LiveStream = Type.Object(fields, { title: 'LiveStream' });

export const LiveStreamWithKey = Type.Object({
  ...fields,
  streamKey: Type.String({
    ...secretValue,
    description: 'Shown only in this response.',
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
