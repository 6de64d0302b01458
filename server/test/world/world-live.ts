/** Live streams in every state, one of them with a publisher until the end of the tests. */
import { createStream, publish, type Stream } from '../live-publisher.ts';
import { eventually, type TestService } from '../service.ts';
import { hostileMetadata } from './hostile-texts.ts';

export type WorldStreams = Record<'idle' | 'active' | 'recorded' | 'failed', Stream>;

export async function buildStreams(service: TestService, rtmpPort: number): Promise<WorldStreams> {
  const [idle, active, recorded, failed] = await Promise.all([
    createStream(service, { ...hostileMetadata('mixedDirections'), externalId: 'live-idle' }),
    createStream(service, { title: 'On the air', tags: ['live'], externalId: 'live-active' }),
    createStream(service, { title: 'Was on the air' }),
    createStream(service, { title: 'Nobody came' }),
  ]);
  await service.call('POST', `/v1/live-streams/${failed.id}/end`);
  await publish(rtmpPort, active.streamKey, 1);
  const finished = await publish(rtmpPort, recorded.streamKey, 8);
  await eventually('something to be recorded', async () => {
    const { body } = await service.call('GET', `/v1/live-streams/${recorded.id}`);
    return body.data.recordedSeconds > 2 ? true : null;
  });
  await finished.end();
  await eventually(
    'the recording',
    async () => {
      const { body } = await service.call('GET', `/v1/content/${recorded.contentId}`);
      return body.data.uploadStatus === 'ready' && body.data.duration !== null ? true : null;
    },
    180_000,
  );
  await eventually('the broadcast', async () => {
    const { body } = await service.call('GET', `/v1/live-streams/${active.id}`);
    return body.data.status === 'active' ? true : null;
  });
  return { idle, active, recorded, failed };
}
