/** Parses the modules of the server. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, type ParseResult } from 'oxc-parser';

const src = fileURLToPath(new URL('../../src/', import.meta.url));

export type Source = {
  /** Below `server/src`. */
  readonly file: string;
  readonly feature: string | null;
  readonly parsed: ParseResult;
  readonly imports: readonly Import[];
};

export type Import = {
  /** A path below `server/src`. */
  readonly to: string;
  readonly isType: boolean;
};

export const featureOf = (file: string) => /^features\/([^/]+)\//.exec(file)?.[1] ?? null;

export function readSources(): Source[] {
  return globSync('**/*.ts', { cwd: src })
    .filter((file) => !/\.(test|fixture)\.ts$|conformance|\/testing\//.test(file))
    .toSorted()
    .map((file) => {
      const parsed = parseSync(file, readFileSync(path.join(src, file), 'utf8'));
      return { file, feature: featureOf(file), parsed, imports: importsOf(file, parsed.module) };
    });
}

/** All tests and helpers, below `server`. */
export function readTestFiles(): { file: string; imports: readonly Import[] }[] {
  const server = path.join(src, '..');
  return globSync(['src/**/*.{test,fixture}.ts', 'test/**/*.ts'], { cwd: server }).map((file) => {
    const { module } = parseSync(file, readFileSync(path.join(server, file), 'utf8'));
    return { file, imports: importsOf(file, module) };
  });
}

export function readSqlFiles(): { file: string; text: string }[] {
  const files = globSync('**/*.sql', { cwd: src }).toSorted();
  return files.map((file) => ({ file, text: readFileSync(path.join(src, file), 'utf8') }));
}

function importsOf(file: string, module: ParseResult['module']): Import[] {
  const { staticImports, staticExports } = module;
  const statements = [
    ...staticImports.map(({ moduleRequest, entries }) => ({
      specifier: moduleRequest.value,
      isType: entries.length > 0 && entries.every((entry) => entry.isType),
    })),
    ...staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest, isType }) =>
        moduleRequest === null ? [] : [{ specifier: moduleRequest.value, isType }],
      ),
    ),
  ];
  return statements
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier, isType }) => ({ to: path.join(path.dirname(file), specifier), isType }));
}
