/** Clients that use the service during faults. Each records what was acknowledged. */
import { setTimeout as delay } from 'node:timers/promises';
import { sampleEvent } from '../event-samples.ts';
import { publish } from '../live-publisher.ts';
import type { Answer, Requests } from './requests.ts';

/** The requests that the service has acknowledged. */
export type Journal = {
  items: Set<string>;
  events: Set<string>;
  sentEvents: Set<string>;
  jobs: Set<string>;
  exports: Set<string>;
  experiments: Set<string>;
  started: Set<string>;
  /** The last acknowledged and the last sent value of the setting. */
  setting: { acknowledged: number; sent: number };
};

export const newJournal = (): Journal => ({
  items: new Set(),
  events: new Set(),
  sentEvents: new Set(),
  jobs: new Set(),
  exports: new Set(),
  experiments: new Set(),
  started: new Set(),
  setting: { acknowledged: 0, sent: 0 },
});

export type ClientParts = {
  requests: Requests;
  journal: Journal;
  contentIds: readonly string[];
  clip: Uint8Array;
  live: { rtmpPort: number; streamKey: string };
  signal: AbortSignal;
};

type Client = (parts: ClientParts) => Promise<void>;

async function repeat(signal: AbortSignal, pauseMs: number, turn: (n: number) => Promise<void>) {
  for (let n = 0; !signal.aborted; n += 1) {
    await turn(n);
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

const reports = [
  ...['overview', 'overview?granularity=hour', 'engagement', 'quality', 'audience', 'content'],
  ...['retention', 'sources', 'movers', 'overview?device=ios', 'engagement?segment=tag'],
];

const dashboard: Client = ({ requests, signal }) =>
  repeat(signal, 100, async (n) => {
    await requests.send('dashboard', 'GET', `/v1/analytics/${reports[n % reports.length]}`);
  });

const lists = [
  ...['/v1/content', '/v1/webhooks', '/v1/keys', '/v1/audit', '/v1/experiments', '/v1/exports'],
  ...['/v1/content/bulk/jobs', '/v1/live-streams', '/v1/organization', '/v1/settings'],
];

const operator: Client = ({ requests, signal }) =>
  repeat(signal, 100, async (n) => {
    await requests.send('operator', 'GET', lists[n % lists.length] ?? '');
  });

const viewer =
  (name: string): Client =>
  ({ requests, signal }) =>
    repeat(signal, 50, async () => {
      const who = `userId=${name}&deviceId=${name}-phone`;
      let cursor: string | null = null;
      for (let page = 0; page < 3 && !signal.aborted; page += 1) {
        const at: string = cursor === null ? '' : `&cursor=${cursor}`;
        const answer: Answer | null = await requests.send(
          'viewers',
          'GET',
          `/v1/feed?limit=5&${who}${at}`,
        );
        cursor = answer?.meta.nextCursor ?? null;
        if (cursor === null) break;
      }
      await requests.send('viewers', 'GET', `/v1/config?${who}`);
    });

/** Resends what was not acknowledged with the same ids, like the client library. */
const eventSender =
  (name: string): Client =>
  async ({ requests, journal, contentIds, signal }) => {
    let waiting: Record<string, unknown>[] = [];
    await repeat(signal, 20, async (n) => {
      if (waiting.length === 0) {
        waiting = Array.from({ length: 1 + (n % 40) }, (_, index) => {
          const contentId = contentIds[(n + index) % contentIds.length] ?? '';
          return sampleEvent(n % 2 === 0 ? 'like' : 'watchProgress', contentId, {
            userId: `${name}-${n % 50}`,
            sessionId: `${name}-${n}`,
          });
        });
        for (const { eventId } of waiting) journal.sentEvents.add(String(eventId));
      }
      const body = { events: waiting };
      const answer = await requests.send('events', 'POST', '/v1/events/batch', body);
      if (answer === null) return;
      for (const { eventId } of waiting) journal.events.add(String(eventId));
      waiting = [];
    });
  };

const uploader: Client = ({ requests, journal, clip, signal }) =>
  repeat(signal, 6_000, async (n) => {
    const body = { title: `Upload ${n}`, tags: ['upload'] };
    const made = await requests.send('uploads', 'POST', '/v1/content/upload', body);
    if (made === null) return;
    const { pathname } = new URL(made.data.uploadUrl);
    const sent = await requests.send('uploads', 'PUT', pathname, clip);
    if (sent !== null) journal.items.add(String(sent.data.id));
  });

const bulk: Client = ({ requests, journal, signal }) =>
  repeat(signal, 1_500, async (n) => {
    const update = { addTags: [`round-${n % 7}`] };
    const body = { operation: 'tag', filter: { tags: ['bulk'] }, update };
    const made = await requests.send('bulk jobs', 'POST', '/v1/content/bulk/jobs', body);
    if (made !== null) journal.jobs.add(String(made.data.jobId));
  });

const day = () => new Date().toISOString().slice(0, 10);

const exporter: Client = ({ requests, journal, signal }) =>
  repeat(signal, 4_000, async (n) => {
    const dataset = ['events', 'content', 'analytics'][n % 3];
    const format = ['ndjson', 'csv', 'parquet'][Math.floor(n / 3) % 3];
    const body = { dataset, format, startDate: day(), endDate: day() };
    const made = await requests.send('exports', 'POST', '/v1/exports', body);
    if (made !== null) journal.exports.add(String(made.data.id));
  });

const configurator: Client = ({ requests, journal, signal }) =>
  repeat(signal, 500, async (n) => {
    journal.setting.sent = n + 1;
    const body = { value: n + 1 };
    const put = await requests.send('settings', 'PUT', '/v1/settings/chaos.round', body);
    if (put !== null) journal.setting.acknowledged = n + 1;
  });

/** Maximum concurrent experiments; starting one stops an older one. */
const runningExperiments = 4;

const experimenter: Client = ({ requests, journal, signal }) => {
  const running: string[] = [];
  return repeat(signal, 3_000, async (n) => {
    const definition = {
      name: `Round ${n}`,
      type: 'feature',
      traffic: 1,
      variants: [
        { id: 'control', name: 'Control', traffic: 0.5 },
        { id: 'b', name: 'B', traffic: 0.5, config: { [`chaos.n${n}`]: true } },
      ],
      metrics: ['watchTime'],
    };
    const path = '/v1/experiments';
    const made = await requests.send('experiments', 'POST', path, definition);
    if (made === null) return;
    const id = String(made.data.id);
    journal.experiments.add(id);
    const started = await requests.send('experiments', 'POST', `${path}/${id}/start`);
    if (started !== null) running.push(id);
    if (started !== null) journal.started.add(id);
    await requests.send('experiments', 'GET', `${path}/${id}/results`);
    const oldest = running.length > runningExperiments ? running.shift() : undefined;
    if (oldest === undefined) return;
    await requests.send('experiments', 'POST', `${path}/${oldest}/stop`, {});
  });
};

/** An encoder that reconnects whenever it is disconnected. */
const encoder: Client = async ({ live, signal }) => {
  while (!signal.aborted) {
    try {
      await using publishing = await publish(live.rtmpPort, live.streamKey, 1);
      const stopped = new Promise((resolve) =>
        signal.addEventListener('abort', resolve, { once: true }),
      );
      await Promise.race([publishing.publisher.closed, stopped]);
    } catch {
      // Rejected while the database is away.
    }
    await delay(1_000, undefined, { signal }).catch(() => undefined);
  }
};

export const clients: readonly Client[] = [
  ...[dashboard, dashboard, operator, viewer('ada'), viewer('bob'), viewer('eve')],
  ...[eventSender('one'), eventSender('two'), eventSender('three')],
  ...[uploader, bulk, exporter, configurator, experimenter, encoder],
];
