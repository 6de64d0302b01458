import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { randomName } from '../values/ids.ts';
import type { Storage } from './storage.ts';

/**
 * Performs each storage operation of the service once with small objects, and removes them.
 *
 * @throws Error saying what does not work
 */
export async function tryStorage(storage: Storage): Promise<void> {
  const prefix = `doctor/${randomName(9)}`;
  const bytes = Buffer.from('a test by reelfeed doctor');
  await storage.put(`${prefix}/part`, Readable.from([bytes]));
  await storage.join(`${prefix}/joined`, [`${prefix}/part`]);
  const read = await storage.read(`${prefix}/joined`);
  const isSame = read !== null && bytes.equals(await buffer(read.stream));
  await storage.removePrefix(prefix);
  const left = await Array.fromAsync(storage.list(prefix));
  if (!isSame || left.length > 0) {
    throw new Error('The bucket does not return stored objects, or keeps deleted objects.');
  }
}
