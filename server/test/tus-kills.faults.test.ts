/** Proves over many kills that a resumable upload loses less than a megabyte each time. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { local } from './media.ts';
import { startProcess } from './processes.ts';
import { s3Settings, startS3 } from './s3-server.ts';
import { createItem, query } from './seed.ts';
import { startService } from './service.ts';
import {
  beginPatch,
  createTus,
  eventuallyCounts,
  mostLostBytes,
  paddedClip,
  patchTus,
  tusOffset,
} from './tus-sender.ts';

const kills = 20;
const clip = await paddedClip(60_000_000);
const s3 = await startS3();

for (const [where, settings] of Object.entries({ disk: {}, bucket: s3Settings(s3) })) {
  test(`${kills} kills at any byte of a part, on a ${where}`, async () => {
    const env = { REELFEED_ROLES: 'api', ...settings };
    const service = await startService(env);
    const { id, uploadUrl } = await createItem(service);
    const url = local(service, uploadUrl);
    assert.equal((await createTus(url, clip.length)).status, 201);
    let offset = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      const other = await startProcess(service.connection, service.dataDir, env);
      const patch = await beginPatch(
        url.replace(service.url, other.url),
        offset,
        clip.length - offset,
      );
      const sent = Math.floor(Math.random() * 4_000_000);
      await patch.send(clip.subarray(offset, offset + sent));
      await eventuallyCounts(url, offset + sent);
      await other.kill();
      const now = await tusOffset(url);
      assert.ok(now >= offset + sent - mostLostBytes, `${sent} sent, ${now - offset} count`);
      offset = now;
    }
    assert.equal((await patchTus(url, offset, clip.subarray(offset))).status, 204);
    const [row] = await query(service, 'select source_key from content where content_id = $1', [
      id,
    ]);
    const key = String(row?.['source_key']);
    const stored =
      where === 'disk'
        ? await readFile(path.join(service.dataDir, 'media/objects', key))
        : s3.objects.get(`reel/${key}`)?.bytes;
    assert.ok(stored?.equals(clip));
  });
}
