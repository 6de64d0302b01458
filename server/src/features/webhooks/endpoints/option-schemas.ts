import { Type, type Static } from 'typebox';
import { Closed, Nullable, OneOf, Timestamp } from '../../../platform/http/schemas.ts';
import { secretQuery, secretValue } from '../../../platform/http/secret-fields.ts';
import { FilterSchema } from '../outbox/filter.ts';

const Text = (maxLength: number, description?: string) =>
  Type.String({ minLength: 1, maxLength, ...(description !== undefined && { description }) });
const Secret = Type.String({ ...secretValue, minLength: 1, maxLength: 4_096 });

const nats = {
  type: Type.Literal('nats'),
  subject: Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: '^[^\\s.*>]+(\\.[^\\s.*>]+)*$',
    description: 'Subject of a JetStream stream. `{event}` is replaced by the kind.',
    examples: ['reelfeed.{event}'],
  }),
  username: Type.Optional(Text(256)),
};
const rabbitmq = {
  type: Type.Literal('rabbitmq'),
  exchange: Type.Optional(
    Type.String({ maxLength: 255, description: 'Default: the default exchange.' }),
  ),
  routingKey: Text(255, '`{event}` is replaced by the kind.'),
  username: Type.Optional(Text(256)),
};
const s3 = {
  type: Type.Literal('s3'),
  bucket: Type.String({ pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$' }),
  region: Type.String({ pattern: '^[a-z0-9-]{1,64}$' }),
  prefix: Type.Optional(Type.String({ maxLength: 200, pattern: "^[A-Za-z0-9!_.*'()/=-]*$" })),
  accessKeyId: Text(256),
};
const httpsType = { type: Type.Literal('https') };

const Destination = Nullable(
  Type.Union(
    [
      Closed(httpsType),
      Closed({ ...nats, password: Type.Optional(Secret), token: Type.Optional(Secret) }),
      Closed({ ...rabbitmq, password: Type.Optional(Secret) }),
      Closed({ ...s3, secretAccessKey: Secret }),
    ],
    { description: 'Type of the destination. Default: an HTTPS endpoint.' },
  ),
);

const ShownDestination = Type.Union([
  Type.Object(httpsType),
  Type.Object(nats),
  Type.Object({ ...rabbitmq, exchange: Type.String() }),
  Type.Object({ ...s3, prefix: Type.String() }),
]);

const ClientCertificate = Nullable(
  Closed(
    {
      certificate: Text(32_768),
      key: Type.String({ ...secretValue, minLength: 1, maxLength: 16_384 }),
    },
    {
      description:
        'Client certificate for receivers that request one (mutual TLS), in PEM. The key is stored encrypted.',
    },
  ),
);

const ShownCertificate = Nullable(
  Type.Object({ subject: Type.String(), fingerprint: Type.String(), expiresAt: Timestamp }),
);

const oauth = {
  tokenUrl: Type.String({ ...secretQuery, minLength: 1, maxLength: 2_048 }),
  clientId: Text(512),
  scope: Type.Optional(Text(1_024)),
  audience: Type.Optional(Text(1_024)),
};

const RetrySchedule = Nullable(
  Type.Array(Type.Integer({ minimum: 0, maximum: 604_800 }), {
    minItems: 1,
    maxItems: 20,
    description:
      'Seconds before each attempt, counted from the end of the previous one; the first is 0. Null for the schedule of the service.',
    examples: [[0, 10, 60, 600]],
  }),
);

const timeoutAbout = 'Timeout of an attempt in seconds.';
const versionAbout =
  'Version of the body format; see the guide. A webhook keeps its version until it is changed.';
const overlapAbout = 'Seconds for which a previous secret also signs deliveries.';
const orderAbout =
  'With `contentId`, a delivery waits until earlier deliveries for the same item have finished.';
const signatureAbout =
  'With `ed25519`, deliveries also carry a signature that receivers verify with `publicKey`.';
const Customer = Type.String({ minLength: 1, maxLength: 128 });
const customerAbout = 'Id of your customer that the webhook belongs to, for the portal.';
const Emails = Type.Array(
  Type.String({ maxLength: 254, pattern: '^[^\\s@<>",;:]+@[^\\s@<>",;:]+$' }),
  {
    maxItems: 5,
    uniqueItems: true,
    description:
      'Email addresses to notify when the webhook keeps failing and when it is disabled.',
  },
);

/** Options in create and update requests; null means the default. */
export const optionFields = {
  filter: Type.Optional(FilterSchema),
  retrySchedule: Type.Optional(RetrySchedule),
  timeout: Type.Optional(
    Nullable(Type.Integer({ minimum: 1, maximum: 30, description: timeoutAbout })),
  ),
  payloadVersion: Type.Optional(
    Nullable(Type.Union([Type.Literal(1), Type.Literal(2)], { description: versionAbout })),
  ),
  rotationOverlap: Type.Optional(
    Nullable(Type.Integer({ minimum: 3_600, maximum: 604_800, description: overlapAbout })),
  ),
  orderedBy: Type.Optional(Nullable(OneOf(['contentId'] as const, orderAbout))),
  signature: Type.Optional(Nullable(OneOf(['hmac', 'ed25519'] as const, signatureAbout))),
  destination: Type.Optional(Destination),
  clientCertificate: Type.Optional(ClientCertificate),
  oauth: Type.Optional(
    Nullable(
      Closed(
        { ...oauth, clientSecret: Secret },
        {
          description:
            'OAuth client credentials: each delivery carries an access token from this server.',
        },
      ),
    ),
  ),
  notify: Type.Optional(Nullable(Emails)),
};

export type OptionChange = Static<ReturnType<typeof closedOptions>>;
const closedOptions = () => Closed(optionFields);

export const customerField = {
  customer: Type.Optional(Nullable(Type.String({ ...Customer, description: customerAbout }))),
};

export const shownOptions = {
  filter: FilterSchema,
  neverMatches: Type.Array(Type.String(), {
    description: 'Subscribed kinds whose events can never match the filter.',
  }),
  retrySchedule: RetrySchedule,
  timeout: Type.Integer({ description: timeoutAbout }),
  payloadVersion: Type.Integer({ description: versionAbout }),
  rotationOverlap: Type.Integer({ description: overlapAbout }),
  orderedBy: Nullable(OneOf(['contentId'] as const, orderAbout)),
  signature: OneOf(['hmac', 'ed25519'] as const, signatureAbout),
  publicKey: Nullable(
    Type.String({ description: 'Public key for verifying `ed25519` signatures.' }),
  ),
  destination: ShownDestination,
  clientCertificate: ShownCertificate,
  oauth: Nullable(Type.Object(oauth)),
  notify: Emails,
  customer: Nullable(Type.String({ description: customerAbout })),
};
