/**
 * Are recordings from phones, cameras and editors processed correctly? Prints expected and actual
 * facts and, if the `ffmpeg` program is installed, checks that it decodes every rendition without
 * an error.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { mediaSample } from '../server/test/media-samples.ts';
import { runMediaTask } from '../server/src/features/media/media.ts';
import {
  FIXTURES,
  isRight,
  measure,
  type Facts,
} from '../server/src/features/media/testing/fixtures.ts';
import {
  GENEROUS,
  prepareSample,
  workFolder,
} from '../server/src/features/media/testing/run-task.ts';

const run = promisify(execFile);
const hasProgram = await run('ffmpeg', ['-version']).then(
  () => true,
  () => false,
);
const facts = Object.keys(FIXTURES[0]?.expected ?? {}) as (keyof Facts)[];

function shown(value: string | number | null): string {
  if (value === null) return '-';
  return typeof value === 'number' ? String(Math.round(value * 100) / 100) : value;
}

/** The second decoder's first error for any rendition in these folders, or null. */
async function complaint(folders: readonly string[]): Promise<string | null> {
  for (const folder of folders) {
    const input = ['-i', join(folder, 'index.m3u8')];
    const { stderr } = await run('ffmpeg', ['-v', 'error', '-xerror', ...input, '-f', 'null', '-']);
    if (stderr !== '') return stderr.split('\n')[0] ?? stderr;
  }
  return null;
}

async function secondDecoder(name: (typeof FIXTURES)[number]['name']): Promise<string> {
  if (!hasProgram) return 'not installed';
  await using folder = await workFolder();
  const { outputDir, ...prepared } = await prepareSample(folder, name, { quality: 'plus' });
  const completed = join(folder.path, 'completed');
  const sourcePath = await mediaSample(name);
  const task = { type: 'complete', sourcePath, outputDir: completed, prepared } as const;
  const { rungs } = await runMediaTask(task, GENEROUS);
  const [first] = prepared.rungs;
  const folders = rungs.map((rung) =>
    join(rung.name === first?.name ? outputDir : completed, rung.name),
  );
  return (await complaint(folders).catch(String)) ?? `${rungs.length} renditions`;
}

const nameWidth = 52;
const cellWidth = 14;
function print(name: string, cells: readonly string[]): void {
  const padded = cells.map((cell) => cell.padEnd(cellWidth)).join(' ');
  process.stdout.write(`${name.padEnd(nameWidth)} ${padded}\n`);
}

print('fixture', [...facts, 'second decoder']);
for (const fixture of FIXTURES) {
  await using folder = await workFolder();
  const actual = await measure(fixture, folder);
  const cells = facts.map((fact) => {
    const [is, should] = [shown(actual[fact]), shown(fixture.expected[fact])];
    if (isRight(fact, actual, fixture.expected)) return is;
    process.exitCode = 1;
    return `${is} NOT ${should}`;
  });
  const decoded = await secondDecoder(fixture.name);
  if (hasProgram && !/^\d+ renditions$/.test(decoded)) process.exitCode = 1;
  print(`${fixture.name} (${fixture.what})`, [...cells, decoded]);
}
