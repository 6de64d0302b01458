/** Reads the rows of an import: the files of a folder, or the rows of a list. */
import { createHash } from 'node:crypto';
import { open, readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { SNIFF_BYTES, sniffMedia } from '../../features/media/media.ts';
import { UsageError } from '../command.ts';

/** Metadata for `POST /v1/content/upload`; the service validates the values. */
export type ImportMetadata = Record<string, unknown> & { title: string; externalId: string };

export type ImportRow = {
  /** Its location for messages: `row 7` or a path. */
  place: string;
  metadata: ImportMetadata;
  /** A local file, or a URL that the service fetches. */
  source: { file: string; sizeBytes: number } | { url: string };
};

export type BadRow = { place: string; problem: string };

export const textColumns = [
  'title',
  'description',
  'section',
  'author',
  'visibility',
  'publishAt',
  'expiresAt',
  'externalId',
  'videoQuality',
  'articleUrl',
] as const;
const otherColumns = ['file', 'sourceUrl', 'tags', 'protected', 'customMetadata'] as const;
const columns: ReadonlySet<string> = new Set([...textColumns, ...otherColumns]);
const maxExternalIdLength = 255;
const maxTitleLength = 200;

/**
 * Reads a folder, or a `.csv` or `.ndjson` file. Unusable rows are returned as bad rows, so that
 * one mistake does not stop the others.
 *
 * @throws UsageError if the folder or file does not exist, or nothing in it can be read
 */
export async function readImportRows(target: string): Promise<(ImportRow | BadRow)[]> {
  const found = await stat(target).catch(() => null);
  if (found === null) throw new UsageError(`${target} does not exist.`);
  if (found.isDirectory()) return readFolder(target);
  const records = readRecords(target, await readFile(target, 'utf8'));
  const rows: (ImportRow | BadRow)[] = [];
  for (const record of records) {
    rows.push('problem' in record ? record : await toRow(record, path.dirname(target)));
  }
  return rows;
}

/**
 * All media in a folder and its subfolders, detected by their first bytes. Does not follow links.
 */
async function readFolder(folder: string): Promise<(ImportRow | BadRow)[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => !path.relative(folder, file).split(path.sep).some(isHidden))
    .toSorted();
  const rows: (ImportRow | BadRow)[] = [];
  for (const file of files) {
    const place = path.relative(folder, file);
    try {
      if (await isMedia(file)) rows.push(await fileRow(file, place, {}));
    } catch (error) {
      rows.push({ place, problem: (error as Error).message });
    }
  }
  return rows;
}

const isHidden = (name: string) => name.startsWith('.');

async function isMedia(file: string): Promise<boolean> {
  await using handle = await open(file);
  const head = new Uint8Array(SNIFF_BYTES);
  const { bytesRead } = await handle.read(head, 0, SNIFF_BYTES, 0);
  return sniffMedia(head.subarray(0, bytesRead)) !== null;
}

async function fileRow(
  file: string,
  named: string,
  fields: Record<string, unknown>,
): Promise<ImportRow> {
  const { size } = await stat(file);
  const title = path.basename(file, path.extname(file));
  const metadata = {
    title: [...title].slice(0, maxTitleLength).join(''),
    externalId: externalIdOf(`file:${named.split(path.sep).join('/')}:${size}`),
    ...fields,
  };
  return { place: named, metadata, source: { file, sizeBytes: size } };
}

/** The same file or URL gets the same id in every run, so nothing is imported twice. */
function externalIdOf(name: string): string {
  if ([...name].length <= maxExternalIdLength) return name;
  return `sha256:${createHash('sha256').update(name).digest('hex')}`;
}

type Fields = { place: string; fields: Record<string, unknown> };

function readRecords(target: string, text: string): (Fields | BadRow)[] {
  switch (path.extname(target).toLowerCase()) {
    case '.csv':
      return readCsv(text);
    case '.ndjson':
    case '.jsonl':
      return readLines(text);
    default:
      throw new UsageError(`${target} is neither a folder nor a .csv or .ndjson file.`);
  }
}

function readLines(text: string): (Fields | BadRow)[] {
  return text.split('\n').flatMap((line, index): (Fields | BadRow)[] => {
    if (line.trim() === '') return [];
    const place = `line ${index + 1}`;
    try {
      const fields: unknown = JSON.parse(line);
      if (typeof fields === 'object' && fields !== null && !Array.isArray(fields)) {
        return [{ place, fields: fields as Record<string, unknown> }];
      }
    } catch {
      // Reported below.
    }
    return [{ place, problem: 'is not a JSON object' }];
  });
}

/** The first row names the columns. An empty cell is treated as absent. */
function readCsv(text: string): (Fields | BadRow)[] {
  const [head, ...rows] = parseCsv(text);
  if (head === undefined) throw new UsageError('The file is empty.');
  const names = head.record.map((name) => name.trim());
  const unknown = names.filter((name) => !columns.has(name));
  if (unknown.length > 0) {
    const known = [...columns].join(', ');
    throw new UsageError(`Unknown columns: ${unknown.join(', ')}. Known columns: ${known}.`);
  }
  return rows.map(({ record, info }) => {
    const place = `row ${info.lines}`;
    if (record.length !== names.length) {
      return { place, problem: `has ${record.length} cells, but the header has ${names.length}` };
    }
    const cells = names.map((name, index) => [name, record[index] ?? ''] as const);
    const filled = cells.filter(([, value]) => value.trim() !== '');
    return readCells(place, filled);
  });
}

function parseCsv(text: string): { record: string[]; info: { lines: number } }[] {
  try {
    return parse(text, {
      bom: true,
      info: true,
      skip_empty_lines: true,
      relax_column_count: true,
    }) as unknown as { record: string[]; info: { lines: number } }[];
  } catch (error) {
    throw new UsageError(`The file is not valid CSV: ${(error as Error).message}`);
  }
}

/** Cells are text; lists, flags and objects are parsed from it. */
function readCells(place: string, cells: readonly (readonly [string, string])[]): Fields | BadRow {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of cells) {
    if (name === 'tags') {
      fields[name] = value.split(/[,;]/).flatMap((tag) => (tag.trim() === '' ? [] : [tag.trim()]));
    } else if (name === 'protected') {
      if (value !== 'true' && value !== 'false') {
        return { place, problem: `protected: must be true or false, not "${value}"` };
      }
      fields[name] = value === 'true';
    } else if (name === 'customMetadata') {
      try {
        fields[name] = JSON.parse(value);
      } catch {
        return { place, problem: 'customMetadata: is not valid JSON' };
      }
    } else fields[name] = value;
  }
  return { place, fields };
}

/** File paths are relative to the list that contains them. */
async function toRow({ place, fields }: Fields, folder: string): Promise<ImportRow | BadRow> {
  const { file, sourceUrl, ...metadata } = fields;
  if ((file === undefined) === (sourceUrl === undefined)) {
    return { place, problem: 'requires either file or sourceUrl' };
  }
  if (typeof sourceUrl === 'string') {
    const name = URL.parse(sourceUrl)?.pathname.split('/').at(-1) ?? '';
    const title = decoded(path.basename(name, path.extname(name))) || 'Untitled';
    const externalId = externalIdOf(`url:${sourceUrl}`);
    return { place, metadata: { title, externalId, ...metadata }, source: { url: sourceUrl } };
  }
  if (typeof file !== 'string') return { place, problem: 'file and sourceUrl must be strings' };
  try {
    return { ...(await fileRow(path.resolve(folder, file), file, metadata)), place };
  } catch {
    return { place, problem: `file: ${file} cannot be read` };
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
