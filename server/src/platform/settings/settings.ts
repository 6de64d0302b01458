/**
 * Declarations of settings. The parser, the messages about invalid values and the table in the
 * README are all derived from them.
 */
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import type { Parser } from './config-values.ts';

export type Setting<T> = {
  readonly env: string;
  readonly parse: Parser<T>;
  /** Shown in the documentation if it differs from the declared default. */
  readonly fallback: string;
  readonly about: string;
  /** Secrets are never printed, and may be given in a file named by `<NAME>_FILE`. */
  readonly secret?: true;
  /**
   * SIGHUP applies a new value, so code that uses it must read it from the configuration each time.
   */
  readonly reloads?: true;
};

/** Names a file whose lines are also settings. */
export const envFileVariable = 'REELFEED_ENV_FILE';

export function setting<T>(definition: Setting<T>): Setting<T> {
  return definition;
}

/** Settings, keyed by their names in the code. */
export type SettingTable = Readonly<Record<string, Setting<unknown>>>;

export type SettingValues<Table extends SettingTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Setting<infer T> ? T : never;
};

export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/**
 * Reads a table of settings from an environment.
 *
 * @throws ConfigurationError naming all invalid values at once, each with what was expected
 */
export function readSettings<Table extends SettingTable>(
  table: Table,
  given: NodeJS.ProcessEnv,
): SettingValues<Table> {
  const env = withEnvFile(given);
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, definition] of Object.entries(table)) {
    const raw = readRaw(env, definition, problems);
    const parsed = definition.parse(raw);
    if ('problem' in parsed) {
      const shown = definition.secret === true ? 'the given value' : JSON.stringify(raw);
      problems.push(`${definition.env}: ${shown} is not valid: expected ${parsed.problem}`);
    } else {
      values[name] = parsed.value;
    }
  }
  if (problems.length > 0) {
    throw new ConfigurationError(`The configuration is not valid:\n  ${problems.join('\n  ')}`);
  }
  return values as SettingValues<Table>;
}

/**
 * The environment, overridden by the lines of the file that it names: systemd may have put older
 * lines of the same file into the environment.
 *
 * @throws ConfigurationError for a file that can't be read, or a line that is not a setting
 */
function withEnvFile(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const file = env[envFileVariable];
  if (file === undefined || file === '') return env;
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    const problem = `cannot read ${file}: ${(error as Error).message}`;
    throw new ConfigurationError(`${envFileVariable}: ${problem}`);
  }
  for (const [index, line] of content.split(/\r?\n/).entries()) {
    if (/^\s*(#|;|$)/.test(line) || /^\s*[A-Za-z_]\w*\s*=/.test(line)) continue;
    // The line itself may contain a secret.
    throw new ConfigurationError(
      `${envFileVariable}: line ${index + 1} of ${file} is not NAME=value.`,
    );
  }
  return { ...env, ...parseEnv(content) };
}

function readRaw(env: NodeJS.ProcessEnv, definition: Setting<unknown>, problems: string[]): string {
  const given = env[definition.env];
  if (given !== undefined && given !== '') return given;
  const file = definition.secret ? env[`${definition.env}_FILE`] : undefined;
  if (file === undefined || file === '') return definition.fallback;
  try {
    const content = readFileSync(file, 'utf8').trim();
    // An empty file is a secret that has not been written yet. Ignoring it could, for example,
    // start the embedded database instead of connecting to the one that holds the data.
    if (content === '') problems.push(`${definition.env}_FILE: the file ${file} is empty`);
    return content;
  } catch (error) {
    problems.push(`${definition.env}_FILE: cannot read ${file}: ${(error as Error).message}`);
    return definition.fallback;
  }
}

/** Names of `REELFEED_` variables that match no setting; most are spelling mistakes. */
export function unknownVariables(table: SettingTable, given: NodeJS.ProcessEnv): string[] {
  const env = withEnvFile(given);
  const known = new Set<string>([envFileVariable]);
  for (const definition of Object.values(table)) {
    known.add(definition.env);
    if (definition.secret) known.add(`${definition.env}_FILE`);
  }
  return Object.keys(env).filter((name) => name.startsWith('REELFEED_') && !known.has(name));
}

/** The table as Markdown, for the README. */
export function describeSettings(table: SettingTable): string {
  const rows = Object.values(table).map((definition) => {
    const fallback = definition.fallback === '' ? 'none' : `\`${definition.fallback}\``;
    const about = definition.about + (definition.reloads === true ? ' Reloadable.' : '');
    return `| \`${definition.env}\` | ${fallback} | ${about} |`;
  });
  return ['| Variable | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
}
