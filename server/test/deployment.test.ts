/** Proves that what is shipped for running the service names what there is. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startService } from './service.ts';

const at = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const read = (name: string) => readFileSync(at(name), 'utf8');

/** Names in PromQL that are neither functions nor label names. */
function metricsIn(expression: string): string[] {
  const bare = expression.replaceAll(/\{[^}]*\}|\[[^\]]*\]|\b(?:by|without) \([^)]*\)/g, ' ');
  return [...bare.matchAll(/\b[a-z]+_[a-z_]+\b(?!\s*\()/g)].map(([name]) => name);
}

test('every metric of the dashboard and of the alert rules is one that the service has', async () => {
  const service = await startService();
  const { text } = await service.call('GET', '/metrics', { key: null });
  const families = [...text.matchAll(/^# TYPE (\S+) (\S+)/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
  );
  const dashboard: { panels: { title: string; targets: { expr: string }[] }[] } = JSON.parse(
    read('deploy/grafana-dashboard.json'),
  );
  const rules = read('deploy/alerts.yml').split('- alert:').slice(1);
  const expressions = [
    ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ...rules.map((rule) => /expr:(.*?)\n {8}for:/s.exec(rule)?.[1] ?? ''),
  ];
  assert.equal(expressions.filter((one) => one.trim() === '').length, 0);
  const used = new Set(expressions.flatMap(metricsIn));
  assert(used.size > 10, [...used].join(' '));
  assert.deepEqual(
    [...used].filter((name) => !families.includes(name)),
    [],
  );
});

test('the image copies what there is, leaves tests out, and runs as a user without rights', () => {
  const lines = read('Dockerfile').split('\n');
  const copied = lines
    .filter((line) => line.startsWith('COPY ') && !line.includes('--from'))
    .flatMap((line) => line.split(' ').slice(1, -1));
  assert(copied.length > 8);
  for (const name of copied) assert(existsSync(at(name)), name);
  const user = lines.findIndex((line) => line.startsWith('USER reelfeed'));
  assert(user > 0 && user < lines.findIndex((line) => line.startsWith('ENTRYPOINT')));
  const workspaces: { workspaces: string[] } = JSON.parse(read('package.json'));
  for (const name of workspaces.workspaces) assert(copied.includes(`${name}/package.json`), name);
});

test('the unit starts the launcher, and no setting in it is unknown', () => {
  const unit = read('deploy/reelfeed.service');
  const program = /^ExecStart=\/opt\/reelfeed\/(\S+) start$/m.exec(unit)?.[1] ?? '';
  assert(existsSync(at(program)), program);
  const known = read('README.md');
  for (const [, name = ''] of unit.matchAll(/^Environment=([A-Z_]+)=/gm)) {
    assert(known.includes(`| \`${name}\` |`), name);
  }
  assert.match(unit, /^User=reelfeed$/m);
});
