/** Which view belongs to which address. Each is a file of its own, loaded when it is opened first. */
import type { ComponentType } from 'react';
import { makePart, type Part } from './part.tsx';

type View = Part<{ id: string }>;

const load = (name: string, from: () => Promise<Record<string, unknown>>): View =>
  makePart(async () => (await from())[name] as ComponentType<{ id: string }>, { isPage: true });

const views: readonly { path: RegExp; view: View }[] = [
  [/^\/overview$/, load('OverviewPage', () => import('./pages/overview.tsx'))],
  [/^\/content$/, load('LibraryPage', () => import('./pages/library.tsx'))],
  [/^\/content\/jobs$/, load('JobsPage', () => import('./pages/jobs.tsx'))],
  [/^\/content\/jobs\/([^/]+)$/, load('JobPage', () => import('./pages/job.tsx'))],
  [/^\/content\/import$/, load('ImportPage', () => import('./pages/import.tsx'))],
  [/^\/content\/([^/]+)$/, load('ItemPage', () => import('./pages/item.tsx'))],
  [/^\/live$/, load('LivePage', () => import('./pages/live.tsx'))],
  [/^\/live\/([^/]+)$/, load('LiveStreamPage', () => import('./pages/live-stream.tsx'))],
  [/^\/feed$/, load('FeedPage', () => import('./pages/feed.tsx'))],
  [/^\/experiments$/, load('ExperimentsPage', () => import('./pages/experiments.tsx'))],
  [/^\/experiments\/new$/, load('NewExperimentPage', () => import('./pages/experiment-form.tsx'))],
  [/^\/experiments\/([^/]+)$/, load('ExperimentPage', () => import('./pages/experiment.tsx'))],
  [/^\/metrics$/, load('MetricsPage', () => import('./pages/metrics.tsx'))],
  [/^\/webhooks$/, load('WebhooksPage', () => import('./pages/webhooks.tsx'))],
  [/^\/webhooks\/([^/]+)$/, load('WebhookPage', () => import('./pages/webhook.tsx'))],
  [/^\/exports$/, load('ExportsPage', () => import('./pages/exports.tsx'))],
  [/^\/settings$/, load('SettingsPage', () => import('./pages/settings.tsx'))],
  [/^\/keys$/, load('KeysPage', () => import('./pages/keys.tsx'))],
  [/^\/organization$/, load('OrganizationPage', () => import('./pages/organization.tsx'))],
  [/^\/audit$/, load('AuditPage', () => import('./pages/audit.tsx'))],
  [/^\/system$/, load('SystemPage', () => import('./pages/system.tsx'))],
].map(([path, view]) => ({ path: path as RegExp, view: view as View }));

export const navigation = [
  { path: '/overview', label: 'Overview' },
  { path: '/content', label: 'Content' },
  { path: '/live', label: 'Live' },
  { path: '/feed', label: 'Feed' },
  { path: '/experiments', label: 'Experiments' },
  { path: '/metrics', label: 'Metrics' },
  { path: '/webhooks', label: 'Webhooks' },
  { path: '/exports', label: 'Exports' },
  { path: '/settings', label: 'Settings and flags' },
  { path: '/keys', label: 'Keys' },
  { path: '/organization', label: 'Organization' },
  { path: '/audit', label: 'Audit' },
  { path: '/system', label: 'System' },
];

export function findView(path: string): { view: View; id: string } | null {
  for (const { path: pattern, view } of views) {
    const match = pattern.exec(path);
    if (match !== null) return { view, id: match[1] ?? '' };
  }
  return null;
}
