/** The start page: a way in for each role, and the API by its groups. */
import { readFileSync } from 'node:fs';

type Description = {
  paths: Record<string, Record<string, { tags?: string[]; summary?: string }>>;
  tags?: { name: string; description?: string }[];
};

const methods = ['get', 'post', 'put', 'patch', 'delete'];

const roles = [
  [
    'App developer',
    'Put the feed into an app or a page, and send what viewers do.',
    'app-developer',
  ],
  ['Editor', 'Upload, publish, order and schedule clips.', 'editor'],
  ['Analyst', 'Read reports, compare variants, export events.', 'analyst'],
  ['Operator', 'Run, watch, back up and upgrade the service.', 'operator'],
] as const;

export function startPage(): string {
  const features = roles.map(
    ([title, details, link]) =>
      `  - title: ${title}\n    details: ${details}\n    link: /${link}\n    linkText: Five-minute path`,
  );
  return `---
layout: home
hero:
  name: Reelfeed
  text: A short-video feed that you run yourself
  tagline: Upload, processing, ranking, experiments, statistics and a player, started by one command.
  actions:
    - theme: brand
      text: API reference
      link: /reference/
      target: _self
    - theme: alt
      text: Quick start
      link: /quick-start
    - theme: alt
      text: Recipes
      link: /recipes
features:
${features.join('\n')}
---

## The API

[Every operation](./reference/), tried out in the page, and [every error code](./errors/) with what to do.

${groups().join('\n')}
`;
}

function groups(): string[] {
  const file = new URL('../docs/openapi.json', import.meta.url);
  const { paths } = JSON.parse(readFileSync(file, 'utf8')) as Description;
  const operations = Object.values(paths).flatMap((path) =>
    Object.entries(path).filter(([method]) => methods.includes(method)),
  );
  const counted = Map.groupBy(operations, ([, { tags }]) => tags?.[0] ?? 'Other');
  return [
    '| Group | Operations |',
    '|---|---|',
    ...[...counted].map(
      ([tag, all]) => `| [${tag}](./reference/#tag/${slug(tag)}) | ${all.length} |`,
    ),
  ];
}

function slug(tag: string): string {
  return tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}
