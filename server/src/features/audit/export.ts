/** The audit log as a file: all matching entries, read page by page while sending. */
import { csvLine, wantsCsv } from '../../platform/values/csv.ts';
import type { KeysetPosition } from '../../platform/database/keyset.ts';
import type { EntryRow } from './queries.ts';

const page = 1_000;

export type AuditFile = {
  readonly contentType: string;
  readonly head: string;
  /** An entry's line, without its end. */
  readonly line: (row: EntryRow) => string;
  readonly lineEnd: string;
};

const columns = [
  'recordedAt',
  'action',
  'actor',
  'callerId',
  'callerName',
  'resourceId',
  'requestId',
  'changes',
  'differences',
] as const;

const csv: AuditFile = {
  contentType: 'text/csv; charset=utf-8',
  head: `${csvLine(columns)}\r\n`,
  line: (row) =>
    csvLine([
      row.recorded_at.toISOString(),
      row.action,
      row.actor,
      row.person_id ?? row.api_key_id,
      row.caller_name ?? row.system_user_name,
      row.resource_id,
      row.request_id,
      row.changes === null ? null : JSON.stringify(row.changes),
      row.differences === null ? null : JSON.stringify(row.differences),
    ]),
  lineEnd: '\r\n',
};

/** @param present formats an entry as in lists */
const ndjson = (present: (row: EntryRow) => object): AuditFile => ({
  contentType: 'application/x-ndjson',
  head: '',
  line: (row) => JSON.stringify(present(row)),
  lineEnd: '\n',
});

/** The file that an `Accept` header requests, or null for a page of the list. */
export function fileFor(
  accept: string | undefined,
  present: (row: EntryRow) => object,
): AuditFile | null {
  if (wantsCsv(accept)) return csv;
  return /\bapplication\/x-ndjson\b/i.test(accept ?? '') ? ndjson(present) : null;
}

/** @param read returns at most `limit` entries after a position, newest first */
export async function* linesOf(
  { head, line, lineEnd }: AuditFile,
  read: (limit: number, after: KeysetPosition | null) => Promise<EntryRow[]>,
): AsyncGenerator<string> {
  if (head !== '') yield head;
  let after: KeysetPosition | null = null;
  for (;;) {
    const rows: EntryRow[] = await read(page, after);
    if (rows.length > 0) yield rows.map((row) => line(row) + lineEnd).join('');
    const last = rows.at(-1);
    if (last === undefined || rows.length < page) return;
    after = { at: last.position, id: last.audit_id };
  }
}
