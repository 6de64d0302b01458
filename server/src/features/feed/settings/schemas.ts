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
    'How scores are computed: `weights` from the weighted signals; `learned` from what a model predicts the viewer will ' +
      'watch. Without an accepted model, `learned` behaves like `weights`.',
  ),
  recencyHalfLifeHours: Type.Number({
    minimum: halfLifeHours.least,
    maximum: halfLifeHours.most,
    description: 'Hours after which the recency of an item is halved.',
  }),
  diversity: Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'Strength of the penalty for items that are similar to their neighbours.',
  }),
  exploration: Type.Number({
    minimum: 0,
    maximum: maxExploration,
    description: 'Share of positions given to items that few viewers have seen yet.',
  }),
};

const Config = Type.Object({
  weights: Type.Object(weightFields, {
    description: 'Weights are relative: score = Σ weight·signal / Σ weight.',
  }),
  ...configFields,
});

/** The organization's model of watch time. */
const Model = Type.Object({
  state: OneOf(
    ['none', 'accepted', 'refused'] as const,
    '`learned` takes effect only with an accepted model.',
  ),
  reason: Nullable(
    OneOf(
      ['not_trained', 'too_few_samples', 'too_few_pages', 'not_better', 'outdated'] as const,
      'Why the model is not used.',
    ),
  ),
  trainedAt: Nullable(Timestamp),
  samples: Type.Integer({ description: 'Number of impressions that the model was trained on.' }),
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
          'Normalized discounted cumulative gain on held-out pages under both objectives, and the 95 % interval of the difference.',
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
const readOnlyField = Type.Unknown({ description: 'Part of the response, ignored in requests.' });

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
  description: Type.String({ description: 'A short explanation shown after the label.' }),
  defaultWeight: Type.Number(),
  maxWeight: Type.Number(),
});

export const ConfigVersion = Type.Object({
  version: Type.Integer(),
  config: Config,
  keyId: Type.String({ description: 'The key or the person (`per_…`) that created it.' }),
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
        description: 'Items with any of these tags.',
      }),
    ),
    author: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    section: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  },
  { minProperties: 1, description: 'All given conditions must match.' },
);

const Factor = Type.Number({
  exclusiveMinimum: 0,
  maximum: maxFactor,
  description: 'Factor by which the score is multiplied: above 1 for a boost, below 1 to suppress.',
});
const Position = Type.Integer({
  minimum: 0,
  maximum: 999,
  description: 'Position in the feed session, starting at 0. Only for pins.',
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
    description: 'Each is merged over the current configuration; {} is the current configuration.',
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
