/**
 * Files of items are written by requests, by live streams and by jobs that declare it
 * (`writesFilesOf`). A purge waits for those jobs, so that no file of a deleted item appears after
 * it.
 */
import { runningJob } from '../queue/running-job.ts';
import type { Storage } from './storage.ts';

const itemFolders = ['media/', 'sources/'] as const;

/** A storage in which a job can write files of items only if it declares this. */
export function guardItemFiles(storage: Storage): Storage {
  const guarded: Pick<Storage, 'put' | 'putMany' | 'join' | 'openPieces'> = {
    async put(key, source, signal) {
      checkJob([key]);
      return storage.put(key, source, signal);
    },
    async putMany(files, signal) {
      checkJob(files.map(({ key }) => key));
      return storage.putMany(files, signal);
    },
    async join(key, parts, options, signal) {
      checkJob([key]);
      return storage.join(key, parts, options, signal);
    },
    openPieces(prefix, held) {
      checkJob([`${prefix}/`]);
      return storage.openPieces(prefix, held);
    },
  };
  return new Proxy(storage, {
    get(target, name) {
      if (Object.hasOwn(guarded, name)) return guarded[name as keyof typeof guarded];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** @throws Error if the current job writes files of items without declaring it */
function checkJob(keys: readonly string[]): void {
  const job = runningJob.getStore();
  if (job === undefined || job.writesFilesOf !== undefined) return;
  const key = keys.find((one) => itemFolders.some((folder) => one.startsWith(folder)));
  if (key === undefined) return;
  throw new Error(`The job ${job.name} writes ${key} and does not declare \`writesFilesOf\`.`);
}
