/** The packed package's components have types, render on a server, and play. */
import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { playing, servePage, startPlayerPages } from '../../../test/player/player.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../../', import.meta.url));
const { options, pages } = await startPlayerPages();

const react = `
import { useState } from 'react';
import { createRoot } from 'react-dom/client';
import { ReelfeedFeed, ReelfeedPlayer, ReelfeedShelf } from '@reelfeed/player/react';
declare const service: { url: string; key: string };

function App() {
  const [count, setCount] = useState(0);
  const given = { src: service.url, publishableKey: service.key };
  return (
    <main>
      <button id="again" onClick={() => setCount(count + 1)}>{count}</button>
      <ReelfeedFeed
        {...given}
        userId="ada"
        texts={{ like: 'Applaud' }}
        onEvent={({ event, contentId }) => document.body.append(event, ' ', contentId, ' ')}
        style={{ height: 600 }}
      >
        <b id="mine">Mine</b>
      </ReelfeedFeed>
    </main>
  );
}
createRoot(document.querySelector('#app')!).render(<App />);

// @ts-expect-error -- an item has to be named
export const none = <ReelfeedPlayer src="" publishableKey="" />;
// @ts-expect-error -- tags are a list
export const wrong = <ReelfeedShelf src="" publishableKey="" tags="news" />;
`;

const vue = `
import { createApp, defineComponent, h, ref } from 'vue';
import { ReelfeedFeed, ReelfeedPlayer } from '@reelfeed/player/vue';
declare const service: { url: string; key: string };

const App = defineComponent(() => {
  const count = ref(0);
  return () =>
    h('main', { style: 'height: 600px' }, [
      h('button', { id: 'again', onClick: () => (count.value += 1) }, String(count.value)),
      h(
        ReelfeedFeed,
        {
          src: service.url,
          publishableKey: service.key,
          userId: 'ada',
          texts: { like: 'Applaud' },
          style: 'height: 600px',
          onEvent: ({ event, contentId }) => document.body.append(event, ' ', contentId, ' '),
        },
        () => [h('b', { id: 'mine' }, 'Mine')],
      ),
    ]);
});
createApp(App).mount('#app');

// @ts-expect-error -- an item has to be named
export const none = h(ReelfeedPlayer, { src: '', publishableKey: '' });
`;

/** A project with the packed package, React and Vue installed. */
async function makeProject(): Promise<string> {
  const project = await mkdtemp(join(tmpdir(), 'reelfeed-components-'));
  after(() => rm(project, { recursive: true, force: true }));
  const modules = join(project, 'node_modules');
  await mkdir(join(modules, '@reelfeed', 'player'), { recursive: true });
  const { stdout } = await run(
    'npm',
    ['pack', './player', '--json', '--pack-destination', project],
    {
      cwd: root,
    },
  );
  const [packed] = JSON.parse(stdout) as { filename: string }[];
  const archive = join(project, packed?.filename ?? '');
  const target = join(modules, '@reelfeed', 'player');
  await run('tar', ['-xzf', archive, '-C', target, '--strip-components=1']);
  for (const name of ['react', 'react-dom', 'vue', '@vue', '@types', 'csstype']) {
    await symlink(join(root, 'node_modules', name), join(modules, name));
  }
  await writeFile(join(project, 'package.json'), '{ "type": "module" }');
  await writeFile(join(project, 'react-page.tsx'), react);
  await writeFile(join(project, 'vue-page.ts'), vue);
  return project;
}

const project = 'skip' in options ? '' : await makeProject();

test('the components have types, and wrong properties are found', options, async () => {
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    jsx: 'react-jsx',
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
    skipLibCheck: false,
  };
  const config = { compilerOptions, files: ['react-page.tsx', 'vue-page.ts'] };
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify(config));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const problems = await run(process.execPath, [compiler, '-p', project]).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  );
  assert.equal(problems, '');
});

test('a server renders the empty elements', options, async () => {
  const render = `
    import { createElement } from 'react';
    import { renderToString } from 'react-dom/server';
    import { createSSRApp, h } from 'vue';
    import { renderToString as renderVue } from '@vue/server-renderer';
    import * as react from '@reelfeed/player/react';
    import * as vue from '@reelfeed/player/vue';
    const given = { src: 'https://video.example.com', publishableKey: 'rf_pk_1', contentId: 'one' };
    console.log(renderToString(createElement(react.ReelfeedPlayer, given)));
    console.log(await renderVue(createSSRApp({ render: () => h(vue.ReelfeedPlayer, given) })));
  `;
  const file = join(project, 'render.js');
  await writeFile(file, render);
  const { stdout } = await run(process.execPath, [file], { cwd: project });
  const element =
    /^<reelfeed-player src="https:\/\/video\.example\.com" publishable-key="rf_pk_1" content-id="one"[^>]*>(?:<!--.*?-->)*<\/reelfeed-player>$/;
  const [one = '', other = ''] = stdout.trim().split('\n');
  assert.match(one, element);
  assert.match(other, element);
});

for (const page of ['react-page.tsx', 'vue-page.ts']) {
  test(`${page} plays, and a new rendering leaves the feed alone`, options, async (context) => {
    await pages.ready(await pages.upload('small.mp4', `A clip for ${page}`));
    const { outputFiles } = await build({
      entryPoints: [join(project, page)],
      bundle: true,
      write: false,
      format: 'esm',
      jsx: 'automatic',
      splitting: true,
      outdir: join(project, 'out'),
      define: {
        'process.env.NODE_ENV': '"production"',
        __VUE_OPTIONS_API__: 'true',
        __VUE_PROD_DEVTOOLS__: 'false',
        __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
      },
    });
    const { url, publishableKey } = pages.service;
    const visit = await pages.visit(context, '', { viewport: { width: 500, height: 800 } });
    const service = JSON.stringify({ url, key: publishableKey });
    const entry = page.replace(/\.tsx?$/, '.js');
    const origin = await servePage(
      `<!doctype html><title>App</title><div id="app"></div><script>globalThis.service = ${service}</script><script type="module" src="/app/${entry}"></script>`,
    );
    await visit.page.route(`${origin}/app/*`, async (route) => {
      const name = new URL(route.request().url()).pathname.split('/').pop() ?? '';
      const file = outputFiles.find(({ path }) => path.endsWith(`/${name}`));
      await route.fulfill({ contentType: 'text/javascript', body: file?.text ?? '' });
    });
    let asked = 0;
    visit.page.on('request', (request) => (asked += Number(request.url().includes('/v1/feed'))));
    await visit.page.goto(origin);
    await playing(visit.page);
    await visit.page.getByRole('button', { name: 'Applaud' }).first().waitFor();
    assert.equal(await visit.page.locator('#mine').innerText(), 'Mine');
    const before = asked;
    for (let times = 0; times < 3; times += 1) await visit.page.locator('#again').click();
    await visit.page.getByRole('button', { name: '3', exact: true }).waitFor();
    assert.equal(asked, before);
    assert.match(await visit.page.locator('body').innerText(), /playStart/);
    assert.deepEqual(visit.errors, []);
  });
}
