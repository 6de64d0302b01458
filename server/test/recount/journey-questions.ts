/** Requests for journey reports, each with the answer that a recount expects. */
import { dayMs } from '../../src/platform/values/time.ts';
import { variantOf } from './recount-experiment.ts';
import type { Is, SplitBy } from './recount-groups.ts';
import type { JourneyRecount } from './recount-journeys.ts';
import type { RecountedItem } from './recount.ts';

const today = Math.floor(Date.now() / dayMs) * dayMs;
export const startMs = today - 9 * dayMs;
const range = { from: startMs + dayMs, to: startMs + 6 * dayMs };
const asDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);
export const dates = { startDate: asDay(range.from), endDate: asDay(range.to - dayMs) };

type Asked = [path: string, body: object, expected: unknown];

/** Requests of each kind, with the answers of a recount. */
export function questions(
  recountOf: (only?: Is) => JourneyRecount,
  items: readonly RecountedItem[],
  experiment: string,
): Asked[] {
  const recount = recountOf();
  const device: SplitBy = (event) => event.device ?? '';
  const country: SplitBy = (event) => event.country ?? '';
  const appVersion: SplitBy = (event) => event.appVersion ?? '';
  const variant: SplitBy = ({ userId, deviceId }) =>
    variantOf(userId === undefined ? `device ${deviceId ?? ''}` : `user ${userId}`) ?? '';
  const ofItem =
    (name: 'author' | 'language'): SplitBy =>
    ({ contentId }) =>
      items.find(({ id }) => id === contentId)?.[name] ?? '';
  const kind =
    (name: string): Is =>
    ({ event }) =>
      event === name;
  const inGroup: Is = ({ contentId }) =>
    items.some(({ id, tags }) => id === contentId && tags.includes('group-1'));
  const dear: Is = (event) => kind('custom.purchase')(event) && Number(event.data['amount']) > 20;
  const any: Is = () => true;
  const kinds = (...names: string[]) => names.map((event) => ({ event }));
  const dearStep = {
    event: 'custom.purchase',
    where: [{ field: 'amount', operator: 'gt', value: 20 }],
  };
  const after = {
    before: false,
    steps: 3,
    byItem: false,
    exclude: ['watchProgress'],
    collapse: true,
  };
  const back = { before: true, steps: 2, byItem: true, exclude: [], collapse: false };
  const firstDays = {
    by: 'day',
    begins: any,
    returns: any,
    isNew: true,
    days: 1,
    periods: 4,
  } as const;
  return [
    [
      'funnels',
      { steps: kinds('impression', 'playStart', 'like'), breakdown: 'device' },
      recount.funnel(
        range,
        ['impression', 'playStart', 'like'],
        [kind('impression'), kind('playStart'), kind('like')],
        { split: device },
      ),
    ],
    [
      'funnels',
      {
        steps: [{ event: 'impression' }, { event: 'playStart', tag: 'group-1' }, dearStep],
        windowHours: 24,
        breakdown: 'country',
      },
      recount.funnel(
        range,
        ['impression', 'playStart', 'custom.purchase'],
        [kind('impression'), (event) => kind('playStart')(event) && inGroup(event), dear],
        { windowHours: 24, split: country },
      ),
    ],
    [
      'funnels',
      { steps: kinds('swipe', 'swipe', 'swipe', 'like'), breakdown: 'appVersion', windowHours: 1 },
      recount.funnel(
        range,
        ['swipe', 'swipe', 'swipe', 'like'],
        [kind('swipe'), kind('swipe'), kind('swipe'), kind('like')],
        { windowHours: 1, split: appVersion },
      ),
    ],
    [
      'paths',
      { anchor: { event: 'playStart' } },
      recount.paths(range, kind('playStart'), after, 10),
    ],
    [
      'paths',
      {
        anchor: { event: 'like', tag: 'group-1' },
        direction: 'before',
        steps: 2,
        byItem: true,
        exclude: [],
        collapse: false,
        limit: 20,
      },
      recount.paths(range, (event) => kind('like')(event) && inGroup(event), back, 20),
    ],
    [
      'funnels',
      {
        steps: kinds('impression', 'playStart', 'like'),
        breakdown: 'experimentVariant',
        experiment,
      },
      recount.funnel(
        range,
        ['impression', 'playStart', 'like'],
        [kind('impression'), kind('playStart'), kind('like')],
        { split: variant },
      ),
    ],
    [
      'funnels',
      {
        steps: kinds('playStart', 'share'),
        experiment,
        variant: 'more',
        country: 'de',
        breakdown: 'author',
        limit: 2,
      },
      recountOf((event) => variant(event) === 'more' && event.country === 'DE').funnel(
        range,
        ['playStart', 'share'],
        [kind('playStart'), kind('share')],
        { split: ofItem('author') },
        2,
      ),
    ],
    [
      'paths',
      {
        anchor: { event: 'playStart' },
        breakdown: 'experimentVariant',
        experiment,
        device: 'ios',
        limit: 2,
      },
      recountOf((event) => event.device === 'ios').paths(
        range,
        kind('playStart'),
        { ...after, split: variant },
        2,
      ),
    ],
    [
      'paths',
      {
        anchor: { event: 'like' },
        direction: 'before',
        steps: 2,
        byItem: true,
        exclude: [],
        collapse: false,
        breakdown: 'language',
      },
      recount.paths(range, kind('like'), { ...back, split: ofItem('language') }, 10),
    ],
    [
      'cohorts',
      { periods: 4, breakdown: 'experimentVariant', experiment },
      recount.cohorts(range, { ...firstDays, split: variant }, 10, Date.now()),
    ],
    [
      'cohorts',
      {
        by: 'tag',
        first: { event: 'playStart' },
        viewers: 'all',
        periods: 4,
        appVersion: '2.1.0',
        breakdown: 'country',
        limit: 2,
      },
      recountOf((event) => event.appVersion === '2.1.0').cohorts(
        range,
        { ...firstDays, by: 'tag', begins: kind('playStart'), isNew: false, split: country },
        2,
        Date.now(),
      ),
    ],
    [
      'custom',
      {
        events: { event: 'custom.purchase' },
        property: 'amount',
        breakdown: 'currency',
        experiment,
        variant: 'control',
      },
      recountOf((event) => variant(event) === 'control').custom(range, kind('custom.purchase'), {
        property: 'amount',
        breakdown: 'currency',
      }),
    ],
    ['cohorts', { periods: 4 }, recount.cohorts(range, firstDays, 10, Date.now())],
    [
      'cohorts',
      { by: 'event', viewers: 'all', granularity: 'week', periods: 2 },
      recount.cohorts(
        range,
        { ...firstDays, by: 'event', isNew: false, days: 7, periods: 2 },
        10,
        Date.now(),
      ),
    ],
    [
      'cohorts',
      { by: 'item', first: { event: 'playStart' }, returning: { event: 'like' }, limit: 5 },
      recount.cohorts(
        range,
        { ...firstDays, by: 'item', begins: kind('playStart'), returns: kind('like'), periods: 7 },
        5,
        Date.now(),
      ),
    ],
    [
      'cohorts',
      { by: 'tag', first: { event: 'playStart' }, returning: dearStep, viewers: 'all' },
      recount.cohorts(
        range,
        {
          ...firstDays,
          by: 'tag',
          begins: kind('playStart'),
          returns: dear,
          isNew: false,
          periods: 7,
        },
        10,
        Date.now(),
      ),
    ],
    [
      'custom',
      { events: { event: 'custom.purchase' }, property: 'amount', breakdown: 'currency' },
      recount.custom(range, kind('custom.purchase'), { property: 'amount', breakdown: 'currency' }),
    ],
    [
      'custom',
      { events: dearStep, property: 'amount', breakdown: 'currency' },
      recount.custom(range, dear, { property: 'amount', breakdown: 'currency' }),
    ],
  ];
}
