/** Proves HTTPS without a proxy: which certificates are accepted, when, and the consequences. */
import assert from 'node:assert/strict';
import { rename, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { once } from 'node:events';
import { connect } from 'node:tls';
import { test } from 'node:test';
import { createTestCertificate } from '../src/platform/egress/test-certificate.ts';
import { createLogger } from '../src/platform/logging/logging.ts';
import { runCommand } from './processes.ts';
import { authority, receiverCertificate } from './receiver.ts';
import { freePort, send, startService, temporaryFolder } from './service.ts';
import { until } from './waiting.ts';

const folder = await temporaryFolder();
const files = { certificate: path.join(folder, 'cert.pem'), key: path.join(folder, 'key.pem') };
const settings = { REELFEED_TLS_CERT: files.certificate, REELFEED_TLS_KEY: files.key };

async function write(pair: { cert: string; key: string }): Promise<void> {
  await writeFile(files.certificate, pair.cert);
  await writeFile(files.key, pair.key);
}

/** The fingerprint of the certificate on a port. */
async function shown(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

test('with a certificate the service speaks HTTPS, and says so everywhere', async () => {
  await write(receiverCertificate);
  const redirectPort = await freePort();
  const port = await freePort();
  const publicUrl = `https://localhost:${port}`;
  await using service = await startService({
    ...settings,
    PORT: String(port),
    REELFEED_PUBLIC_URL: publicUrl,
    REELFEED_TLS_REDIRECT_PORT: String(redirectPort),
  });
  assert.match(service.url, /^https:\/\/127\.0\.0\.1:/);
  const ready = await send(`${service.url}/readyz`, 'GET');
  assert.equal(ready.status, 200);
  assert.equal(ready.headers.get('strict-transport-security'), 'max-age=31536000');
  const refused = await send(`${service.url}/v1/content`, 'GET');
  assert.equal(refused.status, 401);
  assert.ok(refused.headers.has('strict-transport-security'));
  const { text } = await send(`${service.url}/metrics`, 'GET');
  const [, seconds] = /^tls_certificate_expiry_timestamp_seconds (\S+)$/m.exec(text) ?? [];
  assert.equal(Number(seconds), Date.parse('2049-01-01T00:00:00Z') / 1_000);

  const plain = await send(`http://127.0.0.1:${redirectPort}/feed?a=1`, 'GET', {
    headers: { host: 'evil.example.com' },
  });
  assert.deepEqual([plain.status, plain.headers.get('location')], [308, `${publicUrl}/feed?a=1`]);

  const old = connect({
    port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  });
  await assert.rejects(once(old, 'secureConnect'), /alert|version|protocol/);
});

test('commands reach the service on this machine, whoever has signed its certificate', async () => {
  await write(await createTestCertificate(['localhost']));
  const port = await freePort();
  await using service = await startService({ ...settings, PORT: String(port) });
  const env = { ...settings, PORT: String(port), REELFEED_SECRET_KEY: service.secretKey };
  const hook = `whk_${'0'.repeat(26)}`;
  const since = ['--since', '2026-01-01T00:00:00Z'];
  const answer = await runCommand(['webhooks', 'recover', hook, ...since], { env });
  assert.match(answer.stderr, /returned 404/);
  const checked = await runCommand(['doctor', '--json'], {
    env: { ...env, REELFEED_DATA_DIR: path.join(folder, 'data') },
  });
  const { findings } = JSON.parse(checked.stdout) as { findings: Record<string, string>[] };
  const detail = (subject: string) =>
    findings.find((one) => one['subject'] === subject)?.['detail'];
  assert.match(detail('Certificate') ?? '', /^of DNS:localhost, expires in \d{4} days$/);
  assert.match(detail('Port') ?? '', /in use by a running service$/);
});

test('a new certificate is applied however it arrives, unless it is unusable', async () => {
  const lines: Record<string, string>[] = [];
  const log = createLogger('info', { write: (line: string) => void lines.push(JSON.parse(line)) });
  const [first, second] = [await temporaryFolder(), await temporaryFolder()];
  const put = async (where: string, pair: { cert: string; key: string }) => {
    await writeFile(path.join(where, 'cert.pem'), pair.cert);
    await writeFile(path.join(where, 'key.pem'), pair.key);
  };
  // As in Kubernetes: the files are behind a symlink that is replaced atomically.
  const live = path.join(folder, 'live');
  const lead = async (to: string) => {
    await symlink(to, `${live}.new`);
    await rename(`${live}.new`, live);
  };
  const issue = () => authority.issue(['127.0.0.1', 'localhost']);
  await put(first, await issue());
  await lead(first);
  await using service = await startService(
    {
      REELFEED_TLS_CERT: path.join(live, 'cert.pem'),
      REELFEED_TLS_KEY: path.join(live, 'key.pem'),
    },
    { log },
  );
  const before = await shown(service.url);

  await put(second, await issue());
  await lead(second);
  const after = await until(
    'the linked one',
    () => shown(service.url),
    (now) => now !== before,
  );
  const messages = (text: RegExp) => lines.filter(({ msg = '' }) => text.test(msg));
  assert.equal(messages(/^certificate replaced$/).length, 1);

  const kept = /^new certificate rejected; the old one stays in use$/;
  const problems = () => messages(kept).map(({ problem = '' }) => problem);
  const wrong = async (expected: RegExp) => {
    const known = problems().length;
    await until('the problem', problems, (all) => all.length > known);
    assert.match(problems().at(-1) ?? '', expected);
    assert.equal(await shown(service.url), after);
  };
  const other = await issue();
  await writeFile(path.join(second, 'cert.pem'), other.cert.slice(0, 200));
  await wrong(/cert\.pem contains no PEM certificate\.$/);
  await writeFile(path.join(second, 'cert.pem'), other.cert);
  await wrong(/key\.pem is not the key of the first certificate in .*cert\.pem\.$/);
  await put(second, await authority.issue(['localhost'], { expired: true }));
  await wrong(/expired on 2001-01-01T00:00:00\.000Z\.$/);

  await put(second, other);
  await until(
    'the one in place',
    () => shown(service.url),
    (now) => now !== after,
  );
  assert.equal(problems().length, 3, 'each is told once');
});

test('a start with an unusable certificate ends with one sentence', async () => {
  const good = receiverCertificate;
  const expired = await authority.issue(['localhost'], { expired: true });
  const cases: [RegExp, { cert: string; key: string }][] = [
    [/^REELFEED_TLS_CERT: the certificate in .* expired on 2001-01-01T[^\n]*\.$/, expired],
    [
      /^REELFEED_TLS_KEY: .* is not the key of the first certificate/,
      { ...good, key: expired.key },
    ],
    [/^REELFEED_TLS_KEY: .* contains no PEM private key/, { ...good, key: 'x' }],
    [/^REELFEED_TLS_CERT: .* contains no PEM certificate\.$/, { ...good, cert: good.key }],
  ];
  for (const [message, pair] of cases) {
    await write(pair);
    await assert.rejects(startService(settings), { name: 'ConfigurationError', message });
  }
  await assert.rejects(startService({ REELFEED_TLS_CERT: files.certificate }), {
    message: /belong together: set both, or neither\.$/,
  });
  await assert.rejects(startService({ ...settings, REELFEED_TLS_KEY: '/nowhere' }), {
    message: /^REELFEED_TLS_KEY: cannot read \/nowhere: ENOENT/,
  });
  await assert.rejects(startService({ REELFEED_TLS_REDIRECT_PORT: '8080' }), {
    message: /^REELFEED_TLS_REDIRECT_PORT requires a public URL that starts with https\.$/,
  });
});
