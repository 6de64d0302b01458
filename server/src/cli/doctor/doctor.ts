/**
 * `reelfeed doctor`: finds problems of this installation and says how to fix them. With `--fix` it
 * applies the fixes that are safe to automate; with `--dry-run` it changes nothing.
 */
import { featureChecks } from '../../app/composition.ts';
import { readConfig, type Config } from '../../app/config.ts';
import { features } from '../../app/features.ts';
import { ConfigurationError } from '../../platform/settings/settings.ts';
import { version } from '../../version.ts';
import { print, type Command } from '../command.ts';
import { checks } from './checks.ts';
import { problemOf, type Finding, type Fix } from '../../platform/feature/finding.ts';

export const doctor: Command = async ({ env, json, fix: isFixing = false, dryRun = false }) => {
  let findings = await examine(env);
  const fixes: FixReport[] = [];
  for (const { subject, fix } of findings) {
    if (fix === undefined) continue;
    const state = isFixing && !dryRun ? await tryFix(fix) : 'open';
    fixes.push({ subject, action: fix.action, ...(typeof state === 'string' ? { state } : state) });
  }
  if (fixes.some(({ state }) => state === 'done')) findings = await examine(env);
  const problems = findings.filter(({ state }) => state === 'problem').length;
  const closing = problems === 0 ? 'No problems found.' : `Problems found: ${problems}.`;
  const plain = findings.map(({ fix: _fix, ...finding }) => finding);
  print(json, { version, findings: plain, fixes }, [
    ...plain.flatMap(toLines),
    '',
    ...fixes.map(toFixLine),
    ...(fixes.length > 0 && !isFixing ? ['Run reelfeed doctor --fix to apply these fixes.'] : []),
    ...(fixes.length > 0 ? [''] : []),
    closing,
  ]);
  if (problems > 0 || fixes.some(({ state }) => state === 'failed')) process.exitCode = 1;
};

type FixReport = {
  subject: string;
  action: string;
  state: 'open' | 'done' | 'failed';
  problem?: string;
};

async function tryFix(fix: Fix): Promise<'done' | { state: 'failed'; problem: string }> {
  try {
    await fix.apply();
    return 'done';
  } catch (error) {
    return { state: 'failed', problem: (error as Error).message };
  }
}

function toFixLine({ subject, action, state, problem }: FixReport): string {
  if (state === 'failed') return `NOT FIXED  ${subject}: ${action}: ${problem}`;
  return `${state === 'done' ? 'fixed    ' : 'would fix'}  ${subject}: ${action}`;
}

async function examine(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const config = tryConfig(env);
  // Without valid settings, the location of everything else is unknown.
  if (config instanceof ConfigurationError) return [problemOf('Settings', config)];
  const findings: Finding[] = [];
  const all = { ...checks, ...featureChecks(features.list, config) };
  for (const [subject, check] of Object.entries(all)) {
    try {
      findings.push(...(await check(config, env)));
    } catch (error) {
      findings.push(problemOf(subject, error));
    }
  }
  return findings;
}

function tryConfig(env: NodeJS.ProcessEnv): Config | ConfigurationError {
  try {
    return readConfig(env);
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
}

const signs = { ok: 'ok      ', note: 'note    ', problem: 'PROBLEM ' } as const;

function toLines({ subject, state, detail, mend }: Finding): string[] {
  const line = `${signs[state]}${subject.padEnd(20)}${detail}`;
  return mend === undefined ? [line] : [line, `${' '.repeat(28)}→ ${mend}`];
}
