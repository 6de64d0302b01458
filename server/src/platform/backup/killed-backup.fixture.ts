/**
 * A process that takes a backup, removes old ones, and kills itself at a chosen step. Its argument
 * is a `KilledBackup` as JSON; its settings say how to reach the place.
 */
import { readConfig } from '../../app/config.ts';
import type { DatabaseConnection } from '../database/database.ts';
import { openDiskStorage } from '../storage/disk-storage.ts';
import type { Storage } from '../storage/storage.ts';
import { openPlace } from './place.ts';
import { openRepository } from './repository.ts';
import { pruneRepository } from './retention.ts';
import { takeBackup } from './take-backup.ts';

export type KillStep = {
  /** The operation on an object of the place. */
  operation: 'put' | 'remove' | 'removePrefix';
  /** A regular expression for the key, or the prefix. */
  key: string;
  when: 'before' | 'amid' | 'after';
};

export type KilledBackup = {
  connection: DatabaseConnection;
  media: string;
  keyFile: string;
  place: string;
  passphrase: string;
  step: KillStep;
};

function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
}

/** Yields the first bytes of a source, then kills the process. */
async function* cut(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    yield chunk.subarray(0, Math.ceil(chunk.length / 2));
    await die();
  }
}

/** The real storage, except that the process is killed at the given step. */
function killedAt(storage: Storage, { operation, key, when }: KillStep): Storage {
  const isStep = (name: string) => new RegExp(key).test(name);
  const put: Storage['put'] = async (name, source, signal) => {
    if (!isStep(name) || !(Symbol.asyncIterator in source)) {
      return storage.put(name, source, signal);
    }
    if (when === 'before') await die();
    await storage.put(name, when === 'amid' ? cut(source) : source, signal);
    await die();
  };
  const removing = (work: (name: string) => Promise<void>) => async (name: string) => {
    if (!isStep(name)) return work(name);
    if (when !== 'after') await die();
    await work(name);
    await die();
  };
  const changed: Partial<Storage> =
    operation === 'put'
      ? { put }
      : { [operation]: removing((name: string) => storage[operation](name)) };
  return new Proxy(storage, {
    get(target, name) {
      if (Object.hasOwn(changed, name)) return Reflect.get(changed, name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const given = JSON.parse(process.argv[2] ?? '') as KilledBackup;
const place = await openPlace(given.place, readConfig(process.env));
const repository = await openRepository(killedAt(place, given.step), {
  place: given.place,
  passphrase: given.passphrase,
  create: true,
});
const installation = {
  connection: given.connection,
  storage: await openDiskStorage(given.media),
  stream: null,
  version: '1',
};
await takeBackup(installation, repository, given.keyFile);
await pruneRepository(repository, { backupsMs: 0, recoveryMs: 0 });
