import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino, type Logger } from 'pino';
import { collectProcessMetrics } from './metrics-process.ts';
import { createMetrics } from './metrics.ts';
import { pause } from '../../../test/waiting.ts';

type Sample = { name: string; labels: Record<string, string>; value: number };
type Family = { type: string; help: string; samples: Sample[] };

const silent = pino({ level: 'silent' });

function keepingLogger(): { log: Logger; lines: string[] } {
  const lines: string[] = [];
  return { log: pino({ base: null }, { write: (line: string) => void lines.push(line) }), lines };
}

/** Parses the text format 0.0.4 by its grammar, and throws at the first invalid line. */
function parseExposition(text: string): Map<string, Family> {
  assert.ok(text.endsWith('\n'), 'the last line ends with a line feed');
  const families = new Map<string, Family>();
  let current: { name: string; family: Family } | null = null;
  let help = { name: '', text: '' };
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const helpLine = /^# HELP ([a-zA-Z_:][\w:]*) ((?:[^\\]|\\\\|\\n)*)$/.exec(line);
    const typeLine = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram)$/.exec(line);
    if (helpLine !== null) help = { name: helpLine[1] ?? '', text: helpLine[2] ?? '' };
    else if (typeLine !== null) {
      const name = typeLine[1] ?? '';
      assert.equal(help.name, name, 'help comes right before the type');
      assert.ok(!families.has(name), `${name} twice`);
      current = { name, family: { type: typeLine[2] ?? '', help: help.text, samples: [] } };
      families.set(name, current.family);
    } else {
      assert.ok(current !== null, `sample before a type: ${line}`);
      const sample = parseSample(line);
      const suffix = sample.name.slice(current.name.length);
      const allowed = current.family.type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
      assert.ok(sample.name.startsWith(current.name) && allowed.includes(suffix), line);
      current.family.samples.push(sample);
    }
  }
  for (const { samples } of families.values()) {
    const keys = samples.map(({ name, labels }) => JSON.stringify([name, labels]));
    assert.equal(new Set(keys).size, keys.length, 'no series appears twice');
  }
  return families;
}

function parseSample(line: string): Sample {
  const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
  assert.ok(match !== null, `no sample: ${line}`);
  const [, name = '', labelText = '', valueText = ''] = match;
  const labels: Record<string, string> = {};
  let rest = labelText;
  while (rest !== '') {
    const label = /^([a-zA-Z_]\w*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(?:,(?=.)|$)/.exec(rest);
    assert.ok(label !== null, `no label: ${rest}`);
    const unescaped = (label[2] ?? '').replaceAll(/\\(.)/g, (_, c) =>
      c === 'n' ? '\n' : String(c),
    );
    labels[label[1] ?? ''] = unescaped;
    rest = rest.slice(label[0].length);
  }
  assert.match(valueText, /^(Nan|[+-]Inf|-?\d+(\.\d+)?(e[+-]?\d+)?)$/);
  return {
    name,
    labels,
    value: Number(valueText.replace('Inf', 'Infinity').replace('Nan', 'NaN')),
  };
}

test('counters and gauges come out with their labels, values and escapes', async () => {
  const metrics = createMetrics(silent);
  const requests = metrics.counter({
    name: 'requests_total',
    help: 'Line one\nline two with a \\ in it.',
    labels: ['route', 'status'],
  });
  const hostile = 'a"b\\c\nd,e={}';
  requests.add(1, { route: '/v1/feed', status: '200' });
  requests.add(2, { status: '200', route: '/v1/feed' });
  requests.add(0.5, { route: hostile, status: '' });
  const depth = metrics.gauge({ name: 'queue_depth', help: 'Waiting jobs.' });
  const families = parseExposition(await metrics.expose());
  assert.equal(families.get('requests_total')?.help, 'Line one\\nline two with a \\\\ in it.');
  assert.deepEqual(families.get('requests_total')?.samples, [
    { name: 'requests_total', labels: { route: '/v1/feed', status: '200' }, value: 3 },
    { name: 'requests_total', labels: { route: hostile, status: '' }, value: 0.5 },
  ]);
  assert.deepEqual(families.get('queue_depth')?.samples, [
    { name: 'queue_depth', labels: {}, value: 0 },
  ]);
  for (const value of [-2.5, 1e21, 1e-9, Infinity, -Infinity, Number.NaN]) {
    depth.set(value);
    const [sample] = parseExposition(await metrics.expose()).get('queue_depth')?.samples ?? [];
    assert.equal(sample?.value, value);
  }
});

test('a histogram counts cumulatively up to infinity, which equals its count', async () => {
  const metrics = createMetrics(silent);
  const duration = metrics.histogram({
    name: 'duration_seconds',
    help: 'Time taken.',
    labels: ['route'],
    buckets: [0.1, 1, 10],
  });
  for (const value of [0.05, 0.1, 0.5, 5, 50, Number.NaN]) duration.observe(value, { route: '/' });
  const samples = parseExposition(await metrics.expose()).get('duration_seconds')?.samples;
  assert.deepEqual(
    samples?.map(({ name, labels, value }) => [
      name.slice(16),
      labels['le'],
      labels['route'],
      value,
    ]),
    [
      ['_bucket', '0.1', '/', 2],
      ['_bucket', '1', '/', 3],
      ['_bucket', '10', '/', 4],
      ['_bucket', '+Inf', '/', 5],
      ['_sum', undefined, '/', 55.65],
      ['_count', undefined, '/', 5],
    ],
  );
});

test('label sets beyond the bound are counted together, with one warning', async () => {
  const { log, lines } = keepingLogger();
  const metrics = createMetrics(log);
  const seen = metrics.counter({
    name: 'seen_total',
    help: 'Things.',
    labels: ['what', 'kind'],
    maxSeries: 3,
  });
  for (let index = 0; index < 100; index += 1) seen.add(1, { what: `${index}`, kind: 'x' });
  seen.add(1, { what: '0', kind: 'x' });
  const samples = parseExposition(await metrics.expose()).get('seen_total')?.samples ?? [];
  assert.deepEqual(
    samples.map(({ labels, value }) => [labels['what'], labels['kind'], value]),
    [
      ['0', 'x', 2],
      ['1', 'x', 1],
      ['2', 'x', 1],
      ['other', 'other', 97],
    ],
  );
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /seen_total/);
});

test('values found at scrape time appear; a collector that fails or hangs takes only itself away', async () => {
  const { log, lines } = keepingLogger();
  const metrics = createMetrics(log);
  let signalled = false;
  metrics.collected({ type: 'gauge', name: 'one', help: 'One.', collect: () => 1 });
  metrics.collected({
    type: 'gauge',
    name: 'depth',
    help: 'By queue.',
    labels: ['queue'],
    collect: async () => [
      { labels: { queue: 'a' }, value: 1 },
      { labels: { queue: 'b' }, value: 2 },
    ],
  });
  metrics.collected({
    type: 'gauge',
    name: 'broken',
    help: 'Throws.',
    collect: () => {
      throw new Error('database away');
    },
  });
  metrics.collected({
    type: 'gauge',
    name: 'hanging',
    help: 'Never answers.',
    collect: (signal) => {
      signal.addEventListener('abort', () => (signalled = true));
      return new Promise(() => undefined);
    },
  });
  const startedAt = performance.now();
  const families = parseExposition(await metrics.expose());
  assert.ok(performance.now() - startedAt < 3_000);
  assert.equal(families.get('one')?.samples[0]?.value, 1);
  assert.deepEqual(
    families.get('depth')?.samples.map(({ labels, value }) => [labels['queue'], value]),
    [
      ['a', 1],
      ['b', 2],
    ],
  );
  assert.deepEqual(families.get('broken')?.samples, []);
  assert.deepEqual(families.get('hanging')?.samples, []);
  assert.ok(signalled);
  assert.equal(lines.length, 2);
});

test('invalid definitions and decreasing counters are rejected', () => {
  const metrics = createMetrics(silent);
  const help = 'Help.';
  const total = metrics.counter({ name: 'a_total', help });
  assert.throws(() => total.add(-1), RangeError);
  assert.throws(() => total.add(Number.NaN), RangeError);
  assert.throws(() => metrics.counter({ name: 'a_total', help }), /exists/);
  assert.throws(() => metrics.counter({ name: 'a', help }), /_total/);
  assert.throws(() => metrics.gauge({ name: 'b_total', help }), /_total/);
  assert.throws(() => metrics.gauge({ name: 'B-c', help }), /invalid/);
  assert.throws(() => metrics.gauge({ name: 'b', help, labels: ['a b'] }), /invalid/);
  assert.throws(() => metrics.histogram({ name: 'c', help, labels: ['le'] }), /invalid/);
  assert.throws(() => metrics.histogram({ name: 'd', help, buckets: [1, 1] }), /ascend/);
});

test('the process reports its memory, CPU, descriptors and event loop delay', async () => {
  const metrics = createMetrics(silent);
  using _measuring = collectProcessMetrics(metrics, '1.2.3');
  await pause(100, 'the loop is measured');
  const stall = performance.now() + 200;
  while (performance.now() < stall);
  await pause(50, 'the stall is measured');
  const families = parseExposition(await metrics.expose());
  const value = (name: string, quantile?: string): number => {
    const samples = families.get(name)?.samples ?? [];
    const found = samples.find(({ labels }) => labels['quantile'] === quantile);
    assert.ok(found !== undefined, name);
    return found.value;
  };
  assert.ok(value('process_resident_memory_bytes') > 10e6);
  assert.ok(value('process_uptime_seconds') > 0);
  assert.ok(Math.abs(value('process_start_time_seconds') - Date.now() / 1_000) < 3_600);
  assert.ok(value('nodejs_active_resources') >= 0);
  if (process.platform === 'linux') assert.ok(value('process_open_fds') > 3);
  const lag = value('nodejs_eventloop_lag_seconds', '1');
  assert.ok(lag > 0.1 && lag < 2, `${lag}`);
  assert.equal(families.get('nodejs_memory_bytes')?.samples.length, 4);
  assert.equal(families.get('process_cpu_seconds_total')?.samples.length, 2);
  assert.deepEqual(families.get('build_info')?.samples[0]?.labels, {
    version: '1.2.3',
    node: process.version,
  });
  const later = parseExposition(await metrics.expose()).get('nodejs_eventloop_lag_seconds');
  assert.ok(
    later?.samples.every((sample) => sample.value < 0.1),
    'each scrape starts over',
  );
});
