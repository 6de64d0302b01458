import { strict as assert } from 'node:assert';
import { test, type TestContext } from 'node:test';
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

/** Addresses that the page names, relative to the folder of `/feed`. */
function assetsOf(html: string): string[] {
  return [...html.matchAll(/(?:src|href)="(feed\/assets\/[^"]+)"/g)].map((match) => match[1] ?? '');
}

test('every module that the page needs is served as JavaScript, with no import left unresolved', async (context) => {
  const { address } = await startPage(context, { mediaOrigins: [] });
  const html = await (await fetch(`${address}/feed`)).text();
  const queue = assetsOf(html).map((path) => new URL(path, `${address}/`).href);
  assert(queue.length >= 6);
  const seen = new Set<string>();
  for (let url = queue.pop(); url !== undefined; url = queue.pop()) {
    if (seen.has(url)) continue;
    seen.add(url);
    const response = await fetch(url);
    assert.equal(response.status, 200, url);
    assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
    const text = await response.text();
    if (!url.endsWith('.js') || url.includes('/vendor/')) continue;
    assert.match(response.headers.get('content-type') ?? '', /^text\/javascript/);
    assert.doesNotMatch(text, /\binterface \w|: string\b/, `${url} still has types`);
    for (const match of text.matchAll(/\bfrom '([^']+)'/g)) {
      assert.match(match[1] ?? '', /^\.\.\/\w+\/[\w-]+\.js$/);
      queue.push(new URL(match[1] ?? '', url).href);
    }
  }
  assert(seen.size > 25);
});

test('nothing but the page’s own files can be read through the asset address', async (context) => {
  const { address } = await startPage(context, { mediaOrigins: [] });
  const html = await (await fetch(`${address}/feed`)).text();
  const [first = ''] = assetsOf(html);
  const base = `${address}/${first.split('/').slice(0, 3).join('/')}`;
  for (const path of [
    '/routes.js',
    '/page/feed-list.test.js',
    '/page/../routes.ts',
    '/page/%2e%2e/routes.ts',
    '/page%2fmain.js/..',
    '/constructor',
    '/__proto__',
    '/',
    '/page/main.ts',
  ]) {
    assert.equal((await fetch(base + path)).status, 404, path);
  }
  assert.equal((await fetch(`${address}/feed/assets/other/page/main.js`)).status, 404);
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

test('text that is no web address cannot become part of the policy', () => {
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
  assert.match(plain, /<meta name="reelfeed-key" content="" \/>/);
  const key = `rf_pk_"><script>$&</script>`;
  const demo = await startPage(context, { mediaOrigins: [], defaultPublishableKey: key });
  const html = await (await fetch(`${demo.address}/feed`)).text();
  assert(html.includes('content="rf_pk_&quot;>&lt;script>$&amp;&lt;/script>"'));
});
