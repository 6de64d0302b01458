/**
 * Judges tests by mutation: changes one operator, constant or statement at a time in the files that
 * contain decisions (`areas.ts`), and runs the tests that load the changed file. A mutant that no
 * test notices survives: it reveals a missing test, or code that has no effect.
 *
 *     npm run test:mutations                          a sample of 40 mutants for each area
 *     npm run test:mutations -- --per-area 15 intake  a smaller sample of one area
 *     npm run test:mutations -- --seed 2              another sample
 *     npm run test:mutations -- --file schedule.ts    only mutants of files with this in their path
 *
 * Only tests that need no service are run, because there are hundreds of runs. Nothing is written
 * to the working tree: a loader hook passes the mutated text to the test process.
 */
import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { areas, type Area } from './areas.ts';
import { loadedBy } from './imports.ts';
import { mutantsOf, type Mutant } from './mutants.ts';

type Sampled = Mutant & { file: string; line: number; before: string };
type Outcome = 'killed' | 'survived' | 'timeout';
type TestFile = { file: string; loads: Set<string>; durationMs: number };

const root = fileURLToPath(new URL('../../src/', import.meta.url));
const hook = new URL('substitute.ts', import.meta.url).href;
const heavy = ['service.ts', 'database.ts'].map((file) =>
  fileURLToPath(new URL(`../${file}`, import.meta.url)),
);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'per-area': { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '2' },
    file: { type: 'string', default: '' },
  },
});

const filesOf = (globs: string[]): string[] =>
  globSync(globs, { cwd: root }).map((file) => path.join(root, file));

/** A permutation determined only by the seed, so that a run can be repeated. */
function shuffled<T>(all: T[], seed: number): T[] {
  let state = seed;
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  const keyed = all.map((one) => ({ one, key: random() }));
  return keyed.toSorted((a, b) => a.key - b.key).map(({ one }) => one);
}

function sample(area: Area): Sampled[] {
  const sources = filesOf(area.sources).filter(
    (file) => !/\.(test|fixture)\.ts$/.test(file) && file.includes(values.file),
  );
  const all = sources.flatMap((file) => {
    const source = readFileSync(file, 'utf8');
    return mutantsOf(source).map((mutant) => ({
      ...mutant,
      file,
      line: source.slice(0, mutant.start).split('\n').length,
      before: source.slice(mutant.start, mutant.end),
    }));
  });
  return shuffled(all, Number(values.seed) * 7_919).slice(0, Number(values['per-area']));
}

/** Runs a test file, with or without a mutant. Resolves to null if it takes too long. */
function passes(file: string, timeoutMs: number, mutant?: Sampled): Promise<boolean | null> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean | null>();
  const given = mutant && { ...mutant, url: pathToFileURL(mutant.file).href };
  const child = spawn(process.execPath, [file], {
    stdio: 'ignore',
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    env: {
      NODE_COMPILE_CACHE: path.join(root, '../../node_modules/.cache/compile'),
      ...process.env,
      NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import=${hook}`,
      REELFEED_TEST_MUTANT: JSON.stringify(given ?? {}),
    },
  });
  child.on('error', reject);
  child.on('close', (code, signal) => resolve(signal === null ? code === 0 : null));
  return promise;
}

/** Whether a test starts the service or a database. Merely loading their helpers does not count. */
function needsService(loads: Set<string>): boolean {
  return [...loads].some(
    (file) =>
      !heavy.includes(file) &&
      /\b(startService|cloneDatabase|openTestDatabase|startTestServer)\(/.test(
        readFileSync(file, 'utf8'),
      ),
  );
}

/** The tests of an area that pass without a service, fastest first. */
async function testsOf(area: Area): Promise<TestFile[]> {
  const tests: TestFile[] = [];
  for (const file of filesOf(area.tests)) {
    const loads = loadedBy(file);
    if (file.includes('.faults.') || needsService(loads)) continue;
    const startedMs = performance.now();
    if ((await passes(file, 60_000)) === true) {
      tests.push({ file, loads, durationMs: performance.now() - startedMs });
    } else {
      console.log(`  left out, because it fails alone: ${path.relative(root, file)}`);
    }
  }
  return tests.toSorted((a, b) => a.durationMs - b.durationMs);
}

async function judge(mutant: Sampled, tests: TestFile[]): Promise<Outcome> {
  const own = mutant.file.replace(/\.ts$/, '.test.ts');
  const loading = tests.filter(({ loads }) => loads.has(mutant.file));
  for (const { file, durationMs } of loading.toSorted((a, b) =>
    a.file === own ? -1 : Number(b.file === own),
  )) {
    const passed = await passes(file, Math.round(10_000 + durationMs * 5), mutant);
    if (passed !== true) return passed === null ? 'timeout' : 'killed';
  }
  return 'survived';
}

async function judgeArea(area: Area): Promise<string> {
  console.log(area.name);
  const tests = await testsOf(area);
  const mutants = sample(area);
  const counts: Record<Outcome, number> = { killed: 0, survived: 0, timeout: 0 };
  const waiting = mutants.values();
  const work = async () => {
    for (const mutant of waiting) {
      const outcome = await judge(mutant, tests);
      counts[outcome] += 1;
      if (outcome !== 'killed') console.log(`  ${outcome} ${describe(mutant)}`);
    }
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
  const noticed = counts.killed + counts.timeout;
  const share = mutants.length === 0 ? 100 : (100 * noticed) / mutants.length;
  return `${area.name}: ${noticed} of ${mutants.length} noticed (${share.toFixed(0)} %), ${counts.timeout} by their time`;
}

function describe({ file, line, before, text }: Sampled): string {
  const shown = before.replaceAll(/\s+/g, ' ').slice(0, 70);
  return `${path.relative(root, file)}:${line}  ${shown}  →  ${text}`;
}

const chosen = areas.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const lines: string[] = [];
for (const area of chosen) lines.push(await judgeArea(area));
console.log(`\n${lines.join('\n')}`);
