/** Checks that everything acknowledged exists once all faults are over. */
import type { DatabaseConnection } from '../../src/platform/database/database.ts';
import type { BlockStream } from '../../src/platform/event-log/block-stream.ts';
import type { Stream } from '../live-publisher.ts';
import type { Receiver } from '../receiver.ts';
import { eventually } from '../service.ts';
import { openStoredEvents } from '../stored-events.ts';
import type { Ask, Data } from '../world/ask.ts';
import type { Journal } from './clients.ts';

const settleMs = 300_000;

type Kit = {
  receiver: Receiver;
  direct: DatabaseConnection;
  stream: Stream;
  /** Storage of event bytes, if not the database. */
  bytes?: BlockStream;
};

export type Kept = { what: string; promised: number; kept: number };

/** Waits for asynchronous work, then counts. The caller reports what is missing. */
export async function countKept(
  ask: Ask,
  journal: Journal,
  { receiver, direct, stream, bytes }: Kit,
): Promise<Kept[]> {
  const recording = countRecording(ask, stream);
  const items = await settle('items', journal.items, async (id) => {
    const { uploadStatus } = await ask('GET', `/v1/content/${id}`);
    return uploadStatus === 'ready' ? true : uploadStatus === 'error' ? false : null;
  });
  const jobs = await settle('bulk jobs', journal.jobs, async (id) => {
    const { status, totalItems, successfulItems } = await ask('GET', `/v1/content/bulk/jobs/${id}`);
    if (status === 'processing') return null;
    return status === 'complete' && totalItems === successfulItems;
  });
  const exports = await settle('exports', journal.exports, async (id) => {
    const { status, downloadUrl, fileSize } = await ask('GET', `/v1/exports/${id}`);
    if (status !== 'ready') return status === 'failed' ? false : null;
    const answer = await fetch(downloadUrl);
    return answer.status === 200 && (await answer.arrayBuffer()).byteLength === fileSize;
  });
  const experiments = await settle('experiments', journal.experiments, async (id) => {
    const { status } = await ask('GET', `/v1/experiments/${id}`);
    return journal.started.has(id) ? status !== 'draft' : true;
  });
  const delivered = await settle(
    'deliveries',
    new Set([...items.kept, ...jobs.kept, ...exports.kept]),
    async (id) => (receiver.requests.some(({ body }) => body.includes(id)) ? true : null),
  );
  const { value } = await ask('GET', '/v1/settings/chaos.round');
  const isKept = value >= journal.setting.acknowledged && value <= journal.setting.sent;
  return [
    ...[items, jobs, exports, experiments, delivered].map(({ what, all, kept }) => ({
      what,
      promised: all,
      kept: kept.length,
    })),
    { what: 'the last setting', promised: 1, kept: isKept ? 1 : 0 },
    await recording,
    ...(await countEvents(ask, journal, { connection: direct, bytes })),
  ];
}

/** The recorded segments, across all interruptions, form one item that plays. */
async function countRecording(ask: Ask, { id, contentId }: Stream): Promise<Kept> {
  const { recordedSeconds } = await ask('POST', `/v1/live-streams/${id}/end`);
  const item: Data = await eventually(
    'the recording',
    async () => {
      const found = await ask('GET', `/v1/content/${contentId}`);
      return found.uploadStatus === 'ready' && found.duration !== null ? found : null;
    },
    settleMs,
  ).catch(() => ({ duration: 0 }));
  const what = 'seconds of the broadcast';
  return { what, promised: Math.round(recordedSeconds), kept: Math.round(item.duration) };
}

type Settled = { what: string; all: number; kept: string[] };

/** `probe` returns null while the result is pending, then whether the promise was kept. */
async function settle(
  what: string,
  ids: ReadonlySet<string>,
  probe: (id: string) => Promise<boolean | null>,
): Promise<Settled> {
  const waiting = new Set(ids);
  const kept: string[] = [];
  const look = async (): Promise<true | null> => {
    for (const id of waiting) {
      const verdict = await probe(id).catch(() => false);
      if (verdict === null) continue;
      waiting.delete(id);
      if (verdict) kept.push(id);
    }
    return waiting.size === 0 ? true : null;
  };
  // Operations that never settle count as lost.
  await eventually(what, look, settleMs).catch(() => null);
  return { what, all: ids.size, kept };
}

/** Each acknowledged event is in the log once, and the reports match the log. */
async function countEvents(
  ask: Ask,
  journal: Journal,
  { connection, bytes }: { connection: DatabaseConnection; bytes: BlockStream | undefined },
): Promise<Kept[]> {
  const stored = await (await openStoredEvents({ connection }, bytes ?? null)).all();
  const ids = stored.map(({ eventId }) => eventId);
  const once = new Set(ids);
  const acknowledged = [...journal.events].filter((id) => once.has(id)).length;
  const likes = stored.filter(({ event }) => event === 'like').length;
  const counted = await eventually(
    'the reports',
    async () => {
      const { summary }: Data = await ask('GET', '/v1/analytics/overview');
      return summary.likes === likes ? summary.likes : null;
    },
    settleMs,
  ).catch(async () => (await ask('GET', '/v1/analytics/overview')).summary.likes);
  return [
    { what: 'events', promised: journal.events.size, kept: acknowledged },
    { what: 'events stored once', promised: ids.length, kept: once.size },
    { what: 'likes in reports', promised: likes, kept: counted },
  ];
}
