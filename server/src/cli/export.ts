/**
 * `reelfeed export`: requests an export from a running service, shows its progress and downloads
 * the file. An interrupted download resumes where it stopped; stopping the command cancels the
 * export.
 */
import { createWriteStream } from 'node:fs';
import { rename, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin } from '@reelfeed/client/server';
import { dayMs } from '../platform/values/time.ts';
import { print, UsageError, type Command, type CommandInput } from './command.ts';
import { ProgressBar } from './import/progress-bar.ts';
import { explainRequest, openAdmin } from './open-admin.ts';

const usage = `Usage: reelfeed export <dataset> [--from <day>] [--to <day>] [--format ndjson|csv|parquet]
         [--compression none|gzip|zstd] [--filter <name>=<value>]… [--out <file>]
The datasets are events, viewers, content, analytics, experiments and webhooks. Without --from, the last
seven days are exported. The service is REELFEED_PUBLIC_URL or http://localhost:$PORT; the key is
REELFEED_SECRET_KEY.`;

const askEveryMs = 300;
const downloadAttempts = 5;
const retryAfterMs = 1_000;

type Export = Awaited<ReturnType<typeof find>>;

export const exportCommand: Command = async (input) => {
  const [dataset] = input.positionals;
  if (dataset === undefined) throw new UsageError(usage);
  const admin = openAdmin(input, usage);
  const stopping = new AbortController();
  const stop = () => stopping.abort(new UsageError('Stopped. The export was cancelled.'));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  try {
    const made = await create(admin, input, dataset);
    const ready = await waitFor(admin, made, stopping.signal);
    const file = await download(ready, input.out, stopping.signal);
    const { id, rowCount, fileSize } = ready;
    print(input.json, { id, file, rowCount, fileSize }, [
      `${file}: ${rowCount} rows, ${fileSize} bytes.`,
    ]);
  } catch (error) {
    throw explainRequest(input, error);
  }
};

async function create(admin: Admin, input: CommandInput, dataset: string): Promise<Export> {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const { to = day(Date.now()), format = 'ndjson', compression = 'none' } = input;
  const body = {
    dataset,
    startDate: input.from ?? day(Date.parse(to) - 6 * dayMs || Date.now()),
    endDate: to,
    format,
    compression,
    filter: Object.fromEntries((input.filter ?? []).map(readFilter)),
  };
  // The service validates the values.
  const { data } = await admin.post('/v1/exports', { body: body as never });
  return data;
}

function readFilter(text: string): [name: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`--filter ${text}: must be <name>=<value>.\n\n${usage}`);
  return [text.slice(0, at), text.slice(at + 1)];
}

async function find(admin: Admin, id: string) {
  return (await admin.get('/v1/exports/{id}', { path: { id } })).data;
}

/** @throws UsageError if the export failed or was cancelled by someone else */
async function waitFor(admin: Admin, made: Export, signal: AbortSignal): Promise<Export> {
  using bar = new ProgressBar(process.stderr);
  for (let found = made; ;) {
    if (found.status === 'ready') return found;
    if (found.status !== 'pending' && found.status !== 'processing') {
      throw new UsageError(found.error ?? `The export is ${found.status}.`);
    }
    const percent = Math.floor(found.progress * 100);
    bar.draw({ doneBytes: 0, totalBytes: 0, done: percent, total: 100 });
    await sleep(askEveryMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) {
      await admin.post('/v1/exports/{id}/cancel', { path: { id: made.id } });
      throw signal.reason;
    }
    found = await find(admin, made.id);
  }
}

/** @returns the name of the file, which appears only once it is complete */
async function download(
  { downloadUrl, fileSize }: Export,
  out: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  if (downloadUrl === null || fileSize === null)
    throw new UsageError('The export has no download URL.');
  using bar = new ProgressBar(process.stderr);
  let name = out;
  let etag = '';
  for (let attempt = 1; ; attempt += 1) {
    const part = name === undefined ? null : `${name}.part`;
    const doneBytes = etag === '' || part === null ? 0 : (await stat(part)).size;
    try {
      const headers = etag === '' ? {} : { range: `bytes=${doneBytes}-`, 'if-range': etag };
      const answer = await fetch(downloadUrl, { headers, signal });
      if (!answer.ok || answer.body === null) {
        throw new UsageError(`The download failed with status ${answer.status}.`);
      }
      etag = answer.headers.get('etag') ?? '';
      name ??= nameOf(answer) ?? 'export';
      const start = answer.status === 206 ? doneBytes : 0;
      let arrivedBytes = start;
      const shown = async function* (chunks: AsyncIterable<Uint8Array>) {
        for await (const chunk of chunks) {
          arrivedBytes += chunk.length;
          const done = { done: 1, total: 1 };
          bar.draw({ doneBytes: arrivedBytes, totalBytes: fileSize, ...done });
          yield chunk;
        }
      };
      const target = createWriteStream(`${name}.part`, { flags: start > 0 ? 'a' : 'w' });
      await pipeline(answer.body, shown, target);
      await rename(`${name}.part`, name);
      return name;
    } catch (error) {
      const isFinal = error instanceof UsageError || attempt >= downloadAttempts;
      if (isFinal || signal.aborted) throw error;
      await sleep(retryAfterMs, undefined, { signal });
    }
  }
}

/** The file name given by the service, without any folder. */
function nameOf(answer: Response): string | null {
  const named = /filename="([\w.-]+)"/.exec(answer.headers.get('content-disposition') ?? '');
  return named?.[1] ?? null;
}
