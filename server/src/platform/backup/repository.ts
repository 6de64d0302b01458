/**
 * A place that holds the backups of one installation, as objects of a storage:
 *
 *   repository.json                 the format, and how to check the passphrase; never encrypted
 *   backups/<id>/database/…         the rows of each table
 *   backups/<id>/media.ndjson       the media files that the backup holds
 *   backups/<id>/manifest.json      written last: a backup without it was interrupted
 *   media/<aa>/<name>               the bytes of media files, once for all backups
 *   media-index.ndjson              all media files seen so far, so that only new ones are read
 *   bases/… and wal/…               copies of the database server's files, see `recovery/`
 *
 * A media file is named by the SHA-256 of its bytes; in an encrypted repository by a keyed hash of
 * that, so that a name does not reveal which file it is.
 */
import { createHash, createHmac, hkdfSync, randomBytes, scryptSync } from 'node:crypto';
import { pipeline, Readable, Transform } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { ConfigurationError } from '../settings/settings.ts';
import type { Storage } from '../storage/storage.ts';
import { seal, unseal } from './sealing.ts';

export type FileEntry = {
  /** Its key in the repository; in a backup of format 1, its path in the folder. */
  path: string;
  /** Size before compression and encryption. */
  sizeBytes: number;
  sha256: string;
};

const headKey = 'repository.json';
const format = 2;
const scryptOptions = { N: 2 ** 15, r: 8, p: 1, maxmem: 2 ** 26 };

type Head = { format: number; salt: string | null; check: string | null };
type Keys = { files: Buffer; names: Buffer };

export class Repository {
  readonly storage: Storage;
  readonly #keys: Keys | null;

  constructor(storage: Storage, keys: Keys | null) {
    this.storage = storage;
    this.#keys = keys;
  }

  get isEncrypted(): boolean {
    return this.#keys !== null;
  }

  /** The key of the object that holds the bytes with this SHA-256. */
  mediaKey(sha256: string): string {
    const name =
      this.#keys === null
        ? sha256
        : createHmac('sha256', this.#keys.names).update(sha256).digest('hex');
    return `media/${name.slice(0, 2)}/${name}`;
  }

  /** Stores a stream durably under a key. */
  async put(
    key: string,
    source: AsyncIterable<Uint8Array>,
    { compress = false, signal }: { compress?: boolean; signal?: AbortSignal } = {},
  ): Promise<FileEntry> {
    const hash = createHash('sha256');
    let sizeBytes = 0;
    const measure = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        sizeBytes += chunk.length;
        done(null, chunk);
      },
    });
    const measured = compose(Readable.from(source), measure);
    const packed = compress ? compose(measured, createZstdCompress()) : measured;
    const stored = this.#keys === null ? packed : seal(packed, this.#keys.files, key);
    await this.storage.put(key, stored, signal);
    return { path: key, sizeBytes, sha256: hash.digest('hex') };
  }

  /** Returns the bytes stored under a key, as a stream that fails if they were changed. */
  async read(key: string, { compressed = false } = {}): Promise<Readable | null> {
    const found = await this.storage.read(key);
    if (found === null) return null;
    const opened =
      this.#keys === null
        ? found.stream
        : Readable.from(unseal(found.stream, this.#keys.files, key));
    return compressed ? compose(opened, createZstdDecompress()) : opened;
  }

  /** Returns the parsed JSON stored under a key, or null if there is none. */
  async readJson<T>(key: string): Promise<T | null> {
    const stream = await this.read(key);
    return stream === null ? null : (JSON.parse(await text(stream)) as T);
  }

  async putJson(key: string, value: unknown): Promise<FileEntry> {
    return this.put(key, Readable.from([Buffer.from(`${JSON.stringify(value)}\n`)]));
  }
}

/** Pipes one stream into another: an error or the end of either ends both. */
function compose(source: Readable, through: Transform): Readable {
  return pipeline(source, through, () => undefined);
}

export type OpenOptions = {
  /** Its name in messages. */
  place: string;
  passphrase: string | null;
  /** Whether to create a repository in an empty place. */
  create: boolean;
};

/**
 * @throws ConfigurationError if the place is not a repository or holds other files, or if the
 * passphrase is wrong
 */
export async function openRepository(
  storage: Storage,
  { place, passphrase, create }: OpenOptions,
): Promise<Repository> {
  const found = await storage.read(headKey);
  if (found === null) {
    if (!create) throw new ConfigurationError(`${place} contains no backups.`);
    for await (const { key } of storage.list('')) {
      throw new ConfigurationError(
        `${place} contains other files (${key}). Choose an empty location.`,
      );
    }
    return begin(storage, passphrase);
  }
  const head = parseHead(await text(found.stream), place);
  if (head.format !== format) {
    throw new ConfigurationError(`${place} was created by a newer version of Reelfeed.`);
  }
  const { salt, check } = head;
  if (salt === null) {
    if (passphrase === null) return new Repository(storage, null);
    throw new ConfigurationError(
      `${place} is not encrypted. Unset REELFEED_BACKUP_PASSPHRASE, or choose a new location.`,
    );
  }
  if (passphrase === null) {
    throw new ConfigurationError(`${place} is encrypted. Set REELFEED_BACKUP_PASSPHRASE.`);
  }
  const master = masterKey(passphrase, Buffer.from(salt, 'base64'));
  if (checkOf(master) !== check) {
    throw new ConfigurationError(`REELFEED_BACKUP_PASSPHRASE is not the passphrase of ${place}.`);
  }
  return new Repository(storage, keysOf(master));
}

async function begin(storage: Storage, passphrase: string | null): Promise<Repository> {
  const salt = passphrase === null ? null : randomBytes(32);
  const master = passphrase === null || salt === null ? null : masterKey(passphrase, salt);
  const head: Head = {
    format,
    salt: salt?.toString('base64') ?? null,
    check: master === null ? null : checkOf(master),
  };
  await storage.put(headKey, Readable.from([Buffer.from(`${JSON.stringify(head)}\n`)]));
  return new Repository(storage, master === null ? null : keysOf(master));
}

function parseHead(written: string, place: string): Head {
  try {
    return JSON.parse(written) as Head;
  } catch (error) {
    throw new ConfigurationError(`${headKey} of ${place} is damaged.`, { cause: error });
  }
}

function masterKey(passphrase: string, salt: Buffer): Buffer {
  return scryptSync(passphrase, salt, 32, scryptOptions);
}

function checkOf(master: Buffer): string {
  return createHmac('sha256', master).update('reelfeed backup check').digest('base64');
}

function keysOf(master: Buffer): Keys {
  const derive = (use: string) => Buffer.from(hkdfSync('sha256', master, '', use, 32));
  return { files: derive('reelfeed backup files'), names: derive('reelfeed backup names') };
}
