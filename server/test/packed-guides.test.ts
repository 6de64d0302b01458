/**
 * Proves that the packages from `npm pack` install in an empty folder without a registry, and that
 * the guides' programs compile against them unmodified.
 */
import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildClient } from '../../client/build.ts';
import { buildReactNative } from '../../react-native/build.ts';
import { temporaryFolder } from './service.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = await temporaryFolder();
const project = path.join(folder, 'project');

/** The assumptions of a guide: values of the reader's own program, and third-party packages. */
const given: Record<string, string> = {
  'docs/events.md': 'declare const contentId: string;\ndeclare const page: { feedId: string };\n',
  'docs/react-native.md': '',
  'docs/player.md': '',
  'docs/apps.md': '',
  'client/README.md': `declare const id: string, uploadUrl: string;
    declare const file: Blob, signal: AbortSignal, show: (share: number) => void;
`,
};

before(async () => {
  const dists = {
    client: path.join(folder, 'client'),
    'react-native': path.join(folder, 'react-native'),
  };
  await buildClient(dists.client);
  await buildReactNative(dists['react-native']);
  const tarballs: string[] = [];
  for (const dist of [dists.client, dists['react-native'], path.join(root, 'player')]) {
    const packing = await run('npm', ['pack', '--json', '--pack-destination', folder], {
      cwd: dist,
    });
    const [{ filename }]: [{ filename: string }] = JSON.parse(packing.stdout);
    tarballs.push(path.join(folder, filename));
  }
  await mkdir(project);
  await writeFile(path.join(project, 'package.json'), '{ "name": "reader", "type": "module" }');
  const options = ['--offline', '--no-audit', '--no-fund', '--ignore-scripts'];
  await run('npm', ['install', ...options, ...tarballs], { cwd: project });
  // The reader's own React and Node, whose types come from a registry.
  for (const name of ['@types/react', '@types/node', 'csstype', 'undici-types']) {
    const place = path.join(project, 'node_modules', name);
    await cp(path.join(root, 'node_modules', name), place, { recursive: true });
  }
  await writeFile(
    path.join(project, 'others.d.ts'),
    `declare module '@react-native-async-storage/async-storage' {
       const storage: import('@reelfeed/react-native').AppStorage;
       export default storage;
     }`,
  );
});

/** The TypeScript programs in a guide. */
async function programsOf(guide: string): Promise<string[]> {
  const text = await readFile(path.join(root, guide), 'utf8');
  return [...text.matchAll(/```tsx?\b[^\n]*\n([^]*?)```/g)].map(([, program = '']) => program);
}

/** Throws with the compiler's output. */
async function compile(files: readonly string[]): Promise<void> {
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--jsx', 'react-jsx'];
  const modules = ['--module', 'preserve', '--target', 'es2022', '--types', 'node'];
  const args = [compiler, ...options, ...modules, 'others.d.ts', ...files];
  await run(process.execPath, args, { cwd: project }).catch((error: { stdout?: string }) => {
    throw new Error(error.stdout ?? 'The compiler has failed.', { cause: error });
  });
}

test('three packages install from their tarballs alone', async () => {
  const { dependencies } = JSON.parse(
    await readFile(path.join(project, 'package.json'), 'utf8'),
  ) as { dependencies: Record<string, string> };
  assert.deepEqual(Object.keys(dependencies).toSorted(), [
    '@reelfeed/client',
    '@reelfeed/player',
    '@reelfeed/react-native',
  ]);
});

test('the programs of the guides compile as written', async () => {
  const files: string[] = [];
  for (const [guide, declared] of Object.entries(given)) {
    const programs = await programsOf(guide);
    assert(programs.length > 0, `${guide} has no program`);
    const [first = ''] = programs;
    assert.match(first, /from '@reelfeed\//, guide);
    // The first is complete; later ones may continue from it.
    const complete = programs.filter((program) => program.includes("from '@reelfeed/"));
    for (const [index, program] of complete.entries()) {
      const file = `${path.basename(guide, '.md')}-${index}.tsx`;
      await writeFile(path.join(project, file), `${declared}${program}\nexport {};\n`);
      files.push(file);
    }
  }
  await compile(files);
});

test('a program that uses a package wrongly does not compile', async () => {
  const [program = ''] = await programsOf('docs/react-native.md');
  const wrong = program.replace('publishableKey="rf_pk_…"', 'publishableKey={1}');
  assert.notEqual(wrong, program);
  await writeFile(path.join(project, 'wrong.tsx'), wrong);
  await assert.rejects(compile(['wrong.tsx']), /publishableKey|number/);
  await rm(path.join(project, 'wrong.tsx'));
});
