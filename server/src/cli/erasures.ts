/**
 * `reelfeed erasures export <file>`: writes the hashes of erased viewers, for a later `restore`.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { readConfig } from '../app/config.ts';
import {
  formatErasureRecord,
  parseErasureRecord,
  readErasureRecords,
  type ErasureRecord,
} from '../features/events/events.ts';
import { ConfigurationError } from '../platform/settings/settings.ts';
import { sync } from '../platform/storage/durable.ts';
import { openStorage } from '../platform/storage/open-storage.ts';
import { print, UsageError, type Command } from './command.ts';

/** Reads only the media storage, so that it works even if the database is lost. */
export const erasuresCommand: Command = async ({ env, json, positionals: [action, file] }) => {
  if (action !== 'export' || file === undefined) {
    throw new UsageError('Usage: reelfeed erasures export <file>');
  }
  const records = await Array.fromAsync(readErasureRecords(await openStorage(readConfig(env))));
  const draft = `${file}.part`;
  await writeFile(draft, records.map(formatErasureRecord).join(''), { mode: 0o600 });
  await sync(draft);
  await rename(draft, file);
  print(json, { file, erasures: records.length }, [
    `Wrote ${records.length} erasures to ${file}. Keep the file with the backups and write it again with each backup.`,
  ]);
};

/**
 * Reads the records of such a file.
 *
 * @throws ConfigurationError naming the first invalid line
 */
export async function readErasuresFile(file: string): Promise<ErasureRecord[]> {
  let lines: string[];
  try {
    lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
  } catch (error) {
    throw new ConfigurationError(`Cannot read ${file}.`, { cause: error });
  }
  return lines.map((line, index) => {
    try {
      return parseErasureRecord(line);
    } catch (error) {
      const message = `Line ${index + 1} of ${file} is not an erasure record.`;
      throw new ConfigurationError(message, { cause: error });
    }
  });
}
