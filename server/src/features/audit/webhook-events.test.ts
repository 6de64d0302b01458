/** Only webhooks that subscribe to audit entries receive them, and they receive each one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from '../../../test/processes.ts';
import { startReceiver } from '../../../test/receiver.ts';
import { toUrl } from '../../../test/service.ts';
import { allEnded, startWebhookService } from '../../../test/webhooks/webhooks.ts';

const receiver = await startReceiver();
const service = await startWebhookService({ REELFEED_EGRESS_ALLOW: receiver.allow });

/** The bodies that a path has received, ordered by time. */
const received = (name: string) =>
  receiver.requests
    .filter(({ path }) => path === `/hook/${name}`)
    .map(({ body }) => JSON.parse(body) as { event: string; data: Record<string, unknown> });

test('each entry is sent, without its values, to webhooks that subscribe to the kind', async () => {
  // The replay below finds this event, and the audit entry from before the webhooks.
  await service.cause('before the webhooks');
  const early = await service.call('PATCH', '/v1/organization', { body: { name: 'Early' } });
  assert.equal(early.status, 200, early.text);
  const all = await service.register(`${receiver.url}/all`, ['*']);
  await service.register(`${receiver.url}/subject`, ['audit.*']);
  await service.register(`${receiver.url}/kind`, ['audit.recorded', 'content.ready']);
  const since = new Date(Date.now() - 60_000).toISOString();
  await service.cause('a content event');
  const changed = await service.call('PUT', '/v1/settings/player.speed', {
    body: { value: 'told-nobody' },
  });
  assert.equal(changed.status, 200, changed.text);
  const refused = await service.call('PATCH', '/v1/organization', { body: { name: '' } });
  assert.equal(refused.status, 400);
  await allEnded(service.db);

  const { data: entries } = (await service.call('GET', '/v1/audit?limit=1')).body;
  const [{ id: auditId, action, actor, resourceId, requestId }] = entries;
  assert.equal(requestId, changed.headers.get('x-request-id'));
  const told = received('subject').find(({ data }) => data['auditId'] === auditId);
  assert.deepEqual(told?.data, {
    auditId,
    action,
    actor: { type: 'key', keyId: actor.keyId, personId: null, systemUser: null },
    resourceId,
    requestId,
  });
  assert.doesNotMatch(JSON.stringify(receiver.requests), /told-nobody/);
  assert.deepEqual(
    received('all').map(({ event }) => event),
    ['content.ready'],
  );
  const kinds = received('kind').map(({ event }) => event);
  assert.deepEqual(kinds.toSorted(), ['audit.recorded', 'content.ready']);

  const before = received('all').length;
  const replay = { body: { since } };
  const { body } = await service.call('POST', `/v1/webhooks/${all.id}/replay`, replay);
  assert.equal(body.data.created, 1);
  await allEnded(service.db);
  assert.deepEqual(
    received('all')
      .slice(before)
      .map(({ event }) => event),
    ['content.ready'],
  );
});

test('entries from the command line are sent as well, and each entry exactly once', async () => {
  const options = {
    env: { DATABASE_URL: toUrl(service.connection), REELFEED_DATA_DIR: service.dataDir },
  };
  const name = ['keys', 'create', '--type', 'publishable', '--name', 'Shop', '--json'];
  const { code, stdout, stderr } = await runCommand(name, options);
  assert.equal(code, 0, stderr);
  const { id } = JSON.parse(stdout) as { id: string };
  assert.equal((await runCommand(['keys', 'revoke', id], options)).code, 0);
  await allEnded(service.db);
  const { data } = (await service.call('GET', `/v1/audit?resourceId=${id}`)).body;
  assert.deepEqual(
    data.map((entry: { action: string }) => entry.action),
    ['revokeKey', 'createKey'],
  );
  assert.deepEqual(
    data[0].differences.fields.map(({ field }: { field: string }) => field),
    ['revokedAt'],
  );
  const all = (await service.call('GET', '/v1/audit?limit=100')).body.data as { id: string }[];
  const { data: recent } = (
    await service.call(
      'GET',
      `/v1/webhook-events/recent?since=${new Date(Date.now() - 3_600_000).toISOString()}`,
    )
  ).body as { data: { event: string; data: { auditId: string } }[] };
  const told = recent.filter(({ event }) => event === 'audit.recorded');
  assert.deepEqual(
    told.map((event) => event.data.auditId).toSorted(),
    all.map((entry) => entry.id).toSorted(),
  );

  const made = await runCommand(['org', 'create', 'Second', '--json'], options);
  const { organizationId, secretKey } = JSON.parse(made.stdout) as Record<string, string>;
  const second = await service.call('GET', '/v1/audit', { key: secretKey ?? null });
  assert.equal(second.body.data.length, 1);
  const [entry] = second.body.data;
  assert.deepEqual(
    [entry.action, entry.resourceId, entry.actor.type, entry.changes],
    ['createOrganization', organizationId, 'command_line', { name: 'Second' }],
  );
});
