/** A successful request for each live stream route. */
import type { RouteSample } from '../../../test/route-samples.ts';
import type { TestService } from '../../../test/service.ts';

export function routeSamples(
  service: TestService,
  allowedUrl: string,
): Record<string, RouteSample> {
  const target = `rtmp://${new URL(allowedUrl).host}/live`;
  const create = async (): Promise<string> => {
    const body = { title: 'A broadcast' };
    const made = await service.call('POST', '/v1/live-streams', { body });
    return `/v1/live-streams/${made.body.data.id}`;
  };
  return {
    createLiveStream: async () => [
      '/v1/live-streams',
      { body: { title: 'Open day', tags: ['event'], reconnectWindow: 120 } },
    ],
    listLiveStreams: async () => ['/v1/live-streams?limit=2'],
    getLiveStream: async () => [await create()],
    getLiveStreamStatus: async () => [`${await create()}/status`],
    listLiveStreamStates: async () => {
      const id = (await create()).split('/').at(-1);
      return [`/v1/live-streams/status?ids=${id}`];
    },
    endLiveStream: async () => [`${await create()}/end`],
    resetLiveStreamKey: async () => [`${await create()}/reset-key`],
    createLiveClips: async () => [
      `${await create()}/clips`,
      { body: { clips: [{ startSec: 12.5, endSec: 20, title: 'The goal', tags: ['goal'] }] } },
    ],
    addSimulcastTarget: async () => [
      `${await create()}/simulcast-targets`,
      { body: { url: target, streamKey: 'abcd-efgh-ijkl', name: 'Elsewhere' } },
    ],
    removeSimulcastTarget: async () => {
      const stream = await create();
      const body = { url: target, streamKey: 'abcd-efgh-ijkl' };
      const made = await service.call('POST', `${stream}/simulcast-targets`, { body });
      return [`${stream}/simulcast-targets/${made.body.data.id}`];
    },
    deleteLiveStream: async () => [await create()],
  };
}
