/** `reelfeed doctor`: finds problems of this installation and says how to fix them. */
import { featureChecks } from '../../app/composition.ts';
import { readConfig, type Config } from '../../app/config.ts';
import { features } from '../../app/features.ts';
import { ConfigurationError } from '../../platform/settings.ts';
import { version } from '../../version.ts';
import { print, type Command } from '../command.ts';
import { checks } from './checks.ts';
import { problemOf, type Finding } from '../../platform/finding.ts';

export const doctor: Command = async ({ env, json }) => {
  const findings = await examine(env);
  const problems = findings.filter(({ state }) => state === 'problem').length;
  const closing = problems === 0 ? 'No problem was found.' : `Problems found: ${problems}.`;
  print(json, { version, findings }, [...findings.flatMap(toLines), '', closing]);
  if (problems > 0) process.exitCode = 1;
};

async function examine(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const config = tryConfig(env);
  // Nothing else can be looked at while it is unclear where it is.
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
