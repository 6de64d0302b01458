/** Successful requests for settings and experiments. */
import type { RouteSample } from './route-samples.ts';
import type { TestService } from './service.ts';

export function configurationSamples(service: TestService): Record<string, RouteSample> {
  const put = (path: string, value: unknown) => service.call('PUT', path, { body: { value } });
  const made = async (path: string, value: unknown) => {
    await put(path, value);
    return [path] as const;
  };
  return {
    listSettings: async () => {
      await put('/v1/settings/list.one', 1);
      return ['/v1/settings?limit=1'];
    },
    getSetting: () => made('/v1/settings/player.autoplay', true),
    putSetting: async () => ['/v1/settings/player.buffer', { body: { value: 3 } }],
    deleteSetting: () => made('/v1/settings/to.go', 'x'),
    listFlags: async () => {
      await put('/v1/flags/one', { a: [1] });
      return ['/v1/flags'];
    },
    getFlag: () => made('/v1/flags/two', null),
    putFlag: async () => ['/v1/flags/three', { body: { value: [1, { b: false }] } }],
    deleteFlag: () => made('/v1/flags/four', false),
    getConfig: async () => ['/v1/config?userId=sample&country=de&device=ios&segments=a,b'],
  };
}

let sampleCount = 0;

/** Creates a draft that can run beside the other samples' experiments. */
export async function createExperiment(service: TestService, change: object = {}): Promise<string> {
  sampleCount += 1;
  const body = {
    name: 'A sample',
    type: 'config',
    traffic: 1,
    variants: [
      { id: 'control', name: 'Control', traffic: 0.5 },
      { id: 'b', name: 'B', traffic: 0.5, config: { [`sample.n${sampleCount}`]: 1 } },
    ],
    metrics: ['watchTime', 'retention'],
    ...change,
  };
  const reply = await service.call('POST', '/v1/experiments', { body });
  if (reply.status !== 201) throw new Error(reply.text);
  return reply.body.data.id;
}

export function experimentSamples(service: TestService): Record<string, RouteSample> {
  const call = async (id: string, action: string, body?: object, status = 200) => {
    const reply = await service.call('POST', `/v1/experiments/${id}/${action}`, { body });
    if (reply.status !== status) throw new Error(reply.text);
    return id;
  };
  const started = async () => call(await createExperiment(service), 'start');
  const at = async (id: Promise<string>, action = '', body?: object) =>
    [`/v1/experiments/${await id}${action}`, body === undefined ? {} : { body }] as const;
  return {
    listExperiments: async () => {
      await started();
      return ['/v1/experiments?limit=2'];
    },
    createExperiment: async () => [
      '/v1/experiments',
      {
        body: {
          name: 'Ranking',
          description: null,
          type: 'ranking',
          traffic: 0.5,
          variants: [
            { id: 'a', name: 'A', traffic: 0.3 },
            { id: 'b', name: 'B', traffic: 0.7, config: { weights: { recency: 1 } } },
          ],
          metrics: ['completionRate'],
          targetingRules: { countries: ['DE'], devices: ['ios'], userSegments: ['new'] },
          endsAt: '2099-01-01T00:00:00Z',
        },
      },
    ],
    getExperiment: () => at(started()),
    updateExperiment: () => at(createExperiment(service), '', { name: 'Another name' }),
    startExperiment: () => at(createExperiment(service), '/start'),
    stopExperiment: () => at(started(), '/stop', { winner: 'b', reason: 'It is better.' }),
    rollOutExperiment: async () => {
      const id = await call(await started(), 'stop', {});
      return [`/v1/experiments/${id}/rollout`, { body: { winner: 'b' } }];
    },
    pauseExperiment: () => at(started(), '/pause', { note: 'The player stalls.' }),
    resumeExperiment: async () =>
      at(call(await started(), 'pause'), '/resume', { note: 'It was one phone.' }),
    renameVariant: () => at(started(), '/variants/b', { name: 'A better name' }),
    cloneExperiment: () => at(createExperiment(service), '/clone', { name: 'Once more' }),
    listAssignments: () => at(started(), '/assignments?limit=2'),
    listDecisions: () => at(started(), '/decisions?limit=2'),
    addDecision: () => at(started(), '/decisions', { note: 'We wait for the second week.' }),
    getHoldout: async () => ['/v1/experiments/holdout'],
    putHoldout: async () => ['/v1/experiments/holdout', { body: { traffic: 0 } }],
    deleteExperiment: () => at(createExperiment(service)),
    getExperimentResults: () => at(started(), '/results?segment=country&granularity=day'),
    createResultsLink: () => at(started(), '/shares', { expiresInDays: 7 }),
    listResultsLinks: async () => {
      const id = await started();
      await call(id, 'shares', {}, 201);
      return [`/v1/experiments/${id}/shares`];
    },
    deleteResultsLink: async () => {
      const id = await started();
      const path = `/v1/experiments/${id}/shares`;
      const { body } = await service.call('POST', path, { body: {} });
      return [`${path}/${body.data.id}`];
    },
    planExperiment: async () => [
      '/v1/experiments/plan',
      { body: { metric: 'watchTime', effect: 0.05 } },
    ],
  };
}
