import { Type } from 'typebox';
import { Closed, Nullable, OneOf, Timestamp } from '../../../platform/http/schemas.ts';
import { halfLifeHours, maxExploration, objectives } from '../ranking/config.ts';
import { maxFactor } from '../ranking/editorial.ts';
import { bySignal, signalNames, signals } from '../ranking/signals/table.ts';

const weightFields = bySignal((name) => {
  const { label, description, maxWeight } = signals[name];
  return Type.Number({ minimum: 0, maximum: maxWeight, description: `${label}: ${description}.` });
});

const configFields = {
  objective: OneOf(
    objectives,
    'What a score says: `weights`, the weighted signals; `learned`, what a model expects the viewer to ' +
      'watch. Without an accepted model `learned` is as `weights`.',
  ),
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

/** The organization's model of watch time. */
const Model = Type.Object({
  state: OneOf(
    ['none', 'accepted', 'refused'] as const,
    '`learned` is used with an accepted model alone.',
  ),
  reason: Nullable(
    OneOf(
      ['not_trained', 'too_few_samples', 'too_few_pages', 'not_better', 'outdated'] as const,
      'Why the model is not used.',
    ),
  ),
  trainedAt: Nullable(Timestamp),
  samples: Type.Integer({ description: 'Impressions that it was trained on.' }),
  comparison: Nullable(
    Type.Object(
      {
        pages: Type.Integer(),
        weights: Type.Number(),
        learned: Type.Number(),
        interval: Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }),
      },
      {
        description:
          'Discounted gain of held-out pages under both, relative to their best order, and the 95 % interval of the difference.',
      },
    ),
  ),
});

export const CurrentConfig = Type.Object({
  model: Model,
  version: Type.Integer({ description: '0 before the first change.' }),
  ...Config.properties,
});

/**
 * Older console pages send back everything from the GET response, except the fields they know to
 * leave out.
 */
const readOnlyField = Type.Unknown({ description: 'Part of the answer. It is ignored here.' });

/** In comparisons, missing fields keep their current value; in a PUT they get the default. */
export const PartialConfig = Closed({
  weights: Type.Optional(Closed(Type.Partial(Type.Object(weightFields)).properties)),
  objective: Type.Optional(configFields.objective),
  recencyHalfLifeHours: Type.Optional(configFields.recencyHalfLifeHours),
  diversity: Type.Optional(configFields.diversity),
  exploration: Type.Optional(configFields.exploration),
  version: Type.Optional(readOnlyField),
  model: Type.Optional(readOnlyField),
});

export const RankingSignal = Type.Object({
  name: OneOf(signalNames),
  label: Type.String(),
  description: Type.String({ description: 'In a few words, after the label.' }),
  defaultWeight: Type.Number(),
  maxWeight: Type.Number(),
});

export const ConfigVersion = Type.Object({
  version: Type.Integer(),
  config: Config,
  keyId: Type.String({ description: 'The key that made it, or the person (`per_…`).' }),
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
          signals: Type.Object(bySignal(() => Type.Number())),
        }),
      ),
    }),
  ),
});
