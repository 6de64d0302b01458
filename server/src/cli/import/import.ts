/**
 * `reelfeed import`: imports a folder of videos, or a list of files and URLs, into a running
 * service. To resume an interrupted run, repeat the command; `bring.ts` explains why nothing is
 * imported twice.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ReelfeedError, type Admin } from '@reelfeed/client/server';
import { print, UsageError, type Command } from '../command.ts';
import { openAdmin } from '../open-admin.ts';
import { bringFile, bringUrls, findSettled, type ImportOutcome } from './bring.ts';
import { ProgressBar } from './progress-bar.ts';
import { readImportRows, type BadRow, type ImportRow } from './rows.ts';

const usage = `Usage: reelfeed import <folder|file.csv|file.ndjson> [--wait] [--json]
The service is REELFEED_PUBLIC_URL or http://localhost:$PORT; the key is REELFEED_SECRET_KEY.
A list has the column file or sourceUrl, and any metadata columns: title, tags, externalId, …`;

const filesAtOnce = 3;
const urlsAtOnce = 100;
const askEveryMs = 1_000;

type Result = { place: string } & ImportOutcome;

export const importCommand: Command = async (input) => {
  const [target, ...more] = input.positionals;
  if (target === undefined || more.length > 0) throw new UsageError(usage);
  const admin = openAdmin(input, usage);
  const rows = await readImportRows(target);
  if (rows.length === 0) throw new UsageError(`${target} contains no video or audio files.`);
  const stopping = new AbortController();
  const stop = () => stopping.abort(new UsageError('Stopped. Run the command again to continue.'));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  const run = new Import(admin, rows, stopping.signal);
  const results = await run.bringAll(input.wait).catch((error: unknown) => {
    if (!(error instanceof ReelfeedError)) throw error;
    throw new UsageError(`The import stopped: ${error.message} Run the command again to continue.`);
  });
  const count = (status: ImportOutcome['status']) =>
    results.filter((result) => result.status === status).length;
  const totals = {
    created: count('created'),
    existing: count('existing'),
    failed: count('failed'),
  };
  print(input.json, { ...totals, results }, [
    `${totals.created} imported, ${totals.existing} already existed, ${totals.failed} failed.`,
  ]);
  if (totals.failed > 0) process.exitCode = 1;
};

class Import {
  readonly #admin: Admin;
  readonly #rows: readonly (ImportRow | BadRow)[];
  readonly #signal: AbortSignal;
  readonly #bar = new ProgressBar(process.stderr);
  readonly #results: Result[];
  readonly #sentBytes = new Map<number, number>();
  readonly #totalBytes: number;
  #doneBytes = 0;
  #done = 0;

  constructor(admin: Admin, rows: readonly (ImportRow | BadRow)[], signal: AbortSignal) {
    this.#admin = admin;
    this.#rows = rows;
    this.#signal = signal;
    this.#results = Array.from({ length: rows.length });
    this.#totalBytes = rows.reduce((sum, row) => sum + sizeOf(row), 0);
  }

  /** Returns the results in row order. */
  async bringAll(isWaiting: boolean): Promise<Result[]> {
    using _bar = this.#bar;
    const files: [number, ImportRow & { source: { file: string } }][] = [];
    const urls: [number, ImportRow & { source: { url: string } }][] = [];
    for (const [index, row] of this.#rows.entries()) {
      if ('problem' in row) this.#settle(index, { status: 'failed', problem: row.problem });
      else if (isFileRow(row)) files.push([index, row]);
      else if (isUrlRow(row)) urls.push([index, row]);
    }
    for (let start = 0; start < urls.length; start += urlsAtOnce) {
      const some = urls.slice(start, start + urlsAtOnce);
      const outcomes = await bringUrls(
        this.#admin,
        some.map(([, row]) => row),
        this.#signal,
      );
      for (const [at, [index]] of some.entries()) {
        const outcome = outcomes[at] ?? { status: 'failed', problem: 'got no response' };
        this.#settle(index, outcome);
      }
    }
    const waiting = files.values();
    const work = async () => {
      for (const [index, row] of waiting) {
        const show = (sentBytes: number) => this.#show(index, sentBytes);
        this.#settle(index, await bringFile(this.#admin, row, show, this.#signal));
      }
    };
    await Promise.all(Array.from({ length: filesAtOnce }, work));
    if (isWaiting) await this.#waitForAll();
    return this.#results;
  }

  /**
   * Waits until all items of this run, including those that were already waiting, are ready or have
   * failed.
   */
  async #waitForAll(): Promise<void> {
    for (const [index, result] of this.#results.entries()) {
      if (result.status === 'failed') continue;
      for (;;) {
        const settled = await findSettled(this.#admin, result.id, this.#signal);
        if (settled?.problem) this.#settle(index, { status: 'failed', problem: settled.problem });
        if (settled !== null) break;
        await sleep(askEveryMs, undefined, { signal: this.#signal }).catch(() => undefined);
        this.#signal.throwIfAborted();
      }
    }
  }

  #settle(index: number, outcome: ImportOutcome): void {
    const place = this.#rows[index]?.place ?? '';
    this.#done += this.#results[index] === undefined ? 1 : 0;
    this.#results[index] = { place, ...outcome };
    if (outcome.status === 'failed') this.#bar.say(`${place}: ${outcome.problem}`);
    this.#show(index, sizeOf(this.#rows[index]));
  }

  #show(index: number, sentBytes: number): void {
    this.#doneBytes += sentBytes - (this.#sentBytes.get(index) ?? 0);
    this.#sentBytes.set(index, sentBytes);
    const doneBytes = this.#doneBytes;
    const total = this.#rows.length;
    this.#bar.draw({ doneBytes, totalBytes: this.#totalBytes, done: this.#done, total });
  }
}

const isFileRow = (row: ImportRow): row is ImportRow & { source: { file: string } } =>
  'file' in row.source;
const isUrlRow = (row: ImportRow): row is ImportRow & { source: { url: string } } =>
  'url' in row.source;

function sizeOf(row: ImportRow | BadRow | undefined): number {
  return row !== undefined && 'source' in row && 'sizeBytes' in row.source
    ? row.source.sizeBytes
    : 0;
}
