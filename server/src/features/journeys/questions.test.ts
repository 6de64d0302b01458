/** Tests who may ask questions, what is rejected, and that nothing remains of an erased viewer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleEvent } from '../../../test/event-samples.ts';
import { createItem } from '../../../test/seed.ts';
import { startService } from '../../../test/service.ts';
import { until } from '../../../test/waiting.ts';

const service = await startService();
const ask = (question: string, body: object) =>
  service.call('POST', `/v1/analytics/${question}`, { body });
const steps = [{ event: 'impression' }, { event: 'like' }];

test('a key with only analytics access may ask', async () => {
  const made = await service.call('POST', '/v1/keys', {
    body: { type: 'secret', name: 'reader', scopes: ['analytics:read'] },
  });
  const { key } = made.body.data as { key: string };
  const call = (path: string, body: object) => service.call('POST', path, { key, body });
  assert.equal((await call('/v1/analytics/funnels', { steps })).status, 200);
  assert.equal((await call('/v1/analytics/alerts', {})).status, 403);
});

test('an unanswerable question is rejected with the invalid field', async () => {
  const wrong: [string, object, RegExp][] = [
    ['funnels', { steps: steps.slice(1) }, /steps/],
    ['funnels', { steps: Array.from({ length: 9 }, () => ({ event: 'like' })) }, /steps/],
    ['funnels', { steps, windowHours: 0 }, /windowHours/],
    ['funnels', { steps, breakdown: 'shoe size' }, /breakdown/],
    ['funnels', { steps, breakdown: 'experimentVariant' }, /experiment/],
    [
      'funnels',
      { steps, breakdown: 'experimentVariant', experiment: 'none' },
      /not the id of an experiment/,
    ],
    ['paths', { anchor: { event: 'like' }, country: 'XX' }, /country/],
    ['cohorts', { variant: 'control' }, /experiment/],
    ['funnels', { steps: [{ event: 'nothing' }, { event: 'like' }] }, /steps.*event|nothing/],
    ['funnels', { steps, startDate: '2026-02-30' }, /startDate/],
    ['funnels', { steps, startDate: '2024-01-01', endDate: '2026-01-01' }, /365 days/],
    ['paths', { anchor: { event: 'like' }, steps: 7 }, /steps/],
    ['paths', { anchor: {} }, /anchor|event/],
    ['cohorts', { by: 'weather' }, /by/],
    ['cohorts', { periods: 31 }, /periods/],
    ['custom', { events: { event: 'share' }, granularity: 'year' }, /granularity/],
    ['custom', {}, /events/],
  ];
  for (const [question, body, names] of wrong) {
    const { status, text } = await ask(question, body);
    assert.equal(status, 400, `${question} ${JSON.stringify(body)}: ${text}`);
    assert.match(text, names);
  }
});

test('the events of an erased viewer disappear from responses', async () => {
  const { id } = await createItem(service);
  const events = ['ada', 'ada', 'bob', 'bob'].map((userId) => ({
    ...sampleEvent('like', id),
    userId,
  }));
  const sent = await service.call('POST', '/v1/events/batch', { body: { events } });
  assert.equal(sent.body.data.received, 4);
  const likesOf = async () => {
    const { body } = await ask('custom', { events: { event: 'like' } });
    const { count, viewers } = body.data.summary as { count: number; viewers: number };
    return [count, viewers];
  };
  const become = (expected: number[]) =>
    until(
      `the likes to be ${expected.join(' by ')}`,
      likesOf,
      (found) => found.join() === expected.join(),
    );
  await become([4, 2]);
  const erased = await service.call('DELETE', '/v1/users/bob/data');
  assert.equal(erased.status, 200);
  await become([2, 1]);
});
