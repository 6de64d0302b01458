/** Every change is in the audit log, in the same transaction and without secrets. */
import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { test } from 'node:test';
import { runCommand } from '../../../test/processes.ts';
import { createItem, createOrganization } from '../../../test/seed.ts';
import { send, startService, toUrl } from '../../../test/service.ts';
import { sampleEvent } from '../../../test/event-samples.ts';
import { createPerson } from '../../../test/people/people.ts';

const service = await startService();

const entries = async (query = '') => {
  const { status, body, text } = await service.call('GET', `/v1/audit?limit=100${query}`);
  assert.equal(status, 200, text);
  return body;
};

test('a change is recorded with its action, key, resource and fields', async () => {
  const item = await createItem(service, { title: 'Before' });
  const patched = await service.call('PATCH', `/v1/content/${item.id}`, {
    body: { title: 'After' },
  });
  assert.equal(patched.status, 200);
  const { data } = await entries(`&resourceId=${item.id}`);
  assert.deepEqual(
    data.map((entry: { action: string }) => entry.action),
    ['updateContent', 'uploadContent'],
  );
  const [{ id, recordedAt, actor, changes, requestId }] = data;
  assert.match(id, /^aud_/);
  assert.ok(Math.abs(Date.parse(recordedAt) - Date.now()) < 60_000);
  assert.deepEqual(changes, { title: 'After' });
  assert.equal(requestId, patched.headers.get('x-request-id'));
  const keys = await service.call('GET', '/v1/keys');
  const own = keys.body.data.find((key: { type: string }) => key.type === 'secret');
  const nobody = {
    keyId: null,
    keyName: null,
    personId: null,
    personName: null,
    systemUser: null,
  };
  assert.deepEqual(actor, { ...nobody, type: 'key', keyId: own.id, keyName: own.name });
});

test('a change without effect leaves no entry', async () => {
  const item = await createItem(service);
  const before = (await entries()).meta.total;
  await service.call('PATCH', `/v1/content/${item.id}`, { body: { title: '' } });
  await service.call('PATCH', `/v1/content/${item.id}`, {
    body: { title: 'x' },
    headers: { 'if-match': '"0"' },
  });
  await service.call('DELETE', '/v1/keys/key_01kabc5m8nfe8v8q1m2vr5t9zd');
  await service.call('POST', '/v1/events', { body: sampleEvent('like', item.id) });
  assert.equal((await entries()).meta.total, before);
  const again = { headers: { 'idempotency-key': 'audit-1' }, body: { name: 'Once' } };
  await service.call('PATCH', '/v1/organization', again);
  await service.call('PATCH', '/v1/organization', again);
  assert.equal((await entries()).meta.total, before + 1);
});

test('free-form values are shown by no guess at their names, large bodies are left out', async () => {
  const item = await createItem(service);
  const target = `/v1/content/${item.id}`;
  await service.call('PATCH', target, { body: { customMetadata: { apiToken: 'x', seen: 1 } } });
  await service.call('PATCH', target, { body: { customMetadata: { long: 'x'.repeat(5_000) } } });
  const { data } = await entries(`&resourceId=${item.id}&action=updateContent`);
  assert.deepEqual(
    data.map((entry: { changes: unknown }) => entry.changes),
    [null, { customMetadata: { apiToken: 'x', seen: 1 } }],
  );
});

test('the list pages, filters by key and time, and shows an organization its own', async () => {
  const other = await createOrganization(service, 'Other');
  const seen = await send(`${service.url}/v1/audit`, 'GET', { key: other.secretKey });
  assert.equal(seen.body.meta.total, 0);
  const all = (await entries()).data;
  const ids: string[] = [];
  for (let cursor = ''; ;) {
    const page = await service.call('GET', `/v1/audit?limit=2${cursor}`);
    ids.push(...page.body.data.map((entry: { id: string }) => entry.id));
    if (page.body.meta.nextCursor === null) break;
    cursor = `&cursor=${page.body.meta.nextCursor}`;
  }
  assert.deepEqual(
    ids,
    all.map((entry: { id: string }) => entry.id),
  );
  assert.equal((await entries('&since=2999-01-01T00:00:00Z')).meta.total, 0);
  assert.equal((await entries('&until=2999-01-01T00:00:00Z')).meta.total, all.length);
  assert.equal((await entries('&keyId=key_unknown')).meta.total, 0);
});

test('what the command line changes is recorded too', async () => {
  const { body } = await service.call('GET', '/v1/organization');
  const made = await runCommand(
    ['keys', 'create', '--type', 'publishable', '--name', 'Shop', '--json', '--org', body.data.id],
    { env: { DATABASE_URL: toUrl(service.connection), REELFEED_DATA_DIR: service.dataDir } },
  );
  assert.equal(made.code, 0, made.stderr);
  const { id } = JSON.parse(made.stdout);
  const { data } = await entries(`&resourceId=${id}`);
  assert.equal(data.length, 1);
  assert.deepEqual(data[0].actor, {
    type: 'command_line',
    keyId: null,
    keyName: null,
    personId: null,
    personName: null,
    systemUser: userInfo().username,
  });
  assert.equal(data[0].action, 'createKey');
});

test('a link for a new password from the command line is recorded where the person belongs', async () => {
  const person = await createPerson(service, 'viewer');
  const { body } = await person.call('GET', '/console/account');
  const env = { DATABASE_URL: toUrl(service.connection), REELFEED_DATA_DIR: service.dataDir };
  for (const action of ['reset', 'remove-second-factor']) {
    const { code, stderr } = await runCommand(['people', action, person.email], { env });
    assert.equal(code, 0, stderr);
  }
  const { data } = await entries(`&resourceId=${body.data.id}`);
  assert.deepEqual(
    data
      .filter(({ actor }: { actor: { type: string } }) => actor.type === 'command_line')
      .map(({ action }: { action: string }) => action),
    ['removeSecondFactor', 'createResetLink'],
  );
});

test('the log is exported as CSV and NDJSON, with what the filter leaves', async () => {
  const item = await createItem(service);
  await service.call('PATCH', `/v1/content/${item.id}`, { body: { title: '=1+1, "quoted"' } });
  const path = `/v1/audit?resourceId=${item.id}&action=updateContent`;
  const csv = await service.call('GET', path, { headers: { accept: 'text/csv' } });
  assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8');
  const [head, line = '', end] = csv.text.split('\r\n');
  assert.equal(
    head,
    'recordedAt,action,actor,callerId,callerName,resourceId,requestId,changes,differences',
  );
  assert.match(line, /,updateContent,key,key_\w+,[^,]+,[\w-]+,req_\w+,"\{""title"":/);
  assert.equal(end, '');
  const lines = await service.call('GET', path, { headers: { accept: 'application/x-ndjson' } });
  const { body } = await service.call('GET', path);
  assert.deepEqual(
    lines.text
      .trim()
      .split('\n')
      .map((text): unknown => JSON.parse(text)),
    body.data,
  );
});
