import { test } from 'node:test';
import { form, local, sampleBytes } from './media.ts';
import { createItem } from './seed.ts';
import { send, startService } from './service.ts';
test('x', async () => {
  const clip = await sampleBytes('portrait.mp4');
  const service = await startService({ REELFEED_MIN_FREE_BYTES: '1000TB', REELFEED_ROLES: 'api' });
  const { uploadUrl } = await createItem(service);
  let t = performance.now();
  for (let i = 0; i < 3; i++) {
    const r = await send(local(service, uploadUrl), 'PUT', { body: clip }).catch((e) => ({ status: String(e.cause) , text: ''}));
    console.log('put', r.status, performance.now() - t); t = performance.now();
    const f = await service.call('POST', '/v1/content/upload', { body: form([['title', 'No room'], ['file', clip]]) }).catch((e) => ({ status: String(e.cause), text: ''}));
    console.log('form', f.status, performance.now() - t); t = performance.now();
  }
});
