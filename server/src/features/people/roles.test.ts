import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { lowestRole, lowestRoles, scopesOf } from './roles.ts';

const guide = readFileSync(new URL('../../../../docs/people.md', import.meta.url), 'utf8');

test('the guide shows the table of roles', () => {
  const areas = [...new Set(Object.keys(lowestRoles).map((scope) => scope.split(':')[0] ?? ''))];
  const rows = areas.toSorted().map((area) => {
    const [read = '–', write = '–'] = [lowestRoles[`${area}:read`], lowestRoles[`${area}:write`]];
    return `| \`${area}\` | ${read} | ${write} |`;
  });
  const shown = /<!-- roles -->([^]*)<!-- \/roles -->/.exec(guide)?.[1]?.trim().split('\n') ?? [];
  assert.deepEqual(shown.slice(2), rows);
});

test('a route without a scope, or with an unknown one, is for owners', () => {
  assert.equal(lowestRole({ scope: null, role: undefined }), 'owner');
  assert.equal(lowestRole({ scope: 'news:read', role: undefined }), 'owner');
  assert.equal(lowestRole({ scope: 'news:read', role: 'viewer' }), 'viewer');
});

test('each role covers what those before it do', () => {
  assert.equal(scopesOf('owner'), null);
  assert.deepEqual(scopesOf('viewer'), [
    'content:read',
    'feed:read',
    'live:read',
    'analytics:read',
    'experiments:read',
    'settings:read',
    'organization:read',
  ]);
  const admin = scopesOf('admin') ?? [];
  assert.equal(admin.length, Object.keys(lowestRoles).length);
});
