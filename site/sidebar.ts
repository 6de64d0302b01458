/** The guides in the order of the site: by role. A guide that no role names is under "More". */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const pages = fileURLToPath(new URL('./pages/', import.meta.url));

const sections: readonly (readonly [title: string, names: readonly string[]])[] = [
  ['Start', ['quick-start', 'recipes', 'troubleshooting']],
  [
    'App developer',
    ['app-developer', 'player', 'react-native', 'apps', 'client', 'events', 'keys'],
  ],
  ['Editor', ['editor', 'content', 'live', 'bulk', 'ranking']],
  ['Analyst', ['analyst', 'analytics', 'metrics', 'own-metrics', 'experiments', 'exports']],
  ['Operator', ['operator', 'operations', 'webhooks']],
];

type Link = { text: string; link: string; target?: string };

export function sidebar(): { text: string; items: Link[] }[] {
  const all = globSync('*.md', { cwd: pages }).map((name) => path.basename(name, '.md'));
  const named = new Set(sections.flatMap(([, names]) => names));
  const rest = all.filter((name) => !named.has(name) && name !== 'index' && name !== 'decisions');
  return [
    ...sections.map(([text, names]) => ({
      text,
      items: names.filter((name) => all.includes(name)).map(linkTo),
    })),
    ...(rest.length > 0 ? [{ text: 'More', items: rest.toSorted().map(linkTo) }] : []),
    {
      text: 'Reference',
      items: [
        { text: 'API reference', link: '/reference/', target: '_self' },
        { text: 'Error codes', link: '/errors', target: '_self' },
        linkTo('decisions'),
      ],
    },
  ];
}

function linkTo(name: string): Link {
  const [, title = name] =
    /^# (.+)$/m.exec(readFileSync(path.join(pages, `${name}.md`), 'utf8')) ?? [];
  return { text: title.replaceAll('`', ''), link: `/${name}` };
}
