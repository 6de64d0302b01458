/**
 * The files of a database server as one stream. PostgreSQL allows copying them while it runs,
 * between `pg_backup_start` and `pg_backup_stop`: replaying the log from then on repairs files that
 * were copied in the middle of a change, so files may grow, shrink or vanish during the copy.
 *
 * Each entry is the length of its header (4 bytes), the header as JSON, and the bytes of the file.
 */
import { lstat, mkdir, open, opendir, readlink, writeFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';

type Head = { path: string; sizeBytes: number; isFolder?: true };

/**
 * Files that a server recreates or must not find, as listed in PostgreSQL's manual, section 25.3.4.
 */
const emptied =
  /^(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\//;
const leftOut =
  /^(postmaster\.(pid|opts)|recovery\.signal|standby\.signal|backup_label)$|(^|\/)pgsql_tmp|pg_internal\.init/;
/** Determines where recovery begins, so it is copied last. */
const controlFile = 'global/pg_control';
const readBytes = 256 * 1_024;

/** Packs the folder, plus additional files that exist only in memory. */
export async function* packCluster(
  folder: string,
  extra: () => Promise<Readonly<Record<string, string>>>,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  for await (const path of walk(folder, '')) {
    signal?.throwIfAborted();
    if (path !== controlFile) yield* packOne(folder, path);
  }
  yield* packOne(folder, controlFile);
  for (const [path, text] of Object.entries(await extra())) {
    const bytes = Buffer.from(text);
    yield Buffer.concat([head({ path, sizeBytes: bytes.length }), bytes]);
  }
}

/** Yields files, and folders with a trailing slash. */
async function* walk(root: string, folder: string): AsyncGenerator<string> {
  const entries = await opendir(join(root, folder)).catch(absent);
  if (entries === null) return;
  for await (const entry of entries) {
    const path = folder + entry.name;
    if (entry.isSymbolicLink()) {
      const target = await readlink(join(root, path));
      throw new Error(
        `${path} is a link to ${target}: links in the database folder are not copied`,
      );
    }
    if (leftOut.test(path)) continue;
    if (entry.isDirectory()) {
      yield `${path}/`;
      if (!emptied.test(`${path}/`)) yield* walk(root, `${path}/`);
    } else if (entry.isFile()) yield path;
  }
}

async function* packOne(root: string, path: string): AsyncGenerator<Buffer> {
  if (path.endsWith('/')) {
    yield head({ path: path.slice(0, -1), sizeBytes: 0, isFolder: true });
    return;
  }
  const file = await open(join(root, path)).catch(absent);
  if (file === null) return;
  try {
    const { size: sizeBytes } = await file.stat();
    yield head({ path, sizeBytes });
    for (let at = 0; at < sizeBytes;) {
      const wanted = Math.min(readBytes, sizeBytes - at);
      const { bytesRead, buffer } = await file.read(Buffer.alloc(wanted), 0, wanted, at);
      // The file has shrunk since. Replaying the log truncates it again.
      yield bytesRead === 0 ? Buffer.alloc(wanted) : buffer.subarray(0, bytesRead);
      at += bytesRead === 0 ? wanted : bytesRead;
    }
  } finally {
    await file.close();
  }
}

function head(entry: Head): Buffer {
  const text = Buffer.from(JSON.stringify(entry));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text]);
}

/** Unpacks such a stream into an empty folder. */
export async function unpackCluster(
  source: AsyncIterable<Uint8Array>,
  folder: string,
): Promise<void> {
  const reader = new ByteReader(source);
  await mkdir(folder, { mode: 0o700 });
  for (;;) {
    const length = await reader.take(4);
    if (length === null) return;
    const text = await reader.take(length.readUInt32BE());
    if (text === null) throw new Error('The copy of the database is truncated.');
    const { path, sizeBytes, isFolder } = JSON.parse(text.toString()) as Head;
    const target = join(folder, path);
    if (normalize(path).startsWith('..') || !target.startsWith(`${folder}/`)) {
      throw new Error(`The copy of the database contains the invalid path ${path}.`);
    }
    if (isFolder === true) {
      await mkdir(target, { recursive: true, mode: 0o700 });
      continue;
    }
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await writeFile(target, reader.pass(sizeBytes), { mode: 0o600, flush: true });
  }
}

class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #held: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Returns exactly this many bytes, or null at the end. */
  async take(bytes: number): Promise<Buffer | null> {
    while (this.#held.length < bytes) {
      const next = await this.#source.next();
      if (next.done === true) return null;
      this.#held = Buffer.concat([this.#held, next.value]);
    }
    const taken = this.#held.subarray(0, bytes);
    this.#held = this.#held.subarray(bytes);
    return taken;
  }

  async *pass(bytes: number): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0;) {
      if (this.#held.length === 0) {
        const next = await this.#source.next();
        if (next.done === true) throw new Error('The copy of the database is truncated.');
        this.#held = Buffer.from(next.value);
      }
      const part = this.#held.subarray(0, left);
      this.#held = this.#held.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

export async function isFolder(path: string): Promise<boolean> {
  return lstat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}
