import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test, type TestContext } from 'node:test';
import { parseAllowList } from './allow-list.ts';
import { BlockedAddressError, EgressError } from './egress-errors.ts';
import { createEgress, type Egress, type EgressOptions } from './egress.ts';
import {
  lookupGiving,
  receiverCertificate,
  receiverName,
  startListener,
  startReceiver,
} from './test-receiver.ts';

const limits = { totalTimeoutMs: 5_000, maxBodyBytes: 1_000 };

function open(t: TestContext, allow: string[], options: Partial<EgressOptions> = {}): Egress {
  const ca = [receiverCertificate.cert];
  const egress = createEgress({ allow: parseAllowList(allow), ca, ...options });
  t.after(() => egress[Symbol.asyncDispose]());
  return egress;
}

/**
 * Hosts used in attempts to reach internal addresses. All lead to 127.0.0.1, ::1, or another
 * special address.
 */
// oxfmt-ignore
const hostileHosts = [
  '127.0.0.1', '127.1', '0x7f.1', '0x7f.0x0.0x0.0x1', '0x7f000001', '2130706433', '017700000001',
  '0177.0.0.1', '①②⑦.⓪.⓪.①', '１２７.０.０.１', '127。0。0。1', '127.255.255.254', '0', '0.0.0.0',
  '169.254.169.254', '0xa9fea9fe', '2852039166', '0251.0376.0251.0376',
  '[::]', '[::1]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:127.0.0.1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b::169.254.169.254]',
  '[64:ff9b:1::1]', '[64:ff9b:1::a9fe:a9fe]', '[2002:7f00:1::]', '[2002:7f00:1::1]', '[fe80::1]',
  '[fc00::1]', '[fd00:ec2::254]', '[fec0::1]', '[ff02::1]', '[5f00::1]', '[100::1]',
  '[2001:db8::1]', '[3fff::1]', '[2001:0:7f00:1::1]', '[2606:4700::5efe:7f00:1]',
  '10.254.0.0', '172.16.10.65', '192.168.10.65', '100.100.100.200', '100.64.0.1', '192.0.0.1',
  '192.0.0.192', '192.0.2.255', '198.18.0.1', '198.51.100.65', '203.0.113.6', '224.1.2.3',
  '240.0.0.1', '240.240.240.240', '255.255.255.255', '0.1.2.3', '168.63.129.16',
  'localhost', 'LOCALHOST',
];

test('no spelling of a special address gets a connection, when checked or when called', async (t) => {
  const listener = await startListener(t, (socket) => socket.destroy());
  const sixth = await startListener(t, (socket) => socket.destroy(), {
    host: '::1',
    port: listener.port,
  }).catch(() => null);
  const blocked: string[] = [];
  const egress = open(t, [], { onBlocked: (error) => blocked.push(error.address) });
  for (const host of hostileHosts) {
    const url = `https://${host}:${listener.port}/hook`;
    await assert.rejects(egress.checkUrl(url), BlockedAddressError, url);
    await assert.rejects(egress.request({ url, ...limits }), BlockedAddressError, url);
    const plain = { url: url.replace('https', 'http'), schemes: ['http:'], ...limits } as const;
    await assert.rejects(egress.request(plain), BlockedAddressError, url);
    await assert.rejects(egress.download({ ...plain, maxRedirects: 3 }), BlockedAddressError, url);
  }
  assert.equal(listener.connects() + (sixth?.connects() ?? 0), 0);
  assert.equal(blocked.length, hostileHosts.length * 4, 'each refusal was counted once');
});

test('a name is refused when a single one of its addresses is', async (t) => {
  const listener = await startListener(t, (socket) => socket.destroy());
  const answers = [
    ['127.0.0.1'],
    ['93.184.215.14', '127.0.0.1'],
    ['93.184.215.14', 'fe80::1'],
    ['2606:4700:4700::1111', '::ffff:10.0.0.1'],
    [...Array.from({ length: 200 }, (_, index) => `93.184.215.${index}`), '127.0.0.1'],
  ];
  for (const answer of answers) {
    const egress = open(t, [], { lookup: lookupGiving(answer) });
    const url = `https://metadata.google.internal:${listener.port}/`;
    await assert.rejects(egress.checkUrl(url), BlockedAddressError);
    await assert.rejects(egress.request({ url, ...limits }), (error) => {
      assert.ok(error instanceof BlockedAddressError);
      assert.ok(!error.message.includes(error.address), 'the message tells no internal address');
      return true;
    });
  }
  assert.equal(listener.connects(), 0);
});

test('a name that changes after it was checked is refused at the connection', async (t) => {
  const listener = await startListener(t, (socket) => socket.destroy());
  const egress = open(t, [], { lookup: lookupGiving(['93.184.215.14'], ['127.0.0.1']) });
  const url = `https://rebind.test:${listener.port}/`;
  await egress.checkUrl(url);
  await assert.rejects(egress.request({ url, ...limits }), BlockedAddressError);
  assert.equal(listener.connects(), 0);
});

test('the connection goes to the address that was judged; no second answer is asked for', async (t) => {
  const judged = await startReceiver(t, (_request, response) => response.end('judged'));
  const other = await startListener(t, (socket) => socket.destroy(), {
    host: '127.0.0.2',
    port: judged.port,
  }).catch(() => null);
  const lookup = lookupGiving(['127.0.0.1'], ['127.0.0.2']);
  const egress = open(t, [`127.0.0.1:${judged.port}`], { lookup });
  const response = await egress.request({
    url: `https://${receiverName}:${judged.port}/`,
    ...limits,
  });
  assert.equal(response.body.toString(), 'judged');
  assert.equal(lookup.calls(), 1);
  assert.equal(other?.connects() ?? 0, 0);
});

test('public addresses, and only their HTTP ports, pass the check', async (t) => {
  const egress = open(t, []);
  const hosts = ['1.1.1.1', '8.8.8.8', '[2606:4700:4700::1111]', '[2001:4860:4860::8888]'];
  hosts.push('100.63.255.254', '100.128.0.1', '192.88.98.255', '192.88.100.1', '223.255.255.255');
  for (const host of hosts) {
    assert.equal((await egress.checkUrl(`https://${host}:8443/hook?a=b`)).hostname, host);
  }
  const invalid = { failure: 'invalid_url' };
  for (const port of [1, 22, 25, 587, 1023, 2375, 5432, 6379, 11211]) {
    await assert.rejects(egress.checkUrl(`https://1.1.1.1:${port}/`), invalid, `${port}`);
    await assert.rejects(egress.request({ url: `https://1.1.1.1:${port}/`, ...limits }), invalid);
  }
});

test('an exception opens exactly its target', async (t) => {
  const open443 = await startReceiver(t, (_request, response) => response.end('ok'));
  const closed = await startListener(t, (socket) => socket.destroy());
  const egress = open(t, [`127.0.0.1:${open443.port}`, `${receiverName}:${open443.port}`], {
    lookup: lookupGiving(['127.0.0.1']),
  });
  for (const host of ['127.0.0.1', '127.1', receiverName]) {
    const response = await egress.request({ url: `https://${host}:${open443.port}/`, ...limits });
    assert.equal(response.status, 200);
    const url = `https://${host}:${closed.port}/`;
    await assert.rejects(egress.request({ url, ...limits }), BlockedAddressError);
  }
  assert.equal(closed.connects(), 0);
});

test('what is not a plain URL of an allowed scheme is refused before anything is resolved', async (t) => {
  const lookup = lookupGiving(['93.184.215.14']);
  const egress = open(t, [], { lookup });
  // oxfmt-ignore
  const urls = [
    '', 'not-a-url', 'example.com', '//example.com', 'https://', 'https:///x', 'https:example.com',
    'http://example.com', 'ftp://example.com', 'javascript:alert(1)', 'file:///etc/passwd',
    'data:text/plain,x', 'https://[127.0.0.1]/', 'https://::1/', 'https://[::1%lo]/',
    'https://[fe80::1%25eth0]/', 'https://127.0.0.256/', 'https://1.2.3.4.5/',
    'https://example.com:99999/', 'https://example.com:0/', 'https://example.com:65536/',
    'https://user@example.com/', 'https://user:pass@example.com/', 'https://A.com@127.0.0.1/',
    'https://example.com/#part', 'https://example.com./', 'https://localhost./',
    ' https://example.com/', 'https://example.com/ x', 'https://exa\nmple.com/', 'https:\\\\a.com',
    'https://example.com\\@127.0.0.1/', `https://example.com/${'a'.repeat(2_048)}`,
  ];
  for (const url of urls) {
    await assert.rejects(egress.checkUrl(url), { failure: 'invalid_url' }, JSON.stringify(url));
    await assert.rejects(egress.request({ url, ...limits }), { failure: 'invalid_url' });
  }
  assert.equal(lookup.calls(), 0);
  await egress.checkUrl('http://example.com/', { schemes: ['http:', 'https:'] });
});

test('a name without an answer is a DNS failure, and a silent resolver ends in time', async (t) => {
  const url = 'https://nobody.test/';
  const nothing = open(t, [], { lookup: lookupGiving([]) });
  await assert.rejects(nothing.checkUrl(url), { failure: 'dns_error' });
  await assert.rejects(nothing.request({ url, ...limits }), { failure: 'dns_error' });
  const silent = open(t, [], { lookup: () => undefined, connectTimeoutMs: 200 });
  await assert.rejects(silent.request({ url, ...limits }), { failure: 'timeout' });
  const gone = AbortSignal.abort(new Error('gone'));
  await assert.rejects(silent.checkUrl(url, {}, gone), { message: 'gone' });
});

const canTrace =
  spawnSync('strace', ['-f', '-e', 'trace=none', 'true'], { stdio: 'ignore' }).status === 0;

test(
  'the system sees no connect call for a refused address',
  { skip: canTrace ? false : 'strace does not work here' },
  () => {
    const script = `
      import { createEgress } from ${JSON.stringify(new URL('./egress.ts', import.meta.url).href)};
      import { parseAllowList } from ${JSON.stringify(new URL('./allow-list.ts', import.meta.url).href)};
      const lookup = (name, options, callback) => callback(null, [{ address: '10.1.2.3', family: 4 }]);
      const egress = createEgress({ allow: parseAllowList([]), lookup });
      for (const host of ['127.0.0.1', '[::1]', '169.254.169.254', '10.0.0.1', 'name.test']) {
        await egress.request({ url: 'https://' + host + '/', totalTimeoutMs: 1000, maxBodyBytes: 1 })
          .then(() => process.exit(1), () => undefined);
      }
      console.log('all refused');`;
    const trace = ['-f', '-qq', '-e', 'signal=none', '-e', 'trace=connect,sendto,sendmmsg'];
    const node = [process.execPath, '--input-type=module', '-e', script];
    const { stdout, stderr, status } = spawnSync('strace', [...trace, ...node], {
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    assert.equal(stdout, 'all refused\n');
    assert.ok(!/AF_INET/.test(stderr), stderr);
  },
);

test('an error of the guard says that nothing was sent', () => {
  const error = new BlockedAddressError({ host: 'a.test', port: 1, address: '10.0.0.1' });
  assert.ok(error instanceof EgressError);
  assert.equal(error.failure, 'blocked_address');
});
