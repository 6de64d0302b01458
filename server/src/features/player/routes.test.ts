import { strict as assert } from 'node:assert';
import { get } from 'node:http';
import { test, type TestContext } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import Fastify, { type FastifyInstance } from 'fastify';
import { registerPlayerRoutes, type PlayerOptions } from './routes.ts';

async function startPage(
  context: TestContext,
  options: PlayerOptions,
): Promise<{ app: FastifyInstance; address: string }> {
  const app = Fastify();
  registerPlayerRoutes(app, options);
  const address = await app.listen({ port: 0, host: '127.0.0.1' });
  context.after(() => app.close());
  return { app, address };
}

/** Addresses referenced by the page, relative to the folder of `/feed`. */
function filesOf(html: string): string[] {
  return [...html.matchAll(/(?:src|href)="(player\/[^"]+)"/g)].map((match) => match[1] ?? '');
}

/** The bytes as sent over the network. */
function wireBytes(url: string, encoding: string): Promise<{ bytes: Buffer; encoding: string }> {
  return new Promise((resolve, reject) => {
    const request = get(url, { headers: { 'accept-encoding': encoding } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
      response.on('end', () => {
        const said = response.headers['content-encoding'] ?? '';
        resolve({ bytes: Buffer.concat(chunks), encoding: said });
      });
    });
    request.on('error', reject);
  });
}

test('the page is the element and its files, small on the wire and cached for ever', async (context) => {
  const { address } = await startPage(context, { mediaOrigins: [] });
  const html = await (await fetch(`${address}/feed`)).text();
  assert.match(html, /<body>\s*<main><reelfeed-feed page><\/reelfeed-feed><\/main>/);
  const urls = filesOf(html).map((path) => `${address}/${path}`);
  assert.equal(urls.length, 3);
  let total = Buffer.byteLength(html);
  for (const url of urls) {
    const plain = await wireBytes(url, 'identity');
    const gzip = await wireBytes(url, 'gzip, deflate');
    const brotli = await wireBytes(url, 'gzip, deflate, br, zstd');
    assert.deepEqual([plain.encoding, gzip.encoding, brotli.encoding], ['', 'gzip', 'br']);
    assert.deepEqual(gunzipSync(gzip.bytes), plain.bytes);
    assert.deepEqual(brotliDecompressSync(brotli.bytes), plain.bytes);
    if (url.includes('reelfeed-feed')) assert(gzip.bytes.length <= 40_000, `${gzip.bytes.length}`);
    total += brotli.bytes.length;
    const { headers } = await fetch(url);
    assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('access-control-allow-origin'), '*');
  }
  assert(total < 150_000, `${total} bytes`);
});

test('the element’s plain address is asked for again, and unchanged it is not sent again', async (context) => {
  const { address } = await startPage(context, { mediaOrigins: [] });
  const url = `${address}/player/reelfeed-feed.js`;
  const first = await fetch(url);
  assert.equal(first.headers.get('cache-control'), 'public, no-cache');
  assert.match(first.headers.get('content-type') ?? '', /^text\/javascript/);
  const etag = first.headers.get('etag') ?? '';
  assert.equal((await fetch(url, { headers: { 'if-none-match': etag } })).status, 304);
  const other = await fetch(`${url}?v=other`);
  assert.equal(other.headers.get('cache-control'), 'public, no-cache');
});

test('nothing but the player’s own files can be read through their address', async (context) => {
  const { address } = await startPage(context, { mediaOrigins: [] });
  for (const path of [
    '/routes.js',
    '/reelfeed-feed.js.br',
    '/reelfeed-feed.d.ts',
    '/../package.json',
    '/%2e%2e/package.json',
    '/..%2fpackage.json',
    '/constructor',
    '/__proto__',
    '/',
  ]) {
    assert.equal((await fetch(`${address}/player${path}`)).status, 404, path);
  }
});

test('the page allows no inline script, no foreign host and no framing by others', async (context) => {
  const { address } = await startPage(context, {
    mediaOrigins: ['https://cdn.example.com/media/', 'https://cdn.example.com'],
  });
  const response = await fetch(`${address}/feed`);
  const policy = response.headers.get('content-security-policy') ?? '';
  const directives = new Map(
    policy.split('; ').map((directive) => {
      const [name = '', ...values] = directive.split(' ');
      return [name, values.join(' ')];
    }),
  );
  assert.equal(directives.get('default-src'), `'none'`);
  assert.equal(directives.get('script-src'), `'self'`);
  assert.equal(directives.get('style-src'), `'self'`);
  assert.equal(directives.get('media-src'), `'self' blob: https://cdn.example.com`);
  assert.equal(directives.get('connect-src'), `'self' https://cdn.example.com`);
  assert.equal(directives.get('frame-ancestors'), `'self'`);
  assert.doesNotMatch(policy, /unsafe/);
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
  assert.equal(response.headers.get('referrer-policy'), 'strict-origin-when-cross-origin');
  const html = await response.text();
  assert.doesNotMatch(html, /<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=/);
  assert.doesNotMatch(html, /https?:\/\//);
});

test('text that is not a web address cannot become part of the policy', () => {
  const app = Fastify();
  for (const origin of ['data:; script-src *', 'nonsense', "javascript:'unsafe-inline'"]) {
    assert.throws(() => registerPlayerRoutes(app, { mediaOrigins: [origin] }), TypeError);
  }
});

test('the page is revalidated, and unchanged pages are not sent again', async (context) => {
  const { address } = await startPage(context, { mediaOrigins: [] });
  const first = await fetch(`${address}/feed`);
  assert.equal(first.headers.get('cache-control'), 'no-cache');
  const etag = first.headers.get('etag') ?? '';
  const again = await fetch(`${address}/feed`, { headers: { 'if-none-match': etag } });
  assert.equal(again.status, 304);
  const slash = await fetch(`${address}/feed/`);
  assert.equal(slash.url, `${address}/feed`);
});

test('a key for everybody is offered only where one is configured, and cannot break out of its place', async (context) => {
  const without = await startPage(context, { mediaOrigins: [] });
  const plain = await (await fetch(`${without.address}/feed`)).text();
  assert.doesNotMatch(plain, /\bkey=/);
  const key = `rf_pk_"><script>$&</script>`;
  const demo = await startPage(context, { mediaOrigins: [], defaultPublishableKey: key });
  const html = await (await fetch(`${demo.address}/feed`)).text();
  assert(html.includes('key="rf_pk_&quot;>&lt;script>$&amp;&lt;/script>"'));
});
