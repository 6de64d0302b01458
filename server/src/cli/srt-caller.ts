/**
 * Sends an MPEG-TS file over SRT at its own pace, with FFmpeg and libsrt. Runs as a separate
 * process, because the calls of libsrt block. Arguments: the address, the file, and its length in
 * seconds. Sends the message `connected` once accepted. Exits with 2 if refused, and 3 if the
 * connection is lost.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { IOContext } from 'node-av/lib';
import { AVIO_FLAG_WRITE } from 'node-av/constants';

const datagramBytes = 1_316;
const [url = '', file = '', seconds = '1'] = process.argv.slice(2);
const bytes = await readFile(file);
const line = new IOContext();
if ((await line.open2(url, AVIO_FLAG_WRITE)) < 0) process.exit(2);
process.send?.('connected');
const startedMs = performance.now();
for (let at = 0; at < bytes.length; at += datagramBytes) {
  const dueMs = startedMs + (at / bytes.length) * Number(seconds) * 1_000;
  const aheadMs = dueMs - performance.now();
  if (aheadMs > 5) await sleep(aheadMs);
  await line.write(bytes.subarray(at, at + datagramBytes));
  await line.flush();
  if (line.error < 0) process.exit(3);
}
await line.closep();
process.exit(0);
