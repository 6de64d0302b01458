/**
 * Proves that each due time of a saved report is announced and mailed, at whatever step the service
 * is killed.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { atEnd } from '../../../test/database.ts';
import {
  connectTo,
  killBeforeWrite,
  killInstance,
  restartInstance,
  startInstance,
  stopInstance,
  type Instance,
} from '../../../test/killable-service.ts';
import { authority, startReceiver } from '../../../test/receiver.ts';
import { eventually, temporaryFolder } from '../../../test/service.ts';

type Mail = { readonly name: string; readonly id: string };
const mails: Mail[] = [];
/** Runs before the mail server acknowledges a mail. */
let beforeTaken: () => Promise<void> = async () => undefined;

async function startMailServer(): Promise<string> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, _session, taken) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const name = /^Subject: (step \d)/m.exec(text)?.[1] ?? '';
        mails.push({ name, id: /^Message-ID: <(.*)>/m.exec(text)?.[1] ?? '' });
        void beforeTaken().then(() => taken());
      });
    },
  });
  // Killed clients close their connections halfway.
  server.on('error', () => undefined);
  const listener = server.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  atEnd(() => new Promise<void>((resolve) => server.close(resolve)));
  return `smtp://127.0.0.1:${(listener.address() as AddressInfo).port}`;
}

/** A report that has just become due once, at the start of this hour. */
async function makeDue(instance: Instance, name: string): Promise<string> {
  const hour = new Date().getUTCHours();
  const body = {
    ...{ name, report: 'overview', range: 'yesterday', schedule: { every: 'day', hour } },
    ...{ recipients: ['ada@example.com'], postsWebhook: true },
  };
  const made = await instance.call('POST', '/v1/analytics/reports', { body });
  assert.equal(made.status, 201, made.text);
  const client = await connectTo(instance);
  await client.query(
    `update saved_report set next_at = date_trunc('hour', now(), 'UTC') where report_id = $1`,
    [made.body.data.id],
  );
  return made.body.data.id;
}

async function blockedOn(instance: Instance, table: string): Promise<void> {
  const client = await connectTo(instance);
  await eventually(
    `a writer that waits for ${table}`,
    async () => {
      const { rows } = await client.query(
        `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query ilike $1`,
        [`%${table}%`],
      );
      return rows.length > 0 ? true : null;
    },
    60_000,
  );
}

test('after a kill at any step, each due time is announced once and mailed', async () => {
  const receiver = await startReceiver();
  const caFile = path.join(await temporaryFolder(), 'ca.pem');
  await writeFile(caFile, authority.cert);
  const env = {
    REELFEED_EGRESS_ALLOW: receiver.allow,
    NODE_EXTRA_CA_CERTS: caFile,
    REELFEED_SMTP_URL: await startMailServer(),
  };
  let instance = await startInstance(await temporaryFolder(), env);
  const webhook = { url: receiver.url, events: ['analytics.report'] };
  const subscribed = await instance.call('POST', '/v1/webhooks', { body: webhook });
  assert.equal(subscribed.status, 201, subscribed.text);

  const reports: string[] = [];
  const begin = async () => {
    reports.push(await makeDue(instance, `step ${reports.length}`));
  };
  const restart = async () => {
    instance = await restartInstance(instance, env);
    await eventually(
      `the mail of step ${reports.length - 1} to be noted`,
      async () => {
        const runs = await runsOf(instance, reports.at(-1) ?? '');
        return runs.length > 0 && runs.every(({ mailedAt }) => mailedAt !== null) ? true : null;
      },
      120_000,
    );
  };
  // Before the run exists, before its result and event are written, and before the event is sent.
  for (const table of ['report_run', 'webhook_event', 'webhook_delivery']) {
    await begin();
    await killBeforeWrite(instance, table, () => blockedOn(instance, table));
    await restart();
  }
  // The mail server has the mail but has not acknowledged it.
  await begin();
  const taking = Promise.withResolvers<void>();
  beforeTaken = async () => {
    beforeTaken = async () => undefined;
    await killInstance(instance);
    taking.resolve();
  };
  await taking.promise;
  await restart();
  // The mail server has acknowledged it, but this is not recorded yet.
  await begin();
  const noting = Promise.withResolvers<void>();
  beforeTaken = async () => {
    beforeTaken = async () => undefined;
    const killed = killBeforeWrite(instance, 'report_run', () => blockedOn(instance, 'mailed_at'));
    void killed.then(noting.resolve, noting.reject);
    await eventually('the lock', async () => isLocked(instance, 'report_run'));
  };
  await noting.promise;
  await restart();

  for (const [step, id] of reports.entries()) {
    const runs = await runsOf(instance, id);
    assert.deepEqual(
      runs.map(({ status }) => status),
      ['ready'],
      `step ${step} has one run`,
    );
    const told = await eventually(
      `the event of step ${step}`,
      async () => {
        const all = receiver.requests
          .map(({ body }) => JSON.parse(body.toString()) as { id: string; data: { runId: string } })
          .filter(({ data }) => data.runId === runs[0]?.id);
        return all.length > 0 ? all : null;
      },
      60_000,
    );
    assert.equal(new Set(told.map((event) => event.id)).size, 1, `step ${step} has one event`);
    const sent = mails.filter(({ name }) => name === `step ${step}`);
    assert.deepEqual([...new Set(sent.map((mail) => mail.id))], [`report-${runs[0]?.id}@reelfeed`]);
    // A mail whose acknowledgement was lost is sent again with the same Message-ID.
    assert.equal(sent.length, step < 3 ? 1 : 2, `mails of step ${step}`);
  }
  await stopInstance(instance);
});

type Run = { readonly id: string; readonly status: string; readonly mailedAt: string | null };

async function runsOf(instance: Instance, reportId: string): Promise<readonly Run[]> {
  const { body } = await instance.call('GET', `/v1/analytics/reports/${reportId}/runs`);
  return body.data as Run[];
}

async function isLocked(instance: Instance, table: string): Promise<true | null> {
  const client = await connectTo(instance);
  const { rows } = await client.query(
    `select 1 from pg_locks where mode = 'ExclusiveLock' and granted and relation = $1::regclass`,
    [table],
  );
  return rows.length > 0 ? true : null;
}
