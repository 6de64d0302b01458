/** `reelfeed verify <folder>`: checks that a backup is complete and undamaged. */
import path from 'node:path';
import { print, UsageError, type Command } from '../command.ts';
import { fileProblem, filesOf, readManifest } from './manifest.ts';

export const verify: Command = async ({ json, positionals: [target] }) => {
  if (target === undefined) throw new UsageError('Usage: reelfeed verify <folder>');
  const folder = path.resolve(target);
  const manifest = await readManifest(folder);
  const files = filesOf(manifest);
  const problems: string[] = [];
  for (const file of files) {
    const problem = await fileProblem(folder, file);
    if (problem !== null) problems.push(`${file.path} ${problem}`);
  }
  const { createdAt, version } = manifest;
  const summary =
    problems.length === 0
      ? `The backup of ${createdAt} by Reelfeed ${version} is whole: ${files.length} files.`
      : `The backup is damaged: ${problems.length} of ${files.length} files.`;
  print(json, { createdAt, version, files: files.length, problems }, [...problems, summary]);
  if (problems.length > 0) process.exitCode = 1;
};
