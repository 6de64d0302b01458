import { Type } from 'typebox';
import { Closed, Nullable, OneOf, Timestamp } from '../../../platform/http/schemas.ts';
import { halfLifeHours, maxExploration } from '../ranking/config.ts';
import { maxFactor } from '../ranking/editorial.ts';
import { maxWeight, signalNames } from '../ranking/weights.ts';

const weight = Type.Number({ minimum: 0, maximum: maxWeight });

const weightFields = Object.fromEntries(signalNames.map((name) => [name, weight])) as Record<
  (typeof signalNames)[number],
  typeof weight
>;

const configFields = {
  recencyHalfLifeHours: Type.Number({
    minimum: halfLifeHours.least,
    maximum: halfLifeHours.most,
    description: 'After so many hours an item counts half as new.',
  }),
  diversity: Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'How much an item loses that is about the same as its neighbours.',
  }),
  exploration: Type.Number({
    minimum: 0,
    maximum: maxExploration,
    description: 'Share of places for items that few viewers have met yet.',
  }),
};

export const Config = Type.Object({
  weights: Type.Object(weightFields, {
    description: 'They are compared with each other: score = Σ weight·signal / Σ weight.',
  }),
  ...configFields,
});

export const CurrentConfig = Type.Object({
  version: Type.Integer({ description: '0 before the first change.' }),
  ...Config.properties,
});

/** What is left out stays as it is where a configuration is compared, and is the default in a PUT. */
export const PartialConfig = Closed({
  weights: Type.Optional(Closed(Type.Partial(Type.Object(weightFields)).properties)),
  recencyHalfLifeHours: Type.Optional(configFields.recencyHalfLifeHours),
  diversity: Type.Optional(configFields.diversity),
  exploration: Type.Optional(configFields.exploration),
});

export const ConfigVersion = Type.Object({
  version: Type.Integer(),
  config: Config,
  keyId: Type.String({ description: 'The key that made it.' }),
  createdAt: Timestamp,
});

export const VersionParams = Type.Object({ version: Type.String({ maxLength: 20 }) });

const ruleTypes = ['boost', 'suppress', 'pin', 'exclude'] as const;
const maxRuleTags = 50;

const Match = Closed(
  {
    contentId: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    tags: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        minItems: 1,
        maxItems: maxRuleTags,
        description: 'Any of them.',
      }),
    ),
    author: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    section: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  },
  { minProperties: 1, description: 'All that is named must match.' },
);

const Factor = Type.Number({
  exclusiveMinimum: 0,
  maximum: maxFactor,
  description: 'What the order takes the score times: above 1 for a boost, below 1 to suppress.',
});
const Position = Type.Integer({
  minimum: 0,
  maximum: 999,
  description: 'The place in the session, from 0. For pins.',
});

export const NewRule = Closed({
  type: OneOf(ruleTypes),
  match: Match,
  factor: Type.Optional(Factor),
  position: Type.Optional(Position),
  startsAt: Type.Optional(Nullable(Timestamp)),
  endsAt: Type.Optional(Nullable(Timestamp)),
});

export const RuleChange = Closed(
  {
    type: Type.Optional(OneOf(ruleTypes)),
    match: Type.Optional(Match),
    factor: Type.Optional(Nullable(Factor)),
    position: Type.Optional(Nullable(Position)),
    startsAt: Type.Optional(Nullable(Timestamp)),
    endsAt: Type.Optional(Nullable(Timestamp)),
  },
  { minProperties: 1 },
);

export const Rule = Type.Object({
  id: Type.String(),
  type: OneOf(ruleTypes),
  match: Type.Object(Match.properties),
  factor: Nullable(Type.Number()),
  position: Nullable(Type.Integer()),
  startsAt: Nullable(Timestamp),
  endsAt: Nullable(Timestamp),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

export const DeletedRule = Type.Object({ id: Type.String(), deleted: Type.Literal(true) });

export const maxPreviewItems = 50;

export const Preview = Closed({
  userId: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  deviceId: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxPreviewItems, default: 20 })),
  configs: Type.Array(PartialConfig, {
    minItems: 1,
    maxItems: 2,
    description: 'Each over the current configuration; {} is the current one.',
  }),
});

export const PreviewAnswer = Type.Object({
  feeds: Type.Array(
    Type.Object({
      config: Config,
      items: Type.Array(
        Type.Object({
          contentId: Type.String(),
          title: Type.String(),
          score: Type.Number(),
          signals: Type.Object(
            Object.fromEntries(signalNames.map((name) => [name, Type.Number()])),
          ),
        }),
      ),
    }),
  ),
});
