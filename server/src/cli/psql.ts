/**
 * `reelfeed psql`: opens a session with the installation's database, embedded or external. Runs
 * psql if it is installed, otherwise a small built-in prompt.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import type { Client } from 'pg';
import { readPlatformConfig } from '../platform/settings/config.ts';
import type { DatabaseConnection } from '../platform/database/database.ts';
import { withSession } from '../platform/database/session.ts';
import { print, type Command } from './command.ts';
import { withConnection } from './with-database.ts';

const maxCellLength = 60;
const session = { applicationName: 'reelfeed-psql', unlimited: ['statement_timeout'] };

export const psqlCommand: Command = async ({ env, json, positionals: [action], execute }) => {
  await withConnection(readPlatformConfig(env), async (connection) => {
    const variables = connectionVariables(connection);
    if (action === 'connection') {
      const shown = Object.entries(variables).map(([name, value]) => `export ${name}='${value}'`);
      print(json, variables, shown);
    } else if (spawnSync('psql', ['--version'], { env }).status === 0) {
      await runPsql({ ...env, ...variables }, execute);
    } else {
      await withSession(connection, session, (client) => prompt(client, execute));
    }
  });
};

/**
 * The environment variables from which libpq, and therefore every PostgreSQL tool, takes the
 * connection.
 */
function connectionVariables(connection: DatabaseConnection): Record<string, string> {
  if (!('url' in connection)) {
    const { host, port, user, password, database } = connection;
    return {
      PGHOST: host,
      PGPORT: String(port),
      PGUSER: user,
      PGPASSWORD: password,
      PGDATABASE: database,
    };
  }
  const url = new URL(connection.url);
  const { searchParams } = url;
  const found = {
    PGHOST: searchParams.get('host') ?? decodeURIComponent(url.hostname),
    PGPORT: searchParams.get('port') ?? url.port,
    PGUSER: decodeURIComponent(url.username),
    PGPASSWORD: decodeURIComponent(url.password),
    PGDATABASE: decodeURIComponent(url.pathname.slice(1)),
    PGSSLMODE: searchParams.get('sslmode') ?? '',
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== ''));
}

/** The password goes into the environment, because every user of the machine can read arguments. */
async function runPsql(env: NodeJS.ProcessEnv, execute: string | undefined): Promise<void> {
  const args = execute === undefined ? [] : ['--set=ON_ERROR_STOP=1', `--command=${execute}`];
  // Ctrl-C ends a statement, not the session.
  const ignore = () => undefined;
  process.on('SIGINT', ignore);
  const child = spawn('psql', args, { env, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  process.off('SIGINT', ignore);
  process.exitCode = code ?? 1;
}

/** Reads statements, each terminated by a semicolon, and prints their results. */
async function prompt(client: Client, execute: string | undefined): Promise<void> {
  if (execute !== undefined) {
    await client.query(execute).then(showAnswers);
    return;
  }
  const isTerminal = process.stdin.isTTY;
  if (isTerminal) process.stdout.write('psql is not installed. This prompt accepts SQL and \\q.\n');
  const lines = createInterface({
    input: process.stdin,
    ...(isTerminal && { output: process.stdout }),
  });
  lines.setPrompt('reelfeed=> ');
  if (isTerminal) lines.prompt();
  let statement = '';
  for await (const line of lines) {
    if (line.trim() === '\\q') break;
    statement += `${line}\n`;
    if (line.trimEnd().endsWith(';')) {
      await client.query(statement).then(showAnswers, showError);
      statement = '';
    }
    if (isTerminal) lines.prompt();
  }
  if (statement.trim() !== '') await client.query(statement).then(showAnswers, showError);
  lines.close();
}

type Answer = {
  command: string | null;
  rowCount: number | null;
  fields: readonly { name: string }[];
  rows: readonly Readonly<Record<string, unknown>>[];
};

/** `pg` returns one result for a single statement and an array for several. */
function showAnswers(answers: unknown): void {
  for (const { command, rowCount, fields, rows } of [answers].flat() as Answer[]) {
    if (fields.length === 0) {
      process.stdout.write(`${command ?? ''} ${rowCount ?? ''}\n`);
      continue;
    }
    const names = fields.map(({ name }) => name);
    const cells = rows.map((row) => names.map((name) => written(row[name])));
    const widths = names.map((name, at) =>
      Math.max(name.length, ...cells.map((row) => row[at]?.length ?? 0)),
    );
    const line = (row: readonly string[]) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join(' | ')
        .trimEnd();
    const rule = widths.map((width) => '-'.repeat(width)).join('-+-');
    const count = `(${rows.length} row${rows.length === 1 ? '' : 's'})`;
    process.stdout.write(`${[line(names), rule, ...cells.map(line), count].join('\n')}\n`);
  }
}

function written(value: unknown): string {
  const plain = textOf(value).replaceAll(/\s+/g, ' ');
  return plain.length > maxCellLength ? `${plain.slice(0, maxCellLength - 1)}…` : plain;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (value instanceof Date) return value.toISOString();
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  return JSON.stringify(value);
}

function showError(error: Error): void {
  process.exitCode = 1;
  process.stderr.write(`ERROR: ${error.message}\n`);
}
