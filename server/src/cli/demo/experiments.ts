/**
 * The experiments of the demo: one that makes viewers stay longer, one without effect, and one that
 * has ended. They are recognized by name, so a later start creates no duplicates.
 */
type Access = { url: string; secretKey: string };

/** The flag that makes viewers stay longer. */
export const autoAdvanceFlag = 'auto-advance';

const halves = (config: object) => [
  { id: 'control', name: 'As it is', traffic: 0.5 },
  { id: 'treatment', name: 'Changed', traffic: 0.5, config },
];

const autoAdvance = {
  name: 'Auto-advance to the next clip',
  description: 'The simulated viewers with it stay longer.',
  type: 'feature',
  variants: halves({ [autoAdvanceFlag]: true }),
  metrics: ['watchTime', 'sessionsPerUser', 'completionRate'],
};
const accentColor = {
  name: 'Accent color',
  description: 'The simulated viewers do not care.',
  type: 'config',
  variants: halves({ 'player.accentColor': 'green' }),
  metrics: ['watchTime', 'retention'],
};
const fresherFeed = {
  name: 'Fresher feed',
  description: 'Ended without a winner.',
  type: 'ranking',
  variants: halves({ weights: { recency: 0.6 } }),
  metrics: ['completionRate', 'watchTime'],
};

/** Creates and starts the missing experiments. */
export async function startExperiments(access: Access, signal: AbortSignal): Promise<void> {
  const existing = await list(access, signal);
  for (const draft of [autoAdvance, accentColor, fresherFeed]) {
    const found = existing.find(({ name }) => name === draft.name);
    const id = found?.id ?? (await call<Shown>(access, 'POST', '', draft, signal)).id;
    if (found === undefined || found.status === 'draft') {
      await call(access, 'POST', `/${id}/start`, undefined, signal);
    }
  }
}

/** Ends the experiment that should appear as completed. */
export async function endExperiment(access: Access, signal: AbortSignal): Promise<void> {
  const running = (await list(access, signal)).find(
    ({ name, status }) => name === fresherFeed.name && status === 'running',
  );
  if (running === undefined) return;
  const reason = 'No difference is worth the wait.';
  await call(access, 'POST', `/${running.id}/stop`, { reason }, signal);
}

type Shown = { id: string; name: string; status: string };

function list(access: Access, signal: AbortSignal): Promise<Shown[]> {
  return call<Shown[]>(access, 'GET', '?limit=100', undefined, signal);
}

async function call<Data>(
  { url, secretKey }: Access,
  method: string,
  path: string,
  body: object | undefined,
  signal: AbortSignal,
): Promise<Data> {
  const answer = await fetch(`${url}/v1/experiments${path}`, {
    method,
    headers: {
      authorization: `Bearer ${secretKey}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal,
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} /v1/experiments${path}: ${answer.status} ${text}`);
  return (JSON.parse(text) as { data: Data }).data;
}
